"""Markdown in which a stranger's words are only words."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mtp.reports.escape import code, prose
from tests.reports.full_report import ATTACKS


def tamed(text: str) -> str | None:
    """What is wrong with a piece of Markdown, or None."""
    rest = re.sub(r"<!-- -->|</?code>", "", text)
    if re.search(r"[<>|\n]", rest):
        return "raw HTML, a pipe or a newline"
    if re.search(r"(?<!\\)(?:\\\\)*[`*_\[\]~$]", re.sub(r"\\[`*_\[\]~$\\]", "", rest)):
        return "live markup"
    if re.search(r"&(?!(amp|lt|gt|vert);)", rest):
        return "a foreign entity"
    if re.search(r"(?i)https?:|mailto:|\bwww\.|@\w|#\d", text):
        return "a link or a mention"
    return None


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_an_attack_is_tamed(attack: str) -> None:
    assert tamed(prose(attack)) is None
    assert tamed(code(attack)) is None


@given(text=st.text(alphabet="`*_[]()<>|\\~$@#&;:/.wh-+=1 a\n", max_size=30))
def test_any_mixture_of_markup_is_tamed(text: str) -> None:
    assert tamed(prose(text)) is None
    assert tamed(code(text)) is None


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("plain words: 1.5 tokens/s (x2)", "plain words: 1.5 tokens/s (x2)"),
        ("a_b", "a\\_b"),
        ("a|b", "a&vert;b"),
        ("# x", "\\# x"),
        ("1. x", "1\\. x"),
        ("1.5 x", "1.5 x"),
        ("- x", "\\- x"),
        ("-5", "-5"),
        ("---", "\\---"),
        ("a - b", "a - b"),
        ("@me", "@<!-- -->me"),
        ("http://h", "http<!-- -->://h"),
    ],
)
def test_how_it_is_written(text: str, escaped: str) -> None:
    assert prose(text) == escaped


def test_nothing_is_shown_as_nothing() -> None:
    assert code("") == "<code>(empty)</code>"
    assert code(" ") == "<code>(empty)</code>"
