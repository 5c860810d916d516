"""`number`: the extracted number equals the accepted one, in exact arithmetic."""

from __future__ import annotations

import re

from pytest_mtp.core.case import Expect
from pytest_mtp.core.record import Json
from pytest_mtp.judge.judgement import Extraction, GradeContext, Judgement, View, conclude
from pytest_mtp.judge.numbers.accepted import AcceptedNumber, read_spec
from pytest_mtp.judge.numbers.extract import Found, Lost, find_number
from pytest_mtp.judge.numbers.units import same_unit
from pytest_mtp.judge.numbers.values import shown
from pytest_mtp.judge.words.difference import aligned
from pytest_mtp.judge.words.normal import excerpt

_ASKS_PERCENT = re.compile(
    r"%|％|percent|per cent|prozent|por ?ciento|por ?cento|pour ?cent|per cento|procent|процент"
    r"|百分|パーセント|퍼센트|प्रतिशत|yüzde|persen|phần trăm"
    r"|بالمئة|بالمائة|النسبة المئوية",
    re.IGNORECASE,
)


def grade(view: View, expect: Expect, context: GradeContext) -> Judgement:
    """The grader of `number`."""
    accepted = read_spec(expect.spec)
    found = find_number(view.text, loose=accepted.loose, decimal_comma=accepted.decimal_comma)
    wanted = _wanted(accepted)
    if isinstance(found, Lost):
        return conclude([context.finding(found.code, f"expected {wanted}; {found.why}", evidence={"expected": wanted})])
    return _compare(found, accepted, wanted, view, context)


def _compare(found: Found, accepted: AcceptedNumber, wanted: str, view: View, context: GradeContext) -> Judgement:
    assert found.token.value is not None  # a number without a value is Lost
    text = view.text[found.start : found.end]
    extraction = Extraction(text=text, rule=found.rule, span=(found.start, found.end), settled=found.settled)
    value, problem = found.token.value, ""
    in_percent = accepted.percent is True or (accepted.percent is None and _ASKS_PERCENT.search(view.prompt) is not None)
    if found.token.percent and accepted.percent == "ratio":
        value /= 100
    elif found.token.percent and not in_percent:
        problem = " (a percentage, where a plain number was expected; `percent: true` or `percent: ratio` in the case allows it)"
    if accepted.unit and found.unit and same_unit(accepted.unit, found.unit) is False:
        problem = problem or f" (in {found.unit!r}, and nothing is converted)"
    got = shown(value)
    if not problem and accepted.equals(value):
        return conclude(answer=shown(accepted.value), extraction=extraction)
    where = excerpt(found.context.strip()[-60:] if found.rule == "equation" else found.context.strip())
    title = f"expected {wanted}, got {got}{problem} (rule {found.rule}: {where!r})"
    evidence: dict[str, Json] = {"expected": wanted, "got": got, "rule": found.rule}
    unit = f" {found.unit}" if problem and found.unit else ""
    answer = f"{got}%" if found.token.percent and problem else got + unit
    return conclude(
        [context.finding("ANS.wrong", title, detail=aligned(wanted, answer), evidence=evidence)], answer=answer, extraction=extraction
    )


def _wanted(accepted: AcceptedNumber) -> str:
    percent = "%" if accepted.percent is True else ""
    return shown(accepted.value) + percent + (f" {accepted.unit}" if accepted.unit else "")
