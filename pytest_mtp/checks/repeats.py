"""Several judgements of one case to one verdict."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from pytest_mtp.core.case import Case
from pytest_mtp.core.codes import severity_of
from pytest_mtp.core.verdict import Finding, Outcome, Verdict, by_severity
from pytest_mtp.judge.gate import harms
from pytest_mtp.judge.judgement import Judgement


def conclude(case: Case, judgements: Sequence[Judgement], *, extra: Sequence[Finding] = ()) -> Verdict:
    """One verdict for a case: the unit is the case, its repeats are clustered inside it.

    Broken serving in any repeat is FAIL. Else the majority of the repeats decides, and disagreeing grades at temperature
    0 are noted. A repeat without an answer (BLOCKED) is not a wrong one.
    """
    counts = {outcome: sum(j.outcome == outcome for j in judgements) for outcome in ("PASS", "FAIL", "INCONCLUSIVE", "BLOCKED")}
    findings = _gathered([f for j in judgements for f in j.findings], len(judgements)) + list(extra)
    graded = counts["PASS"] + counts["FAIL"]
    outcome: Outcome
    if any(harms(j.findings) for j in judgements if j.outcome == "FAIL") or harms(extra):
        outcome = "FAIL"
    elif counts["BLOCKED"]:
        outcome = "BLOCKED"
    elif graded:
        outcome = "PASS" if 2 * counts["PASS"] > graded else "FAIL"
    else:
        outcome = "INCONCLUSIVE"
    if 0 < counts["PASS"] < graded and case.ask is not None and not case.ask.sampling.temperature:
        title = f"{counts['PASS']} of {graded} repeats at temperature 0 are right"
        findings.append(Finding(code="ANS.flip", severity=severity_of("ANS.flip"), title=title))
    return Verdict(
        case_id=case.id,
        outcome=outcome,
        reason=_reason(outcome, judgements, findings),
        findings=tuple(by_severity(findings)),
        rate=(counts["PASS"], len(judgements)),
        exchanges=len(judgements),
        culprit=_culprit(judgements, findings),
    )


def _culprit(judgements: Sequence[Judgement], findings: Sequence[Finding]) -> int | None:
    """The first repeat that holds the gravest finding: the one to send again."""
    worst = next(iter(by_severity(findings)), None)
    if worst is None:
        return None
    holders = (index for index, each in enumerate(judgements) if any(_key(finding) == _key(worst) for finding in each.findings))
    return next(holders, None)


def _key(finding: Finding) -> tuple[str, str, str]:
    return finding.code, finding.title, finding.where


def _gathered(findings: Sequence[Finding], repeats: int) -> list[Finding]:
    """The same finding of several repeats once, with the number of times."""
    times: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in findings:
        times.setdefault(_key(finding), []).append(finding)
    if repeats == 1:
        return [group[0] for group in times.values()]
    return [
        dataclasses.replace(group[0], evidence={**group[0].evidence, "repeats": f"{len(group)} of {repeats}"})
        for group in times.values()
    ]  # fmt: skip


def _reason(outcome: Outcome, judgements: Sequence[Judgement], findings: Sequence[Finding]) -> str:
    if outcome == "PASS":
        return ""
    own = [f for j in judgements if j.outcome == outcome for f in j.findings]
    first = by_severity(findings) if outcome == "FAIL" else own
    return f"{first[0].code}: {first[0].title}" if first else outcome.lower()
