"""Is the drafter alive, and how much of what it drafts is accepted? Code and prose apart, under the exclusive lease."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_mtp.checks.acceptance_measures import measures_of
from pytest_mtp.checks.instrumented import Instrumented
from pytest_mtp.checks.prompts import strata_of
from pytest_mtp.checks.speculation import Meter, evidence_of_speculation, ledger, traffic
from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import Case
from pytest_mtp.core.codes import severity_of
from pytest_mtp.core.errors import NotOffered
from pytest_mtp.core.exchange import Exchange
from pytest_mtp.core.facts import Acceptance, Counters, SpecDecode
from pytest_mtp.core.protocols import CheckContext, Server
from pytest_mtp.core.record import Json
from pytest_mtp.core.verdict import Finding, Outcome, Verdict, by_severity
from pytest_mtp.judge.acceptance import beyond_depth, broken_identities
from pytest_mtp.judge.gate import harms
from pytest_mtp.judge.ledger import Ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratum:
    """One kind of text: its exchanges, and what they and the counters say, in all and by prompt."""

    name: str
    exchanges: Sequence[Exchange]
    book: Ledger
    prompts: Sequence[Ledger]


def run(case: Case, context: CheckContext) -> Verdict:
    """The caller holds the exclusive lease, so that the counters move by our own requests alone."""
    server = context.server
    asking, meter = Instrumented(server.engine, context.ask_alone), Meter(server)
    first = meter.reading
    strata = []
    for name, asks in strata_of(case, default_max_tokens=48).items():
        context.progress(f"acceptance on {name}")
        strata.append(_measure(name, asks, asking, meter, server))
    exchanges = [exchange for stratum in strata for exchange in stratum.exchanges]
    blocked = [exchange.fault for exchange in exchanges if exchange.fault is not None]
    if blocked:
        reason = f"{len(blocked)} of {len(exchanges)} requests got no answer"
        findings = [Finding(code=fault.code, severity="critical", title=fault.message) for fault in blocked[:3]]
        return Verdict(case_id=case.id, outcome="BLOCKED", reason=reason, findings=tuple(findings), exchanges=len(exchanges))
    whole = ledger(server, exchanges, _moved(first, meter.reading))
    state = evidence_of_speculation(server.facts.speculation, whole, signs=asking.evidence)
    wanted = case.params.get("state")
    findings = by_severity([*_state_findings(state, wanted), *(f for stratum in strata for f in _stratum_findings(stratum))])
    unseen = state.state == "unknown" and wanted is None and not harms(findings)
    if unseen and not whole.restarted:
        raise NotOffered(f"speculation cannot be seen on this server: {state.evidence[0]}")
    outcome: Outcome = "FAIL" if harms(findings) else "INCONCLUSIVE" if unseen else "PASS"  # it tells, and it told nothing this time
    return Verdict(
        case_id=case.id,
        outcome=outcome,
        reason={"FAIL": f"{findings[0].code}: {findings[0].title}" if findings else "", "INCONCLUSIVE": state.evidence[0]}.get(outcome, ""),
        findings=tuple(findings),
        measures=tuple(measure for stratum in strata for measure in measures_of(stratum.name, stratum.book, stratum.prompts)),
        exchanges=len(exchanges),
    )


def _measure(name: str, asks: Sequence[Ask], asking: Instrumented, meter: Meter, server: Server) -> Stratum:
    """One request after another, the counters read after each: a prompt is a replicate even where replies tell nothing."""
    before = meter.reading
    exchanges, prompts = [], []
    for ask in asks:
        exchange = asking.ask(ask)
        exchanges.append(exchange)
        prompts.append(ledger(server, [exchange], meter.moved([exchange])))
    return Stratum(name=name, exchanges=exchanges, book=ledger(server, exchanges, _moved(before, meter.reading)), prompts=prompts)


def _moved(before: Counters | None, after: Counters | None) -> Counters | None:
    return None if before is None or after is None else after.since(before)


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
    """Foreign traffic, and counts that contradict each other. A reading among foreign requests may have caught one half-way."""
    book, where = stratum.book, stratum.name
    findings = []
    if book.contaminated:
        title = f"{where}: {traffic(book)[0]}"
        findings.append(Finding(code="PERF.contaminated", severity="note", title=title, where=where, evidence=_evidence(book)))
    exact = [words for counts in _sources(book) for words in broken_identities(counts)]
    exact += [book.emission_broken] if book.emission_broken else []
    severity = "note" if book.contaminated else severity_of("SPEC.identity")
    findings += [
        Finding(code="SPEC.identity", severity=severity, title=words, where=where, evidence=_evidence(book))
        for words in dict.fromkeys(exact)
    ]
    # Two accounts that differ, of which one may count otherwise: worth knowing, no proof of a broken counter.
    doubts = [book.conflict, beyond_depth(book.counts, book.depth) if book.counts else "", *(traffic(book) if book.partial else ())]
    findings += [
        Finding(code="SPEC.identity", severity="note", title=words, where=where, evidence=_evidence(book)) for words in doubts if words
    ]
    return findings


def _sources(book: Ledger) -> list[Acceptance]:
    """The counts that must obey the identities, whoever's they are."""
    moved = book.moved.acceptance if book.moved is not None else None
    return [counts for counts in (moved, book.own) if counts is not None]


def _evidence(book: Ledger) -> dict[str, Json]:
    return {
        "requests": book.requests,
        "emitted": book.emitted,
        "counters": book.moved.to_dict() if book.moved else None,
        "replies": book.own.to_dict() if book.own else None,
    }
