"""What a tool dialect is: the words around a call as a model family writes it, and how its inside is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MOST_BLOCKS = 64
LONGEST_BODY = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A call as it stands in text. `typed` False: the dialect writes values as bare text, and the schema says what they are."""

    name: str
    arguments: Mapping[str, Any]
    typed: bool = True


Body = Callable[[str], "list[Written] | None"]
"""Reads the inside of one block; None where it is not in this form. Never raises."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """`opens` begin a block and the nearest of `closes` ends it; with `may_end` the end of the text does too.

    `forms` are tried in order, and the first that reads the body names the family. `common` openers also stand in honest
    text, so that only a readable call proves anything. `fenced` blocks are code fences themselves. `stray` are further
    markers that never stand in an answer.
    """

    opens: tuple[str, ...]
    closes: tuple[str, ...] = ()
    forms: Mapping[str, Body]
    may_end: bool = False
    common: bool = False
    fenced: bool = False
    stray: tuple[str, ...] = ()

    @property
    def family(self) -> str:
        """The first form's, for a block that none could read."""
        return next(iter(self.forms))

    @property
    def markers(self) -> tuple[str, ...]:
        """Every marker."""
        return (*self.opens, *self.closes, *self.stray)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One block of a text. `calls` None: no form could read it. `closed`: one of the end markers stands at its end."""

    dialect: Dialect
    family: str
    opener: str
    start: int
    end: int
    body: str
    calls: tuple[Written, ...] | None
    closed: bool


def blocks(text: str, dialect: Dialect) -> Iterator[Block]:
    """Every block of one dialect, in order; the time is linear in the text for each marker."""
    position = 0
    for _ in range(MOST_BLOCKS):
        at, opener = _nearest(text, dialect.opens, position)
        if at < 0:
            return
        inside = at + len(opener)
        end, closer = _nearest(text, dialect.closes, inside)
        following, _opener = _nearest(text, dialect.opens, inside)
        if end < 0 or (0 <= following < end):
            end, closer = (following if following >= 0 else len(text)), ""
        body = text[inside : min(end, inside + LONGEST_BODY)]
        family, calls = _read(body, dialect)
        yield Block(
            dialect=dialect, family=family, opener=opener, start=at, end=end + len(closer), body=body, calls=calls, closed=bool(closer)
        )
        position = end + len(closer)


def _nearest(text: str, words: Sequence[str], start: int) -> tuple[int, str]:
    best, which = -1, ""
    for word in words:
        at = text.find(word, start) if best < 0 else text.find(word, start, best + len(word) - 1)
        if at >= 0:
            best, which = at, word
    return best, which


def _read(body: str, dialect: Dialect) -> tuple[str, tuple[Written, ...] | None]:
    for family, form in dialect.forms.items():
        calls = form(body)
        if calls:
            return family, tuple(calls)
    return dialect.family, None
