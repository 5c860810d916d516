"""Values and their lines; files that are meant to hurt."""

from __future__ import annotations

import pytest

from pytest_mtp.core.errors import SuiteError
from pytest_mtp.suites.composer import MAX_BY_ALIAS, MAX_DEPTH
from pytest_mtp.suites.document import Place, printed
from pytest_mtp.suites.parsing import Backend, backends, parse
from pytest_mtp.suites.text import MAX_BYTES

MARKED = b"""\
# a comment
suite: x
cases:

  - id: one
    ask:
      "two
      lines"
    expect: {number:
      32}
  - &second
    id: two
again: *second
"""

both_backends = pytest.mark.parametrize("backend", backends())


@both_backends
@pytest.mark.parametrize(
    ("place", "line", "key_line"),
    [
        ((), 2, 2),
        (("suite",), 2, 2),
        (("cases",), 5, 3),
        (("cases", 0), 5, 5),
        (("cases", 0, "id"), 5, 5),
        (("cases", 0, "ask"), 7, 6),
        (("cases", 0, "expect"), 9, 9),
        (("cases", 0, "expect", "number"), 10, 9),
        (("cases", 1), 11, 11),
        (("again",), 13, 13),
    ],
    ids=lambda value: printed(value) or "top" if isinstance(value, tuple) else "",
)
def test_each_value_and_key_has_its_line(place: Place, line: int, key_line: int, backend: Backend) -> None:
    document = parse(MARKED, "x", backend=backend)
    assert (document.line(place), document.line(place, key=True)) == (line, key_line)


@pytest.mark.parametrize(
    ("place", "line"),
    [(("cases", 7), 5), (("cases", 0, "tools", 3), 5), (("again", "id"), 13), (("suite", 0), 2)],
    ids=str,
)
def test_a_place_that_is_not_there_has_the_line_of_what_holds_it(place: Place, line: int) -> None:
    assert parse(MARKED, "x").line(place) == line


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (("cases", 3, "expect", "number"), "cases[3].expect.number"),
        ((0,), "[0]"),
        (("a b",), "['a b']"),
        (("json", "it's", "x.y"), "json[\"it's\"]['x.y']"),
        (("k" * 50 + " ",), f"['{'k' * 39}…']"),
    ],
    ids=["words", "index alone", "blank", "quotes and dots", "long"],
)
def test_places_are_printed_as_one_would_write_them(place: Place, words: str) -> None:
    assert printed(place) == words


@both_backends
def test_an_alias_is_the_anchored_value(backend: Backend) -> None:
    assert parse(b"a: &x [1, {b: 2}]\nb: *x\n", "x", backend=backend).value == {"a": [1, {"b": 2}], "b": [1, {"b": 2}]}


@both_backends
@pytest.mark.parametrize("line_break", [b"\n", b"\r\n", b"\r"], ids=["LF", "CRLF", "CR"])
def test_line_breaks_of_every_system_are_the_same_file(line_break: bytes, backend: Backend) -> None:
    unix = parse(MARKED + b"text: |\n  a\n\n  b\n", "x", backend=backend)
    assert parse((MARKED + b"text: |\n  a\n\n  b\n").replace(b"\n", line_break), "x", backend=backend) == unix


@both_backends
@pytest.mark.parametrize(
    "text",
    ["日本語", "🦀 crab", "a\u200bb", "e\u0301", "\u202eabc", "\ufffd", "עברית"],
    ids=lambda text: text.encode("unicode_escape").decode(),
)
def test_text_of_the_world_comes_through_untouched(text: str, backend: Backend) -> None:
    assert parse(f"{text}: {text}\nq: '{text}'\nb: |-\n  {text}\n".encode(), "x", backend=backend).value == {
        text: text,
        "q": text,
        "b": text,
    }


def refused(content: bytes, backend: Backend) -> str:
    with pytest.raises(SuiteError) as caught:
        parse(content, "x", backend=backend)
    return str(caught.value)


@both_backends
@pytest.mark.parametrize(
    "content",
    [b"[" * 100_000, b"a: " + b"{b: " * 100_000, b"- " * 100_000, b"".join(b" " * n + b"a:\n" for n in range(2000)), b"? " * 100_000],
    ids=["[[[", "{b: {b:", "- - -", "indentation", "? ? ?"],
)
def test_deep_nesting_is_refused_before_it_hurts(content: bytes, backend: Backend) -> None:
    assert "nested deeper than" in refused(content, backend) or "as a key" in refused(content, backend)


@both_backends
def test_depth_may_not_be_smuggled_in_by_aliases(backend: Backend) -> None:
    chain = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 200))
    message = refused(chain.encode(), backend)
    assert message.startswith(f"x:{MAX_DEPTH + 1 - 1}: nested deeper than {MAX_DEPTH} levels, aliases followed")


@both_backends
def test_a_bomb_of_aliases_is_refused(backend: Backend) -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 20))
    assert f"aliases stand for more than {MAX_BY_ALIAS} values" in refused(bomb.encode(), backend)


@both_backends
def test_a_long_text_by_alias_counts_by_its_length(backend: Backend) -> None:
    bomb = f"a: &a {'x' * 1_000_000}\nb: [{', '.join(['*a'] * 1000)}]\n"
    assert "aliases stand for more than" in refused(bomb.encode(), backend)


def test_a_text_of_ten_megabytes_is_one_value() -> None:
    text = "word " * 2_000_000
    assert parse(f"ask: |-\n  {text}\n".encode(), "x").value == {"ask": text}


def test_a_file_beyond_the_limit_is_refused() -> None:
    assert refused(b"#" * (MAX_BYTES + 1), backends()[0]) == "x:1: the file is larger than 64 MiB"


@both_backends
@pytest.mark.parametrize(
    "content",
    [b"\xff\xfe\x00\x00a", b"\x00\x00\xfe\xff", b"\xfe\xff\x00a", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"a\x7fb"],
    ids=repr,
)
def test_bytes_that_are_no_text_are_refused(content: bytes, backend: Backend) -> None:
    assert refused(content, backend).startswith("x:1: ")
