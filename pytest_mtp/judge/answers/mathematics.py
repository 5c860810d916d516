"""`math`: symbolically equal to the accepted expression. What cannot be decided in time is ungraded, not wrong."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_mtp.core.case import Expect
from pytest_mtp.core.errors import UsageError, nearest
from pytest_mtp.core.record import Json
from pytest_mtp.judge.judgement import Extraction, GradeContext, Judgement, View, conclude
from pytest_mtp.judge.numbers.scan import scan
from pytest_mtp.judge.words.markers import marks
from pytest_mtp.judge.words.normal import bare, canonical, excerpt

_WHOLE_AT_MOST = 300


def read_spec(spec: Json) -> str:
    """LaTeX or an expression, or `{value: …}`. Raises UsageError."""
    value = spec
    if isinstance(spec, Mapping):
        for key in spec:
            if key != "value":
                raise UsageError(f"math: unknown key {key!r}{nearest(str(key), ('value',))}; known is value")
        value = spec.get("value")
    if isinstance(value, bool) or not isinstance(value, str | int | float) or not str(value).strip():
        raise UsageError(f"math: expected LaTeX or an expression, got {spec!r}")
    return str(value)


def grade(view: View, expect: Expect, context: GradeContext) -> Judgement:
    """The grader of `math`."""
    gold = read_spec(expect.spec)
    extraction = _extract(view.text)
    if extraction is None:
        title = f"expected {excerpt(gold)!r}; no expression is marked as the answer: {excerpt(view.text[-80:])!r}"
        return conclude([context.finding("ANS.unextractable", title)])
    given = bare(extraction.text).strip().strip("$").strip()
    if canonical(gold, case=True).replace(" ", "") == canonical(given, case=True).replace(" ", "") or _same_number(gold, given):
        return conclude(answer=canonical(gold, case=True), extraction=extraction)
    equal = context.equal_math(gold, given) if context.equal_math else None
    if equal is None:
        why = "in its time" if context.equal_math else "without the extra [math]"
        note = context.finding("ANS.ungraded", f"whether {excerpt(given)!r} equals {excerpt(gold)!r} was not decided {why}")
        return Judgement(outcome="INCONCLUSIVE", findings=(note,), answer=None, extraction=extraction)
    if equal:
        return conclude(answer=canonical(gold, case=True), extraction=extraction)
    title = f"expected {excerpt(gold)!r}, got {excerpt(given)!r} (rule {extraction.rule})"
    evidence: dict[str, Json] = {"expected": gold, "got": given}
    return conclude([context.finding("ANS.wrong", title, evidence=evidence)], answer=canonical(given, case=True), extraction=extraction)


def _extract(text: str) -> Extraction | None:
    for mark in marks(text):
        segment = text[mark.start : mark.end].strip()
        if bare(segment):
            return Extraction(text=segment, rule=mark.rule, span=(mark.start, mark.end), settled=mark.closed)
    if len(text) <= _WHOLE_AT_MOST:
        return Extraction(text=text.strip(), rule="whole", span=(0, len(text)))
    return None


def _same_number(gold: str, given: str) -> bool:
    one, other = scan(gold, marked=True), scan(given, marked=True)
    if len(one) != 1 or len(other) != 1 or one[0].value is None:
        return False
    alone = all(not (text[: token.start] + text[token.end :]).strip(" $.") for text, token in ((gold, one[0]), (given, other[0])))
    return alone and one[0].value == other[0].value and one[0].percent == other[0].percent
