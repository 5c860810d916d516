"""From verdicts to an open or closed gate. Reads severities and outcomes alone, so every check is treated alike."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Literal

from pytest_mtp.core.facts import Control
from pytest_mtp.core.run import Blocking, CaseResult, Gate, GatePolicy, GateVerdict
from pytest_mtp.core.verdict import Finding, Outcome, Verdict, by_severity

InconclusivePolicy = Literal["fail", "warn"]

CONTROL_NODE = "control"

_KIND: dict[Outcome, GateVerdict] = {"FAIL": "fail", "BLOCKED": "blocked", "INCONCLUSIVE": "inconclusive", "PASS": "pass"}


def harms(findings: Sequence[Finding]) -> list[Finding]:
    """The findings that can close a gate: serving is broken, or an approved answer is missed."""
    return [finding for finding in by_severity(findings) if finding.severity in ("critical", "regression")]


def closes(verdict: Verdict, policy: GatePolicy, inconclusive: InconclusivePolicy) -> bool:
    """Whether this verdict alone closes the gate.

    A miss of a `model` case is no proof of harm, since a weak model misses too; under `proof` it closes all the same, as
    nothing shows that it was missed before.
    """
    if policy == "explore":
        return False
    if verdict.outcome == "FAIL":
        return policy == "proof" or bool(harms(verdict.findings))
    if verdict.outcome == "INCONCLUSIVE":
        return policy == "proof" or inconclusive == "fail"
    return verdict.outcome == "BLOCKED"


def decide(results: Sequence[CaseResult], control: Control | None, policy: GatePolicy) -> Gate:
    """The gate of a run. Harm outranks a blocked server, which outranks a condition that was not reached."""
    control_harm = harms(control.findings) if control and policy != "explore" else []
    blocking = [Blocking(node_id=CONTROL_NODE, code=finding.code, title=finding.title) for finding in control_harm]
    closing = [result for result in results if result.closes]
    kinds: set[GateVerdict] = {_KIND[result.verdict.outcome] for result in closing}
    if control_harm:
        kinds.add("fail")
    unsent = [result for result in closing if _was_not_sent(result)]
    for result in closing:
        if not _was_not_sent(result):
            blocking += _why(result)
    if unsent:
        first = _why(unsent[0])[0]
        blocking.append(dataclasses.replace(first, title=f"{len(unsent)} cases were not sent: {first.title}"))
    worst: GateVerdict = next((kind for kind in _KIND.values() if kind in kinds), "pass")
    return Gate(verdict=worst, policy=policy, blocking=tuple(blocking), reasons=tuple(_reasons(results, control)))


def _was_not_sent(result: CaseResult) -> bool:
    return result.verdict.outcome == "BLOCKED" and not result.verdict.exchanges


def _why(result: CaseResult) -> list[Blocking]:
    """The three gravest findings of a case, or its one-line reason where it has none."""
    reasons = harms(result.verdict.findings) or by_severity(result.verdict.findings)
    if not reasons:
        return [Blocking(node_id=result.node_id, code="", title=result.verdict.reason)]
    return [Blocking(node_id=result.node_id, code=finding.code, title=finding.title) for finding in reasons[:3]]


def _reasons(results: Sequence[CaseResult], control: Control | None) -> list[str]:
    counts = {
        outcome: sum(result.verdict.outcome == outcome for result in results) for outcome in ("PASS", "FAIL", "INCONCLUSIVE", "BLOCKED")
    }
    missed = sum(result.verdict.outcome == "FAIL" and not result.closes for result in results)
    reasons = [f"{counts['PASS']} of {len(results)} cases passed"] if results else ["no case was run"]
    if missed:
        reasons.append(f"{missed} missed without closing the gate (severity model)")
    if counts["FAIL"] - missed:
        reasons.append(f"{counts['FAIL'] - missed} failed")
    if counts["BLOCKED"]:
        reasons.append(f"{counts['BLOCKED']} not evaluated: the server or the network")
    if counts["INCONCLUSIVE"]:
        reasons.append(f"{counts['INCONCLUSIVE']} inconclusive")
    if control and not control.usable:
        reasons.append(f"control unusable: {control.reason}")
    return reasons
