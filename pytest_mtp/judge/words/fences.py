"""Markdown code: fenced blocks and inline spans, found in one pass."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

_FENCE = re.compile(r"^[ \t>]{0,8}(?P<mark>`{3,}|~{3,})(?P<rest>[^\n]*)$", re.MULTILINE)
_TICKS = re.compile(r"`+")
_LINES = 2000  # fences after that many are of no reply that anybody reads


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence:
    """One fenced block. `start` and `end` include its fences; `closed` is False when the text ends inside it."""

    language: str
    body: str
    start: int
    end: int
    closed: bool


def fences(text: str) -> list[Fence]:
    """Every fenced block, in order. A longer fence holds shorter ones, as CommonMark has it."""
    if "```" not in text and "~~~" not in text:
        return []
    found: list[Fence] = []
    opening: re.Match[str] | None = None
    for line in itertools.islice(_FENCE.finditer(text), _LINES):
        rest = line["rest"].strip()
        if opening is None:
            if "`" in rest:  # inline code that fills a line
                continue
            opening = line
        elif line["mark"][0] == opening["mark"][0] and len(line["mark"]) >= len(opening["mark"]) and not rest:
            found.append(_fence(text, opening, line.start(), line.end(), closed=True))
            opening = None
    if opening is not None:
        found.append(_fence(text, opening, len(text), len(text), closed=False))
    return found


def _fence(text: str, opening: re.Match[str], body_end: int, end: int, *, closed: bool) -> Fence:
    words = opening["rest"].strip().split()
    body = text[opening.end() + 1 : body_end]
    return Fence(language=words[0].lower() if words else "", body=body, start=opening.start(), end=end, closed=closed)


def code_spans(text: str) -> list[tuple[int, int]]:
    """Fenced blocks and inline code as sorted, disjoint (start, end)."""
    blocks = [(fence.start, fence.end) for fence in fences(text)]
    spans: list[tuple[int, int]] = []
    position = 0
    for start, end in [*blocks, (len(text), len(text))]:
        spans += _inline(text, position, start)
        if end > start:
            spans.append((start, end))
        position = end
    return spans


def _inline(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Runs of n backticks pair with the next run of n, within a paragraph."""
    spans: list[tuple[int, int]] = []
    waiting: dict[int, int] = {}
    done = start
    for run in _TICKS.finditer(text, start, end):
        size = run.end() - run.start()
        opened = waiting.get(size, -1)
        if opened >= done and "\n\n" not in text[opened : run.start()]:
            spans.append((opened, run.end()))
            waiting.clear()
            done = run.end()
        else:
            waiting[size] = run.start()
    return spans


def inside(spans: Sequence[tuple[int, int]], position: int) -> bool:
    """Whether a position lies in one of sorted, disjoint spans."""
    index = bisect_right(spans, (position, len(spans) and spans[-1][1] + 1)) - 1
    return index >= 0 and spans[index][0] <= position < spans[index][1]
