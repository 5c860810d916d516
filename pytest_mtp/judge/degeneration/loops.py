"""Loops: a period at the end of a text, one sentence over and over, and word chains that keep coming back.

The thresholds were set on the corpus of healthy replies in tests/judge/corpus, none of which may be accused, and on replies
of a 135M model at temperature 0, of which about a third really loop. A reply that ends by itself needs more evidence than one
that runs into its budget: loops rarely find the end token.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from pytest_mtp.judge.words.fences import fences

_WINDOW = 16_384  # characters at the end; a loop that matters is still going there
_LONG_PERIOD = 60  # a period counts at most as much as one of this length
_SENTENCE = re.compile(r"[^\n.!?。！？؟।]{12,}[.!?。！？؟।]*")
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\u0e00-\u0e7f]|[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\u0e00-\u0e7f]+")
_TABLE_LINE = re.compile(r"^[ \t]*(?:[|+].*|[^\w\n]+)$", re.MULTILINE)
_CHAIN = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """`rule`: period, sentence or chain. `share` is that of the text; `span` counts characters of the text; `repeats` of `unit`."""

    rule: str
    unit: str
    repeats: int
    share: float
    span: tuple[int, int]


def find_loop(text: str, *, ended: bool, asked: bool, prompt: str = "") -> Loop | None:
    """The loop of a text, if it has one. `ended`: the reply found its own end. `asked`: the prompt wants repetition.

    Repetition that was asked for and ended is no loop; asked for and never ended, only an exact period of some length is,
    and not where the prompt itself has its words.
    """
    if ended and asked:
        return None
    loop = _periodic(text, 4.0 if ended or asked else 1.0)
    if asked:
        words = set(_WORD.findall(loop.unit.casefold())) if loop else set()
        return None if words <= set(_WORD.findall(prompt.casefold())) else loop
    return loop or _repeated(text, ended=ended)


def _periodic(text: str, strict: float) -> Loop | None:
    body = text.rstrip()
    window = body[-_WINDOW:]
    best: tuple[float, int, int] | None = None
    for period, covered in _suffix_periods(window):
        weight = (covered / period - 1) * min(period, _LONG_PERIOD)
        if covered >= 3 * period and (best is None or weight > best[0] * 1.05):
            best = (weight, period, covered)
    if best is None or best[0] < 120 * strict:
        return None
    _, period, covered = best
    covered = _extended(body, period) if covered >= len(window) - period else covered
    unit = body[-period:]
    if not _counts(unit, covered, strict):
        return None
    start = len(body) - covered
    if strict > 1 and _inside_fence(text, start):
        return None
    return Loop(rule="period", unit=unit, repeats=covered // period, share=covered / max(1, len(body)), span=(start, len(body)))


def _counts(unit: str, covered: int, strict: float) -> bool:
    """Leaders, rules and white space repeat without being loops until they are very long; cells of a table are leaders too."""
    words = sum(char.isalpha() for char in unit)
    if words:
        return True
    return covered >= (400 if unit.strip(" .-_=*~#─━═|+·•\t\n0123456789,;:[](){}<>/\\") else 1200) * strict


def _suffix_periods(text: str) -> list[tuple[int, int]]:
    """(period, covered): for each smallest period of a suffix, the longest suffix with it. The failure function of the reversed text."""
    reverse = text[::-1]
    border = [0] * len(reverse)
    found: dict[int, int] = {}
    length = 0
    for index in range(1, len(reverse)):
        char = reverse[index]
        while length and reverse[length] != char:
            length = border[length - 1]
        if reverse[length] == char:
            length += 1
        border[index] = length
        if length * 2 > index:
            found[index + 1 - length] = index + 1
    return list(found.items())


def _extended(text: str, period: int) -> int:
    """How far back the period of the end reaches: doubled while it holds, then halved, comparing at memory speed."""

    def holds(size: int) -> bool:
        tail = text[-size:]
        return tail[period:] == tail[:-period]

    low = high = min(len(text), 2 * period)
    while high < len(text) and holds(high):
        low, high = high, min(len(text), 2 * high)
    if holds(high):
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if holds(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _inside_fence(text: str, position: int) -> bool:
    return any(fence.start <= position < fence.end for fence in fences(text))


def _prose(text: str) -> str:
    """Without code and tables, both of which repeat as a matter of course."""
    for fence in reversed(fences(text)):
        text = text[: fence.start] + text[fence.end :]
    return _TABLE_LINE.sub("", text)


def _repeated(text: str, *, ended: bool) -> Loop | None:
    tail = _prose(text[-_WINDOW:])
    sentences = [" ".join(found[0].split()).casefold() for found in _SENTENCE.finditer(tail)]
    total = sum(map(len, sentences))
    least, share_needed = (12, 0.7) if ended else (5, 0.5)
    if sentences:
        unit, repeats = Counter(sentences).most_common(1)[0]
        share = repeats * len(unit) / max(1, total)
        if repeats >= least and share >= share_needed:
            return Loop(rule="sentence", unit=unit, repeats=repeats, share=share, span=(len(text) - len(tail), len(text)))
    return _chained(text, tail, ended=ended)


def _chained(text: str, tail: str, *, ended: bool) -> Loop | None:
    """Share of the last words that stand in chains of six words which came before."""
    words = [word.casefold() for word in _WORD.findall(tail)][-1200:]
    if len(words) < (300 if ended else 120):
        return None
    words = words[len(words) // 3 :]
    chains = [tuple(words[index : index + _CHAIN]) for index in range(len(words) - _CHAIN + 1)]
    counts = Counter(chains)
    share = sum(count for count in counts.values() if count >= 3) / len(chains)
    if share < (0.9 if ended else 0.75):
        return None
    chain, repeats = counts.most_common(1)[0]
    return Loop(rule="chain", unit=" ".join(chain), repeats=repeats, share=share, span=(len(text) - len(tail), len(text)))
