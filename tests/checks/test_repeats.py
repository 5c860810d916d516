"""Repeats are clustered in their case: one verdict, whatever their number."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pytest_mtp.checks.repeats import conclude
from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import Case, Severity, Source
from pytest_mtp.core.verdict import Finding, Outcome
from pytest_mtp.judge.judgement import Judgement

CASE = Case(id="c", suite="s", source=Source(path="s", line=1), ask=Ask(messages=()))


def judgement(outcome: Outcome, severity: Severity = "model", code: str = "ANS.wrong") -> Judgement:
    findings = () if outcome == "PASS" else (Finding(code=code, severity=severity, title="t"),)
    return Judgement(outcome=outcome, findings=findings)


RIGHT, WRONG = judgement("PASS"), judgement("FAIL")
BROKEN = judgement("FAIL", "critical", "TOOL.leak")
BLOCKED = judgement("BLOCKED", "critical", "INFRA.timeout")


@pytest.mark.parametrize(
    ("judgements", "outcome", "codes"),
    [
        pytest.param([RIGHT] * 3, "PASS", [], id="all right"),
        pytest.param([RIGHT, RIGHT, WRONG], "PASS", ["ANS.wrong", "ANS.flip"], id="the majority is right, the flip is noted"),
        pytest.param([RIGHT, WRONG, WRONG], "FAIL", ["ANS.wrong", "ANS.flip"], id="the majority is wrong"),
        pytest.param([RIGHT, WRONG], "FAIL", ["ANS.wrong", "ANS.flip"], id="a draw is no majority"),
        pytest.param([RIGHT, RIGHT, BROKEN], "FAIL", ["TOOL.leak", "ANS.flip"], id="broken serving once is broken serving"),
        pytest.param([RIGHT, RIGHT, BLOCKED], "BLOCKED", ["INFRA.timeout"], id="no answer is not a wrong answer"),
        pytest.param([BROKEN, BLOCKED], "FAIL", ["TOOL.leak", "INFRA.timeout"], id="harm outranks a block"),
        pytest.param([judgement("INCONCLUSIVE", "note", "ANS.ungraded")], "INCONCLUSIVE", ["ANS.ungraded"], id="nothing was judged"),
    ],
)
def test_one_verdict(judgements: Sequence[Judgement], outcome: Outcome, codes: list[str]) -> None:
    verdict = conclude(CASE, judgements)
    assert verdict.outcome == outcome
    assert [finding.code for finding in verdict.findings] == codes
    assert bool(verdict.reason) is (outcome != "PASS")


def test_the_same_finding_of_three_repeats_stands_once_with_its_count() -> None:
    (finding,) = conclude(CASE, [WRONG] * 3).findings
    assert finding.evidence["repeats"] == "3 of 3"
