"""The one JSON value of a reply: the whole text, or exactly one fenced block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pytest_mtp.judge.structured.reading import Parsed, parse, parse_prefix
from pytest_mtp.judge.words.fences import Fence, fences

_JSON_FENCES = frozenset({"", "json", "jsonc", "json5", "javascript", "js", "jsonl"})


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundJson:
    """A value, or `problem` saying why there is none. `around` is the text outside of a fenced block."""

    value: Any = None
    problem: str = ""
    rule: str = ""
    start: int = 0
    end: int = 0
    around: str = ""
    duplicates: tuple[str, ...] = ()


def find_json(text: str) -> FoundJson:
    """Raw JSON first; a scalar counts only as raw JSON, since any prose could hold a number."""
    start = len(text) - len(text.lstrip())
    raw = parse(text)
    if not raw.error:
        return _found(raw, "raw", start, len(text.rstrip()))
    blocks = [fence for fence in fences(text) if fence.language in _JSON_FENCES]
    if text[start : start + 1] in {"{", "["}:
        prefix = parse_prefix(text)
        if not prefix.error:
            return FoundJson(problem=f"text follows the JSON value: {text[prefix.at :].strip()[:40]!r}")
        return FoundJson(problem=f"{raw.error} at character {raw.at}")
    if not blocks:
        return FoundJson(problem="there is no JSON value and no fenced block")
    return _fenced(text, blocks)


def _fenced(text: str, blocks: list[Fence]) -> FoundJson:
    parsed = [(fence, parse(fence.body)) for fence in blocks if fence.closed]
    good = [(fence, one) for fence, one in parsed if not one.error]
    if len(good) > 1:
        return FoundJson(problem=f"{len(good)} fenced blocks hold JSON, and one is the answer")
    if not good:
        if not parsed:
            return FoundJson(problem="the fenced block is never closed")
        return FoundJson(problem=f"in the fenced block: {parsed[-1][1].error} at character {parsed[-1][1].at}")
    fence, one = good[0]
    around = (text[: fence.start] + " " + text[fence.end :]).strip()
    return _found(one, "fenced", fence.start, fence.end, around)


def _found(parsed: Parsed, rule: str, start: int, end: int, around: str = "") -> FoundJson:
    return FoundJson(value=parsed.value, rule=rule, start=start, end=end, around=around, duplicates=parsed.duplicates)
