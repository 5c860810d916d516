"""`length`: how many characters, words, sentences, lines or paragraphs."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping

from pytest_mtp.core.case import Expect
from pytest_mtp.core.errors import UsageError, nearest
from pytest_mtp.core.record import Json
from pytest_mtp.judge.judgement import Extraction, GradeContext, Judgement, View, conclude

_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # kana and Han: each character counts as a word, as word processors do
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+(?:['’.\-][^\W{_UNSPACED}]+)*")
_ENDS_AT_MOST = 20_000  # a text of more sentences is too long for every bound that a case may set
_SENTENCE_END = re.compile(r"[.!?。！？؟।…]+[\"'”’)\]*_]*(?=\s|$)|[。！？]+|\n")
_ABBREVIATION = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|St|vs|e\.g|i\.e|etc|No|Fig|approx|z\.B|d\.h|p\.ex|[A-Z])|^[ \t]{0,8}\d{1,3})\.$", re.MULTILINE
)


def _sentences(text: str) -> int:
    """Ends of sentences, and one more for words after the last of them. Lines of a list are sentences of their own."""
    count = last = 0
    for end in itertools.islice(_SENTENCE_END.finditer(text), _ENDS_AT_MOST):
        if end[0] == "." and _ABBREVIATION.search(text[max(0, end.start() - 8) : end.end()]):
            continue
        if end[0] != "\n" or _WORD.search(text, last, end.start()):
            count += 1
        last = end.end()
    return count + bool(_WORD.search(text, last))


_COUNTS: Mapping[str, Callable[[str], int]] = {
    "chars": lambda text: len(text.strip()),
    "words": lambda text: len(_WORD.findall(text)),
    "sentences": _sentences,
    "lines": lambda text: sum(1 for line in text.splitlines() if line.strip()),
    "paragraphs": lambda text: sum(1 for part in re.split(r"\n[ \t]*\n", text) if part.strip()),
}
_KEYS = tuple(f"{side}_{unit}" for unit in _COUNTS for side in ("min", "max"))


def read_spec(spec: Json) -> dict[str, int]:
    """Bounds by key, both inclusive. Raises UsageError."""
    if not isinstance(spec, Mapping) or not spec:
        raise UsageError(f"length: expected a mapping such as {{max_words: 50}}, got {spec!r}")
    bounds: dict[str, int] = {}
    for key, value in spec.items():
        if key not in _KEYS:
            raise UsageError(f"length: unknown key {key!r}{nearest(str(key), _KEYS)}; known are {', '.join(_KEYS)}")
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise UsageError(f"length: {key} must be a whole number from 0 on, not {value!r}")
        bounds[key] = value
    return bounds


def grade(view: View, expect: Expect, context: GradeContext) -> Judgement:
    """The grader of `length`. It has no graded answer: two texts within the bounds are equal for it."""
    bounds = read_spec(expect.spec)
    measured = {unit: count(view.text) for unit, count in _COUNTS.items() if f"min_{unit}" in bounds or f"max_{unit}" in bounds}
    problems = []
    for key, bound in bounds.items():
        side, unit = key.split("_")
        got = measured[unit]
        if (side == "min" and got < bound) or (side == "max" and got > bound):
            problems.append((side, f"expected at {'least' if side == 'min' else 'most'} {bound} {unit}, got {got}"))
    too_long = any(side == "max" for side, _ in problems)
    settled = too_long or not any(key.startswith("max_") for key in bounds)  # more text mends no excess and breaks no minimum
    extraction = Extraction(
        text="", rule="count", span=(0, len(view.text)), settled=settled and not any(side == "min" for side, _ in problems)
    )
    evidence: dict[str, Json] = dict(measured)
    return conclude([context.finding("ANS.length", title, evidence=evidence) for _, title in problems], extraction=extraction)
