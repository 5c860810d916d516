"""Under which conditions does the drafter draft? Each is held against plain greedy requests of the same run."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import cast

from pytest_mtp.checks.drafting_conditions import Condition, greedy, long_text, others
from pytest_mtp.checks.drafting_findings import INFRA_KINDS, Seen, findings_of, measures_of, not_reached
from pytest_mtp.checks.instrumented import Instrumented
from pytest_mtp.checks.speculation import Meter, evidence_of_speculation, ledger, traffic
from pytest_mtp.checks.stepwise import joined, parity_finding, step_check
from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import Case
from pytest_mtp.core.errors import NotOffered
from pytest_mtp.core.exchange import Exchange
from pytest_mtp.core.facts import SpecDecode
from pytest_mtp.core.protocols import CheckContext
from pytest_mtp.core.verdict import Finding, Measure, Verdict, by_severity
from pytest_mtp.judge.gate import harms


def run(case: Case, context: CheckContext) -> Verdict:
    """The caller holds the exclusive lease, so that the counters move by our own requests alone."""
    given = case.params
    continues = context.control().step_checked > 0  # before the counters are read: where it is not known yet, it sends requests
    max_tokens = cast("int", given.get("max_tokens", 48))
    room = _Room(context)
    baseline = room.look(greedy(max_tokens))
    if baseline.fault is not None:
        return _verdict(case, room, [], [], blocked=baseline)
    state = evidence_of_speculation(context.server.facts.speculation, baseline.book, signs=room.asking.evidence)
    if not baseline.drafted:
        raise NotOffered(_why_nothing_to_compare(state))
    wanted = cast("int", given.get("long_prompt_tokens", 800))
    length = context.server.facts.context_length
    text = long_text(wanted, context_length=length, taken=baseline.prompt_tokens + max_tokens)
    conditions = others(baseline.condition, temperature=cast("float", given.get("temperature", 0.8)), long_text=text)
    findings: list[Finding] = []
    measures = measures_of(baseline)
    for condition in conditions:
        seen = room.look(condition)
        if seen.fault is not None and seen.fault.kind in INFRA_KINDS:
            return _verdict(case, room, findings, measures, blocked=seen)
        findings += findings_of(seen, baseline, method=state.method)
        measures += measures_of(seen)
        if condition.stepwise and continues:
            findings += room.parity(seen)
    if not text:
        measures.append(not_reached("long", f"a context of {length} tokens leaves no room for a long prompt"))
    return _verdict(case, room, findings, measures)


POSITIONS = 6
"""One-token continuations for each answer of a condition whose answers can be nothing but the greedy ones."""


class _Room:
    """Asks alone, reads the counters around each condition, and keeps count."""

    def __init__(self, context: CheckContext) -> None:
        self.context = context
        self.exchanges: list[Exchange] = []
        self.asking = Instrumented(context.server.engine, self._alone)
        self._meter = Meter(context.server)
        self.foreign: list[str] = []

    def look(self, condition: Condition) -> Seen:
        """Ask until the first fault; what fails is asked once more without speculation, where that can be said."""
        server = self.context.server
        self.context.progress(f"drafts {condition.words}")
        exchanges: list[Exchange] = []
        for ask in condition.asks:
            exchanges.append(self.asking.ask(ask))
            if exchanges[-1].fault is not None:
                break
        book = ledger(server, exchanges, self._meter.moved(exchanges))
        self.foreign += [f"{condition.words}: {words}" for words in traffic(book) if book.contaminated]
        seen = Seen(condition=condition, exchanges=exchanges, book=book)
        if seen.fails and condition.name != "greedy":
            seen = seen.held_against(self._without(exchanges[-1].ask))
        return seen

    def parity(self, seen: Seen) -> list[Finding]:
        """Sampled answers that the model itself would never give: the verify step of sampled drafts is broken."""
        start, engine = len(self.exchanges), self.context.server.engine
        parts = [step_check(each, engine, self._alone, positions=POSITIONS, continues=True) for each in seen.exchanges if each.reply]
        self._meter.moved(self.exchanges[start:])  # their tokens belong to no condition
        steps = joined(parts)
        if not steps.material:
            return []
        words = f"tokens {seen.condition.words} that the model itself would never choose there"
        return [dataclasses.replace(parity_finding("SPEC.parity.material", steps, words), where=seen.condition.name)]

    def _without(self, ask: Ask) -> Exchange | None:
        plain = self.context.server.engine.unspeculated(ask)
        if plain is None:
            return None
        exchange = self._alone(plain)
        self._meter.moved([exchange])  # its tokens belong to no condition
        return exchange

    def _alone(self, ask: Ask) -> Exchange:
        self.exchanges.append(self.context.ask_alone(ask))
        return self.exchanges[-1]


def _why_nothing_to_compare(state: SpecDecode) -> str:
    if state.state == "inactive":
        return f"the server does not speculate: {state.evidence[0]}"
    if state.state == "dead":
        return f"nothing is drafted in plain greedy requests either: {state.evidence[0]}"
    return f"speculation cannot be seen on this server: {state.evidence[0]}"


def _verdict(
    case: Case, room: _Room, findings: Sequence[Finding], measures: Sequence[Measure], *, blocked: Seen | None = None
) -> Verdict:  # fmt: skip
    notes = [Finding(code="PERF.contaminated", severity="note", title=words) for words in room.foreign]
    every = by_severity([*findings, *notes])
    if blocked is not None and blocked.fault is not None:
        fault = blocked.fault
        reason = f"{fault.code}: {blocked.condition.words}: {fault.message}"
        every = [Finding(code=fault.code, severity="critical", title=fault.message, where=blocked.condition.name), *every]
        return Verdict(
            case_id=case.id, outcome="BLOCKED", reason=reason, findings=tuple(every), measures=tuple(measures),
            exchanges=len(room.exchanges), culprit=len(room.exchanges) - 1,
        )  # fmt: skip
    harm = harms(every)
    return Verdict(
        case_id=case.id,
        outcome="FAIL" if harm else "PASS",
        reason=f"{harm[0].code}: {harm[0].title}" if harm else "",
        findings=tuple(every),
        measures=tuple(measures),
        exchanges=len(room.exchanges),
    )
