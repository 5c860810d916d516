"""Letters of a script that nobody asked for.

Honest answers do hold foreign words: in brackets, in quotes, in tables, in a translation. What broken sampling makes is glued
into words (`capitaли`) or strewn bare between words, several times. Greek is left alone, since formulas are full of it.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from pytest_mtp.judge.languages.scripts import FAMILY, letters_by_script, runs_of
from pytest_mtp.judge.words.fences import code_spans, inside

_ALWAYS = frozenset({"Latin", "Greek"})
_EAST = frozenset({"Han", "Kana", "Hangul", "Thai", "Lao", "Khmer", "Myanmar"})  # written without spaces: Latin words touch them
_SPACED = frozenset({"Latin", "Cyrillic", "Arabic", "Hebrew", "Devanagari"})
_SET_OFF = frozenset("()[]{}（）【】「」『』《》\"'“”‘’«»`*_|:：=—–-/\\→>,，、;\t\n·•~")
_SAMPLE = 20_000
_MIXED, _BARE, _SWITCHED = 2, 3, 0.5
_RUNS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Alien:
    """`kind`: `mixed` words, `bare` runs, or the whole answer `switched`. `example` and `start` show the first."""

    kind: str
    script: str
    count: int
    share: float
    example: str
    start: int


def find_alien(text: str, known: str, *, asked: bool) -> Alien | None:
    """`known` holds the prompt and the accepted answers: their scripts are welcome. `asked`: so are all, but not inside words."""
    text = text[:_SAMPLE]
    if text.isascii():
        return None
    counts = letters_by_script(text)
    welcome = {_family(script) for script in letters_by_script(known)} | _ALWAYS
    foreign = {script: count for script, count in counts.items() if _family(script) not in welcome}
    if not foreign:
        return None
    total = sum(counts.values())
    share = sum(foreign.values()) / total
    main = max(counts, key=lambda script: counts[script])
    code = code_spans(text)
    runs = [(script, run) for script in foreign for run in runs_of(script, text)[:_RUNS] if not inside(code, run.start())]
    if not runs:
        return None
    mixed = [(script, run) for script, run in runs if _glued(text, run, main)]
    if len(mixed) >= _MIXED:
        return _alien("mixed", mixed, share, text)
    if asked:
        return None
    bare = [(script, run) for script, run in runs if not _set_off(text, run)]
    if main not in foreign and (len(bare) >= _BARE or (mixed and len(bare) > 1) or len({_family(script) for script, _ in bare}) >= 2):
        return _alien("bare", bare, share, text)
    if share >= _SWITCHED and sum(foreign.values()) >= 20:
        return _alien("switched", runs, share, text)
    return None


def _family(script: str) -> str:
    return FAMILY.get(script, script)


def _glued(text: str, run: re.Match[str], main: str) -> bool:
    """A letter of another script touches the run, in a text whose scripts do not touch as a rule."""
    if main in _EAST:
        return False
    before, after = text[run.start() - 1 : run.start()] if run.start() else "", text[run.end() : run.end() + 1]
    return any(letters_by_script(char).keys() & _SPACED for char in (before, after))


def _set_off(text: str, run: re.Match[str]) -> bool:
    """Brackets, quotes, a colon, a table or the edge of a line on one side of the phrase at least."""
    left, right = run.start(), run.end()
    before = text[:left].rstrip(" \u00a0") if left and text[left - 1] in " \u00a0" else text[:left]
    after = text[right : right + 2].lstrip(" \u00a0")
    return not before or not after or before[-1] in _SET_OFF or after[0] in _SET_OFF


def _alien(kind: str, runs: list[tuple[str, re.Match[str]]], share: float, text: str) -> Alien:
    script = Counter(script for script, _ in runs).most_common(1)[0][0]
    first = min((run for _, run in runs), key=lambda run: run.start())
    around = text[max(0, first.start() - 20) : first.end() + 20]
    return Alien(kind=kind, script=script, count=len(runs), share=share, example=around, start=first.start())
