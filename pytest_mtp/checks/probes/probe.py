"""What every probe shares: what it says of itself, what it saw, and how that becomes a verdict."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_mtp.checks.probes.sent import Sent, fault_finding
from pytest_mtp.core.case import Case, Severity
from pytest_mtp.core.codes import CODES, severity_of
from pytest_mtp.core.errors import NotOffered
from pytest_mtp.core.exchange import Exchange
from pytest_mtp.core.protocols import CheckContext
from pytest_mtp.core.verdict import Finding, Measure, Outcome, Verdict, by_severity
from pytest_mtp.judge.gate import harms
from pytest_mtp.judge.statistics import upper_bound

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What one trial of one condition showed.

    The trial is the unit of replication: one request, or one set of requests that are compared with each other. `unreached`
    says why the condition was not met, `not_offered` why it cannot be: the server refuses, openly, and is within its rights.
    Either kind of trial proves nothing. `culprit` is the exchange that shows the first finding, the one to send again.
    """

    condition: str
    findings: tuple[Finding, ...] = ()
    unreached: str = ""
    not_offered: str = ""
    culprit: Exchange | None = None

    @property
    def why_not(self) -> str:
        """Why this trial proves nothing; empty where it does."""
        return self.unreached or self.not_offered


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One experiment.

    `requests` and `tokens` are what one look costs at most, for budgets; `tokens` counts generated ones. `sees` names the checks
    of the fault catalogue that it carries out. `alone`: the caller holds the exclusive lease.
    """

    name: str
    about: str
    requests: Callable[[Case], int]
    tokens: Callable[[Case], int]
    look: Callable[[Case, Sent], Sequence[Sight]]
    sees: tuple[str, ...]
    alone: bool = False

    def run(self, case: Case, context: CheckContext) -> Verdict:
        """Look as often as the case repeats and the budget allows, at least once, and conclude.

        Raises NotOffered where the server cannot be asked this at all.
        """
        sent = Sent(context)
        sights: list[Sight] = []
        for turn in range(case.repeats):
            if turn and not context.again():
                break
            context.progress(f"{self.name}, {turn + 1} of {case.repeats}")
            sights += self.look(case, sent)
        return concluded(case, sights, sent.exchanges)


def finding(
    code: str,
    title: str,
    *,
    detail: str = "",
    where: str = "",
    evidence: Mapping[str, Any] | None = None,
    severity: Severity | None = None,
) -> Finding:
    """With the severity and the hint of the table, unless the evidence speaks for less."""
    return Finding(
        code=code, severity=severity or severity_of(code), title=title, detail=detail, where=where,
        hint=CODES[code].hint, evidence=evidence or {},
    )  # fmt: skip


def unanswered(condition: str, exchange: Exchange) -> Sight:
    """A trial whose request got no reply."""
    fault = fault_finding(exchange)
    return Sight(condition=condition, findings=(fault,) if fault else (), culprit=exchange)


def concluded(case: Case, sights: Sequence[Sight], exchanges: Sequence[Exchange]) -> Verdict:
    """FAIL for harm, BLOCKED where answers are missing, INCONCLUSIVE where no condition was reached, else PASS.

    Raises NotOffered where the server refuses every condition: then there is nothing to reach.

    Each condition that was reached and showed nothing gets the measure `excludable_fault_rate`: the exact one-sided 95 % upper
    bound on the rate of a fault that strikes its trials independently, 1 - 0.05^(1/n) after n clean ones. What was not
    reached is told in the same place, so that a PASS never claims more than it saw.
    """
    findings = _gathered(sights)
    infra = [found for found in findings if found.code.startswith("INFRA.")]
    reached = [sight for sight in sights if not sight.why_not]
    if sights and all(sight.not_offered for sight in sights):
        raise NotOffered(f"{sights[0].condition}: {sights[0].not_offered}")
    outcome: Outcome
    if harms([found for found in findings if found not in infra]):
        outcome = "FAIL"
    elif infra:
        outcome = "BLOCKED"
    elif any(found.severity == "model" for found in findings):
        outcome = "FAIL"
    else:
        outcome = "PASS" if reached else "INCONCLUSIVE"
    return Verdict(
        case_id=case.id,
        outcome=outcome,
        reason=_reason(outcome, findings, sights),
        findings=tuple(findings),
        measures=(*_measures(sights), *_costs(exchanges)),
        exchanges=len(exchanges),
        culprit=_culprit(sights, findings, exchanges),
    )


def _gathered(sights: Sequence[Sight]) -> list[Finding]:
    """The same finding of several trials once, as the gravest of them, with the number of trials that show it; the gravest first."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for sight in sights:
        for found in sight.findings:
            placed = dataclasses.replace(found, where=_placed(found.where, sight.condition))
            groups.setdefault((found.code, sight.condition), []).append(placed)
    trials = {condition: sum(s.condition == condition and not s.why_not for s in sights) for _, condition in groups}
    gathered = []
    for (_, condition), group in groups.items():
        gravest = by_severity(group)[0]
        times = f"{len(group)} of {trials[condition]} trials"
        gathered.append(dataclasses.replace(gravest, evidence={**gravest.evidence, "trials": times}))
    return by_severity(gathered)


def _placed(where: str, condition: str) -> str:
    """Always with the condition: a judge knows the place in the reply alone."""
    return where if condition in where else f"{condition}: {where}" if where else condition


def _reason(outcome: Outcome, findings: Sequence[Finding], sights: Sequence[Sight]) -> str:
    if outcome == "PASS":
        return ""
    if outcome == "INCONCLUSIVE":
        return next((f"{sight.condition}: {sight.unreached}" for sight in sights if sight.unreached), "no condition was tried")
    first = findings[0] if outcome == "FAIL" else next(found for found in findings if found.code.startswith("INFRA."))
    return f"{first.code}: {first.title}"


def _measures(sights: Sequence[Sight]) -> list[Measure]:
    measures = []
    for condition in dict.fromkeys(sight.condition for sight in sights):
        trials = [sight for sight in sights if sight.condition == condition]
        reached = [sight for sight in trials if not sight.why_not]
        struck = sum(any(found.severity != "note" for found in sight.findings) for sight in reached)
        why = next((sight.why_not for sight in trials if sight.why_not), "")
        note = f"{struck} of {len(reached)} trials show a fault" if reached else f"not reached: {why}"
        if reached and why:
            note += f"; {len(trials) - len(reached)} not reached: {why}"
        bound = upper_bound(0, len(reached), level=CONFIDENCE) if reached and not struck else None
        measures.append(
            Measure(name="excludable_fault_rate", value=bound, unit="1", per="request", n=len(reached), stratum=condition, note=note)
        )
    return measures


def _costs(exchanges: Sequence[Exchange]) -> list[Measure]:
    """What it took. Tokens are counted by the server's usage alone; None where a reply carries none."""
    used = [exchange.reply.usage.completion_tokens if exchange.reply.usage else None for exchange in exchanges if exchange.reply]
    spent = sum(count for count in used if count is not None) if used and None not in used else None
    return [
        Measure(name="probe_requests", value=float(len(exchanges)), unit="requests", per="case", n=1),
        Measure(name="probe_tokens", value=None if spent is None else float(spent), unit="tokens", per="case", n=1, note="generated"),
    ]


def _culprit(sights: Sequence[Sight], findings: Sequence[Finding], exchanges: Sequence[Exchange]) -> int | None:
    if not findings:
        return None
    holder = next(
        (sight.culprit for sight in sights if sight.culprit and any(found.code == findings[0].code for found in sight.findings)), None
    )
    return next((index for index, exchange in enumerate(exchanges) if exchange is holder), None)
