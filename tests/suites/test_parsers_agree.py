"""libyaml and the parser in Python give the same documents, and what was written comes back."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pytest_mtp.core.errors import SuiteError
from pytest_mtp.suites.document import Document
from pytest_mtp.suites.parsing import Backend, backends, parse

pytestmark = pytest.mark.skipif(len(backends()) == 1, reason="PyYAML was built without libyaml")

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
)
KEYS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
PLAIN = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=20)

CHARACTERS = st.sampled_from(list("a1-:?[]{},'\"\\#!|%@~é\n\t "))
WORDS = st.sampled_from(["key", "null", "a:b", "'x'", '"y"', "?a", "-a", "http://x", '"\\x41"'])
INDICATORS = st.sampled_from(["- ", ": ", "? ", ", ", " #", "&x ", "*x ", "<<: "])
OPENINGS = st.sampled_from(["k: ", "k:\n  ", "x: [", "x: {", "x: |\n  a\n", "|\n  ", ">\n  ", ">-\n", "|+2\n"])
LINES = st.sampled_from(["\n  ", "\n    ", "\n- ", "\n\n", "\r\n", "---\n", "...\n"])
PIECES = CHARACTERS | WORDS | INDICATORS | OPENINGS | LINES


def quoted(text: str) -> str:
    return '"' + "".join(char if char.isascii() and char.isalnum() else f"\\U{ord(char):08x}" for char in text) + '"'


def written(value: object) -> str:
    """In brackets, as JSON has it."""
    match value:
        case dict():
            return "{" + ", ".join(f"{quoted(key)}: {written(item)}" for key, item in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(written, value)) + "]"
        case str():
            return quoted(value)
        case None | bool():
            return {None: "null", True: "true", False: "false"}[value]
    return repr(value)


def in_blocks(value: object, indent: str = "") -> str:
    """By indentation; a value follows its key's colon or its dash."""
    if isinstance(value, dict) and value:
        return "".join(f"\n{indent}{quoted(key)}:{in_blocks(item, indent + '  ')}" for key, item in value.items())
    if isinstance(value, list) and value:
        return "".join(f"\n{indent}-{in_blocks(item, indent + '  ')}" for item in value)
    return f" {written(value)}"


def outcome(content: bytes, backend: Backend) -> Document | None:
    try:
        return parse(content, "x", backend=backend)
    except SuiteError:
        return None


@pytest.mark.parametrize("backend", backends())
@pytest.mark.parametrize("write", [written, in_blocks], ids=["in brackets", "in blocks"])
@settings(max_examples=100, deadline=None)
@given(value=PLAIN.filter(lambda value: value is not None))
def test_what_was_written_comes_back(value: object, write: object, backend: Backend) -> None:
    text = write(value)  # type: ignore[operator]  # one of the two writers
    assert parse(text.encode(), "x", backend=backend).value == value


@settings(max_examples=100, deadline=None)
@given(value=PLAIN.filter(lambda value: value is not None))
def test_both_parsers_mark_the_same_lines(value: object) -> None:
    content = in_blocks(value).encode()
    assert parse(content, "x", backend="libyaml") == parse(content, "x", backend="python")


@settings(max_examples=300, deadline=None)
@given(text=st.lists(PIECES, max_size=14).map("".join))
@example("x: [How many?, a?b, c]")
@example("k:\tv\t# c\n")
@example("k: |\t\n  \ta\n")
@example("k: >2-\n   a\n\n  b\n")
@example("%FOO bar\n---\na\n")
@example("? a\n? b\n")
@example("- &x\n- *x\n")
@example("a\n  b\n\n  c\n")
@example("{a:?b}")
@example('"\\UFFFFFFFF"')
def test_both_parsers_read_or_refuse_the_same_text(text: str) -> None:
    content = text.encode()
    assert outcome(content, "libyaml") == outcome(content, "python")
