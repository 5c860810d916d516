"""What one condition did to the drafter, held against the baseline: findings, figures, and why there are none."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_mtp.checks.drafting_conditions import Condition
from pytest_mtp.checks.speculation import DEAD_AFTER_DRAFTS, UNDRAFTED_TOKENS, drafted_and_accepted, drafts_by_lookup, traffic
from pytest_mtp.core.case import Severity
from pytest_mtp.core.codes import severity_of
from pytest_mtp.core.exchange import Exchange, Fault
from pytest_mtp.core.reply import Reply
from pytest_mtp.core.verdict import Finding, Measure
from pytest_mtp.judge.ledger import Ledger

CODE = "SPEC.condition"

INFRA_KINDS = frozenset({"connect", "tls", "timeout", "reset", "auth", "not_found", "busy"})
"""Faults that say nothing about the condition: no answer was to be had. The others are the server's word on it."""

COLLAPSED = 0.1
"""Share of the baseline's acceptance below which it has broken down. Sampling lowers it lawfully, but hardly so far: a real server that
verifies sampled drafts wrongly accepted 1 of 366, and so may a model that is undecided everywhere (0 of 154)."""

LEAST_EXPECTED = 8
"""Accepted drafts that the baseline would give; with 8 expected none comes by chance in e^-8, three runs in ten thousand."""

_OWN_WORDS = ("specul", "draft", "mtp")


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One condition after it was asked. `without` is the failing ask without speculation, None where that cannot be said."""

    condition: Condition
    exchanges: Sequence[Exchange]
    book: Ledger
    without: Exchange | None = None

    def held_against(self, without: Exchange | None) -> Seen:
        """The same with the answer that came without speculation."""
        return dataclasses.replace(self, without=without)

    @property
    def fault(self) -> Fault | None:
        """Of its last request; nothing is asked after it."""
        return self.exchanges[-1].fault if self.exchanges else None

    @property
    def empty(self) -> bool:
        """Every reply came, and none says or calls anything."""
        replies = [exchange.reply for exchange in self.exchanges]
        return bool(replies) and all(reply is not None and _silent(reply) for reply in replies)

    @property
    def fails(self) -> bool:
        """The server declined, failed or said nothing, and not for want of a connection."""
        return self.empty or (self.fault is not None and self.fault.kind not in INFRA_KINDS)

    @property
    def prompt_tokens(self) -> int:
        """Of its longest prompt, 0 where no reply tells."""
        usages = [exchange.reply.usage for exchange in self.exchanges if exchange.reply]
        return max((usage.prompt_tokens or 0 for usage in usages if usage), default=0)

    @property
    def drafted(self) -> int | None:
        """Drafts, or verify steps where drafts are not counted; None where neither tells of our own requests."""
        return drafted_and_accepted(self.book)[0]

    @property
    def accepted(self) -> int:
        """Accepted drafts."""
        return drafted_and_accepted(self.book)[1]

    @property
    def only_with_speculation(self) -> bool | None:
        """Whether speculation is what it fails for: by the same ask without it, else by the server's own words; None: not known."""
        if self.without is not None:
            return self.without.reply is not None and not _silent(self.without.reply)
        said = (self.fault.message + self.fault.body).lower() if self.fault else ""
        return True if any(word in said for word in _OWN_WORDS) else None


def findings_of(seen: Seen, baseline: Seen, *, method: str | None) -> list[Finding]:
    """A failure that speculation alone brings is a regression; drafts that merely stop are a note, since answers stay right."""
    if seen.fails:
        return _failure(seen)
    if drafts_by_lookup(method) or seen.drafted is None or _too_short(seen):
        return []
    before = f"{baseline.condition.words} {_drafts(baseline)}"
    if not seen.drafted:
        return [_finding(seen, "note", f"no drafts {seen.condition.words}; {before}")]
    expected = seen.drafted * baseline.accepted / baseline.drafted if baseline.drafted else 0
    if seen.drafted >= DEAD_AFTER_DRAFTS and expected >= LEAST_EXPECTED and seen.accepted <= COLLAPSED * expected:
        return [_finding(seen, "note", f"{_drafts(seen)} {seen.condition.words}; {before}")]
    return []


def measures_of(seen: Seen) -> list[Measure]:
    """Acceptance under this condition; where there is none, a measure without a value that says why."""
    name, book = seen.condition.name, seen.book
    if seen.fault is not None:
        known = {True: ", and answered without speculation", False: ", and without speculation too", None: ""}[seen.only_with_speculation]
        return [not_reached(name, f"{seen.fault.message}{known if seen.without is not None else ''}")]
    if seen.drafted is None:
        return [not_reached(name, "; ".join(traffic(book)) or "neither counters nor replies tell of drafts under this condition")]
    if _too_short(seen):
        return [not_reached(name, f"{book.emitted} tokens in {book.requests} replies are too few to be drafted")]
    prompt = f", prompts of up to {seen.prompt_tokens} tokens" if seen.prompt_tokens else ""
    count = book.requests
    if book.counts is None:
        note = f"tokens a verify step, {book.passes} steps{prompt}"
        length = book.step_length
        return [Measure(name="mean_acceptance_length", value=length, unit="tokens", per="step", n=count, stratum=name, note=note)]
    steps = f", {book.counts.mean_length:.3g} tokens a step" if book.counts.mean_length is not None else ""
    note = f"{book.counts.accepted} of {book.counts.drafted} drafts{steps}{prompt}"
    return [Measure(name="acceptance_rate", value=book.counts.rate, unit="1", per="token", n=count, stratum=name, note=note)]


def not_reached(condition: str, why: str) -> Measure:
    """A condition without a figure."""
    return Measure(name="acceptance_rate", value=None, unit="1", per="token", n=0, stratum=condition, note=f"not reached: {why}")


def _failure(seen: Seen) -> list[Finding]:
    words, fault, only = seen.condition.words, seen.fault, seen.only_with_speculation
    what = f"{words}: {fault.message}" if fault else f"{words}: nothing is said, and no error"
    declined = fault is not None and fault.kind == "refused"
    if only:
        proof = "the same request is answered without speculation" if seen.without is not None else "by its own words since it speculates"
        return [_finding(seen, "note" if declined else severity_of(CODE), f"{what} ({proof})")]
    if declined or only is False:
        return []  # the server does not offer it, with or without speculation: the measure says so
    return [_finding(seen, "note", f"{what} (whether speculation is the reason cannot be seen: it cannot be left out of a request)")]


def _finding(seen: Seen, severity: Severity, title: str) -> Finding:
    book, fault = seen.book, seen.fault
    return Finding(
        code=CODE,
        severity=severity,
        title=title,
        where=seen.condition.name,
        hint=seen.condition.advice,
        evidence={
            "counts": book.counts.to_dict() if book.counts else None,
            "verify_steps": book.passes,
            "emitted": book.emitted,
            "status": fault.status if fault else None,
            "body": fault.body[:400] if fault else None,
        },
    )


def _drafts(seen: Seen) -> str:
    what = "drafts" if seen.book.counts is not None else "verify steps"
    tokens = f" in {seen.book.emitted} tokens" if seen.book.emitted is not None else ""
    return f"{seen.drafted} {what} with {seen.accepted} accepted{tokens}"


def _too_short(seen: Seen) -> bool:
    """Replies that a lawful server need not draft."""
    emitted = seen.book.emitted
    return not seen.drafted and emitted is not None and emitted <= UNDRAFTED_TOKENS * seen.book.requests


def _silent(reply: Reply) -> bool:
    return not (reply.text.strip() or (reply.reasoning or "").strip() or reply.tool_calls or reply.refusal)
