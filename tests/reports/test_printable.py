"""Words of strangers made printable."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mtp.reports.printable import columns, fit, pad, printable, printable_lines, wrap
from tests.reports.full_report import ATTACKS

FORBIDDEN = {"Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp"}


def harmless(text: str) -> bool:
    return not any(unicodedata.category(char) in FORBIDDEN for char in text)


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_an_attack_becomes_short_visible_text(attack: str) -> None:
    line = printable(attack)
    assert harmless(line)
    assert len(line) < 440
    rows = printable_lines(attack)
    assert all(map(harmless, rows))
    assert len(rows) <= 41


@given(text=st.text(alphabet=st.characters(categories=None, exclude_categories=()), max_size=60))
def test_any_text_is_harmless_afterwards(text: str) -> None:
    assert harmless(printable(text))
    assert all(map(harmless, printable_lines(text)))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain words, caf\u00e9, \u6f22\u5b57, \U0001f600", "plain words, caf\u00e9, \u6f22\u5b57, \U0001f600"),
        ("\x1b[31m", "\\x1b[31m"),
        ("a\nb\tc\r", "a\\nb\\tc\\r"),
        ("\u202e", "\\u202e"),
        ("\ud83d", "\\ud83d"),
        ("\U000e0041", "\\U000e0041"),
        ("\x9b", "\\x9b"),
        ("a\u00a0b", "a b"),
        ("e\u0301", "e\u0301"),
        (None, "None"),
        (7, "7"),
    ],
    ids=["plain", "escape", "space", "bidi", "surrogate", "tag", "c1", "no-break-space", "accent", "none", "number"],
)
def test_what_is_shown(text: object, shown: str) -> None:
    assert printable(text) == shown


def test_a_long_text_says_how_long_it_was() -> None:
    assert printable("x" * 1000, limit=5) == "xxxxx… (1000 characters)"


def test_many_lines_are_counted() -> None:
    assert printable_lines("a\r\nb\n" + "c\n" * 100, lines=3)[:2] == ["a", "b"]
    assert printable_lines("a\nb\nc\nd", lines=3)[-1] == "… more lines, 7 characters in all"
    assert printable_lines("x" * 50, limit=5) == ["xxxxx… (50 characters in all)"]
    assert printable_lines("\x1b" * 50, limit=9) == ["\\x1b\\x1b… (50 characters in all)"]


def test_cells_of_wide_letters() -> None:
    assert (columns("ab"), columns("\u6f22"), columns("e\u0301")) == (2, 2, 1)
    assert pad("\u6f22", 4) == "\u6f22  "
    assert fit("\u6f22\u5b57\u6f22", 5) == "\u6f22\u5b57…"
    assert fit("abc", 3) == "abc"
    assert fit("abc", 0) == ""


@given(text=st.text(alphabet="ab \u6f22\u0301", max_size=80), width=st.integers(2, 30), lines=st.integers(1, 6))
def test_wrapped_rows_fit_and_lose_nothing_but_spaces(text: str, width: int, lines: int) -> None:
    rows = wrap(text, width, lines=lines)
    assert all(columns(row) <= width for row in rows)
    assert len(rows) <= lines
    if not any(row.endswith("…") for row in rows):
        assert "".join(rows).replace(" ", "") == text.replace(" ", "")
