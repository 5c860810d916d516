"""JSON from strangers: duplicate keys refused, depth and size bounded, large flat objects walked without a tree."""

from __future__ import annotations

import json
import re
from typing import Any

from pytest_mtp.checkpoint.errors import CheckpointError

MAX_SMALL_FILE = 4 << 20
"""Bytes of a config.json; the densest JSON of that size takes about 90 MB as Python objects."""

_STRING = re.compile(rb'\s*+"([^"\\\x00-\x1f]*+(?:\\[^\x00-\x1f][^"\\\x00-\x1f]*+)*+)"')
_TOKEN = re.compile(rb'\s*+(?:([\[{])|([\]}])|[,:]|"[^"\\\x00-\x1f]*+(?:\\[^\x00-\x1f][^"\\\x00-\x1f]*+)*+"|[-+0-9.a-zA-Z]++)')
_FLAT = re.compile(rb'\s*+(\{[^{}"\\]*+(?:"[^"\\\x00-\x1f]*+"[^{}"\\]*+)*+\})')
_MARK = re.compile(rb"\s*+([{},:\[\]])")
_BLANK = re.compile(rb"\s*+")
_MAX_DEPTH = 64
_MAX_TOKENS = 500_000


def parse(raw: bytes, *, path: str, constants: bool = True) -> Any:
    """A whole small document. `constants` allows NaN and Infinity, which real config files hold."""
    try:
        text = raw.decode("utf-8-sig")
        hook = None if constants else _no_constant
        return json.loads(text, object_pairs_hook=_unique, parse_constant=hook)
    except UnicodeDecodeError as error:
        raise CheckpointError(f"is not UTF-8 (byte {error.start})", path=path) from error
    except RecursionError as error:
        raise CheckpointError("is nested too deeply to be a model's JSON", path=path) from error
    except ValueError as error:  # JSONDecodeError, and integers of thousands of digits
        raise CheckpointError(f"is not valid JSON: {error}", path=path) from error


def parse_object(raw: bytes, *, path: str) -> dict[str, Any]:
    """A document that must be a mapping."""
    document = parse(raw, path=path)
    if not isinstance(document, dict):
        raise CheckpointError(f"holds a JSON {type(document).__name__}, not an object", path=path)
    return document


class Walker:
    """A cursor over the bytes of one object; raises CheckpointError with the byte where the grammar breaks."""

    def __init__(self, raw: bytes, *, path: str) -> None:
        """`path` is what messages begin with."""
        self.raw, self.path, self.at = raw, path, 0

    def fail(self, problem: str) -> CheckpointError:
        """The error to raise, with the place and what stands there."""
        excerpt = self.raw[self.at : self.at + 40].decode("utf-8", "replace")
        return CheckpointError(f"{problem} at byte {self.at} of the JSON: {excerpt!r}", path=self.path)

    def mark(self, expected: bytes) -> str:
        """Step over one of these punctuation marks and say which."""
        match = _MARK.match(self.raw, self.at)
        if match is None or match[1] not in expected:
            raise self.fail(f"expected {' or '.join(repr(chr(char)) for char in expected)}")
        self.at = match.end()
        return match[1].decode()

    def enter(self) -> bool:
        """Step into an object; False when it is empty (and then over it)."""
        self.mark(b"{")
        match = _MARK.match(self.raw, self.at)
        if match is not None and match[1] == b"}":
            self.at = match.end()
            return False
        return True

    def string(self) -> str:
        """The next value, which must be a string."""
        match = _STRING.match(self.raw, self.at)
        if match is None:
            raise self.fail("expected a string")
        try:
            text = match[1].decode() if b"\\" not in match[1] else json.loads(b'"' + match[1] + b'"')
        except ValueError as error:
            raise self.fail("expected a string in UTF-8") from error
        self.at = match.end()
        return str(text)

    def key(self) -> str:
        """The next key, with its colon."""
        name = self.string()
        self.mark(b":")
        return name

    def more(self) -> bool:
        """After a value: True at a comma, False at the end of the object."""
        return self.mark(b",}") == ","

    def skip(self, *, tokens: int = _MAX_TOKENS) -> tuple[int, int]:
        """Step over any value and return its extent; at most 64 deep and so many tokens long."""
        begin = _BLANK.match(self.raw, self.at).end()  # type: ignore[union-attr]  # an empty match always exists
        depth = 0
        for _ in range(tokens):
            match = _TOKEN.match(self.raw, self.at)
            if match is None:
                raise self.fail("broken JSON")
            self.at = match.end()
            depth += bool(match[1]) - bool(match[2])
            if depth > _MAX_DEPTH:
                raise self.fail(f"JSON nested deeper than {_MAX_DEPTH}")
            if depth < 0:
                raise self.fail("an unexpected closing mark")
            if depth == 0:
                return begin, self.at
        raise self.fail(f"a value of more than {tokens} tokens")

    def value(self, *, limit: int) -> Any:
        """Any value of at most `limit` bytes, parsed strictly."""
        flat = _FLAT.match(self.raw, self.at)
        begin, end = flat.span(1) if flat else self.skip()
        self.at = end
        if end - begin > limit:
            self.at = begin
            raise self.fail(f"a value of more than {limit} bytes")
        return parse(self.raw[begin:end], path=self.path, constants=False)

    def finish(self) -> None:
        """Nothing but blanks may follow."""
        self.at = _BLANK.match(self.raw, self.at).end()  # type: ignore[union-attr]  # an empty match always exists
        if self.at != len(self.raw):
            raise self.fail("unexpected text after the JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]  # add returns None
        raise ValueError(f"the key {twice[:80]!r} stands there twice")
    return unique


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is not a JSON number")
