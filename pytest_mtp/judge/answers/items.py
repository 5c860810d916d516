"""The items that a reply lists: JSON, bullets, numbers, commas, or one a line."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_mtp.judge.structured.extract import find_json
from pytest_mtp.judge.structured.reading import canonical_json, parse
from pytest_mtp.judge.words.markers import marks
from pytest_mtp.judge.words.normal import bare

_BULLET = re.compile(
    r"^(?P<indent>[ \t]*)(?:(?:[-*+•‣◦▪●–—·]|\(?[0-9]{1,3}[.):]|\(?[a-zA-Z][.)])[ \t]+|\(?\d{1,3}[.)、．:）][ \t\u3000]*)"
    r"(?:\[[ xX]\][ \t]+)?(?P<item>\S[^\n]*)$",
    re.MULTILINE,
)
_HEAD = re.compile(r"(?P<head>[^\n]{1,120}?)(?:\*\*)?(?:\s{0,2}[:：](?=\s|\*)|\s{1,2}[-–—]\s|\s{0,2}[—–]\s|\s{1,2}\()")
_SEMICOLON = re.compile(r"[;；]")
_SEPARATOR = re.compile(r"[、，،]|,(?!\d{3}(?!\d))|,(?=\s)")
_LAST_AND = re.compile(r"^(?:and|und|et|y|e|i|o|och|og|en|ve|dan|и|та|і|와|और|و)\s+|^(?:以及|和|及|与|و)", re.IGNORECASE)
_ONE_AND = re.compile(r"\s(?:and|und|et|y|och|og|en|ve|dan|и|और)\s|和|以及", re.IGNORECASE)
_LEAD = re.compile(
    r"^(?:[^,:;\n]{1,80}[:：]|[^,:;\n]{1,80}?\b(?:are|include|were|sind|waren|sont|son|sono|são|zijn|är)\b)\s+|^[^,，、:\n]{1,40}[:：]",
    re.IGNORECASE,
)
_SHORT_LINE = 60
_MOST = 2000
_TAIL = 60_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """Items as written, by which rule, and where. `settled`: the list is closed by something after it."""

    items: tuple[str, ...]
    rule: str
    span: tuple[int, int]
    settled: bool = False


def find_items(text: str) -> Listed | None:
    """The list of a reply, None where it has none. Of a very long reply the end is searched."""
    tail = text[-_TAIL:]
    listed = next(_lists(tail), None)
    offset = len(text) - len(tail)
    return dataclasses.replace(listed, span=(listed.span[0] + offset, listed.span[1] + offset)) if listed and offset else listed


def _lists(text: str) -> Iterator[Listed]:
    whole = find_json(text)
    if not whole.problem and isinstance(whole.value, list):
        yield Listed(items=_written(whole.value), rule=f"json-{whole.rule}", span=(whole.start, whole.end), settled=True)
    for mark in marks(text):
        items = _inline(text[mark.start : mark.end])
        if len(items) > 1:
            yield Listed(items=items, rule=mark.rule, span=(mark.start, mark.end), settled=mark.closed)
            break
    yield from _bulleted(text)
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.strip().startswith("```")]
    if len(lines) > 1 and lines[0].endswith((":", "：")):
        lines = lines[1:]
    if len(lines) > 1 and all(len(line) <= _SHORT_LINE for line in lines):
        yield Listed(items=tuple(lines), rule="lines", span=(0, len(text)))
    elif lines:
        yield Listed(items=_inline(_LEAD.sub("", lines[-1])), rule="inline", span=(0, len(text)))


def _written(values: list[object]) -> tuple[str, ...]:
    return tuple(value if isinstance(value, str) else canonical_json(value) for value in values)


def _inline(segment: str) -> tuple[str, ...]:
    """`red, green and blue` · `[1, 2]` · `a; b`. A comma inside a number does not separate."""
    segment = bare(segment.strip().strip("$").strip())
    parsed = parse(segment)
    if not parsed.error and isinstance(parsed.value, list):
        return _written(parsed.value)
    segment = segment.strip("[]{}()（）【】")
    separator = _SEMICOLON if _SEMICOLON.search(segment) else _SEPARATOR
    pieces = [piece.strip() for piece in separator.split(segment) if piece.strip()]
    if pieces and _LAST_AND.match(pieces[-1]):
        pieces[-1] = _LAST_AND.sub("", pieces[-1])
    elif pieces:
        pieces[-1:] = _ONE_AND.split(pieces[-1], maxsplit=1)
    return tuple(bare(piece) for piece in pieces[:_MOST] if piece.strip())


def _bulleted(text: str) -> Iterator[Listed]:
    """The last run of list lines. Lines that are indented deeper belong to the item above; other lines end a run."""
    runs: list[list[re.Match[str]]] = []
    previous = -1
    for match in _BULLET.finditer(text):
        between = text[previous : match.start()] if previous >= 0 else "x"
        if runs and _continues(between):
            runs[-1].append(match)
        else:
            runs.append([match])
        previous = match.end()
    for run in reversed(runs):
        width = min(len(match["indent"].expandtabs(4)) for match in run)
        top = [match for match in run if len(match["indent"].expandtabs(4)) == width]
        if len(top) > 1 or len(runs) == 1:
            settled = bool(text[run[-1].end() :].strip())
            yield Listed(
                items=tuple(match["item"].strip() for match in top), rule="bullets", span=(run[0].start(), run[-1].end()), settled=settled
            )
            return


def _continues(between: str) -> bool:
    """Whether the words between two list lines belong to the first: nothing, or lines that are indented."""
    return all(not line.strip() or line[0] in " \t" for line in between.split("\n"))


def readings(item: str) -> tuple[str, ...]:
    """What an item may mean: all of it, or the head before a colon, a dash or a bracket (`**Mars**: the red planet`)."""
    found = [bare(item)]
    head = _HEAD.match(item)
    if head:
        found.append(bare(head["head"].strip().strip("*").strip()))
    return tuple(dict.fromkeys(found))
