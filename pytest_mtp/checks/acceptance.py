"""Is the drafter alive, and how much of what it drafts is accepted? Code and prose apart, under the exclusive lease."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_mtp.checks.prompts import strata_of
from pytest_mtp.checks.speculation import broken_identities, evidence_of_speculation, summed
from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import Case
from pytest_mtp.core.errors import NotOffered
from pytest_mtp.core.exchange import Exchange
from pytest_mtp.core.facts import Acceptance, SpecDecode
from pytest_mtp.core.protocols import CheckContext
from pytest_mtp.core.verdict import Finding, Measure, Outcome, Verdict
from pytest_mtp.judge.gate import by_severity, harms
from pytest_mtp.judge.statistics import ratio_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratum:
    """One kind of text: its exchanges, what the server's counters moved by, and what the replies say."""

    name: str
    exchanges: Sequence[Exchange]
    delta: Acceptance | None
    replies: Sequence[Acceptance]

    @property
    def counts(self) -> Acceptance | None:
        """The counters where they move, since they know rounds and positions; else the sum over the replies."""
        if self.delta is not None and self.delta.drafted:
            return self.delta
        return summed(self.replies) or self.delta


def run(case: Case, context: CheckContext) -> Verdict:
    """The caller holds the exclusive lease, so that the counters move by our own requests alone."""
    strata = [_measure(name, asks, context) for name, asks in strata_of(case, default_max_tokens=48).items()]
    exchanges = [exchange for stratum in strata for exchange in stratum.exchanges]
    blocked = [exchange.fault for exchange in exchanges if exchange.fault is not None]
    if blocked:
        reason = f"{len(blocked)} of {len(exchanges)} requests got no answer"
        findings = [Finding(code=fault.code, severity="critical", title=fault.message) for fault in blocked[:3]]
        return Verdict(case_id=case.id, outcome="BLOCKED", reason=reason, findings=tuple(findings), exchanges=len(exchanges))
    total = summed([stratum.delta for stratum in strata])
    state = evidence_of_speculation(context.server.facts.speculation, context.server.engine, exchanges, total)
    wanted = case.params.get("state")
    if state.state == "unknown" and wanted is None:
        raise NotOffered(f"speculation cannot be seen on this server: {state.evidence[0]}")
    findings = by_severity([*_state_findings(state, wanted), *(f for stratum in strata for f in _stratum_findings(stratum))])
    outcome: Outcome = "FAIL" if harms(findings) else "PASS"
    return Verdict(
        case_id=case.id,
        outcome=outcome,
        reason=f"{findings[0].code}: {findings[0].title}" if outcome == "FAIL" else "",
        findings=tuple(findings),
        measures=tuple(measure for stratum in strata for measure in _measures(stratum)),
        exchanges=len(exchanges),
    )


def _measure(name: str, asks: Sequence[Ask], context: CheckContext) -> Stratum:
    engine, client = context.server.engine, context.server.client
    context.progress(f"acceptance on {name}")
    before = engine.counters(client)
    exchanges = [context.ask_alone(ask) for ask in asks]
    after = engine.counters(client)
    replies = [engine.acceptance_of(exchange.reply) for exchange in exchanges if exchange.reply is not None]
    return Stratum(
        name=name,
        exchanges=exchanges,
        delta=after.since(before).acceptance if after is not None and before is not None else None,
        replies=[counts for counts in replies if counts is not None],
    )


def _state_findings(state: SpecDecode, wanted: object) -> list[Finding]:
    detail = "\n".join(state.evidence)
    if state.state == "dead":
        return [Finding(code="SPEC.dead", severity="critical", title="drafts are made or configured, and none is accepted", detail=detail)]
    if wanted is not None and state.state != wanted:
        title = f"speculation is {state.state}, and the case asks for {wanted}"
        return [Finding(code="SPEC.inactive", severity="critical", title=title, detail=detail)]
    if state.state == "inactive":
        return [Finding(code="SPEC.inactive", severity="note", title="the server does not speculate", detail=detail)]
    return []


def _stratum_findings(stratum: Stratum) -> list[Finding]:
    counts = stratum.counts
    if counts is None:
        return []
    emitted = [exchange.reply.usage.completion_tokens for exchange in stratum.exchanges if exchange.reply and exchange.reply.usage]
    tokens = sum(n for n in emitted if n is not None) if emitted and None not in emitted else None
    foreign = _foreign_drafts(stratum)
    if foreign:
        title = f"{foreign} drafted tokens on {stratum.name} belong to requests that are not ours"
        return [Finding(code="PERF.contaminated", severity="note", title=title, where=stratum.name)]
    return [
        Finding(code="SPEC.identity", severity="critical", title=words, where=stratum.name, evidence=counts.to_dict())
        for words in broken_identities(counts, emitted_tokens=tokens)
    ]


def _foreign_drafts(stratum: Stratum) -> int:
    """Drafts that the counters saw beyond those of our own replies; 0 where either side is not offered."""
    own = summed(stratum.replies)
    if own is None or stratum.delta is None:
        return 0
    return max(0, stratum.delta.drafted - own.drafted)


def _measures(stratum: Stratum) -> list[Measure]:
    counts = stratum.counts
    if counts is None or not counts.drafted:
        return []
    prompts = len(stratum.exchanges)
    interval = ratio_interval([r.accepted for r in stratum.replies], [r.drafted for r in stratum.replies])
    rate = Measure(
        name="acceptance_rate",
        value=counts.rate,
        unit="1",
        per="token",
        n=prompts,
        stratum=stratum.name,
        interval=interval,
        note=f"{counts.accepted} of {counts.drafted} drafts; the interval is clustered by prompt",
    )
    if not counts.rounds:
        return [rate]
    length = Measure(
        name="mean_acceptance_length",
        value=counts.mean_length,
        unit="tokens",
        per="step",
        n=prompts,
        stratum=stratum.name,
        note=f"1 + accepted / rounds, {counts.rounds} rounds",
    )
    positions = [
        Measure(
            name=f"acceptance_at_position_{index}",
            value=hits / counts.rounds,
            unit="1",
            per="step",
            n=prompts,
            stratum=stratum.name,
            note="of all rounds",
        )
        for index, hits in enumerate(counts.per_position)
    ]
    return [rate, length, *positions]
