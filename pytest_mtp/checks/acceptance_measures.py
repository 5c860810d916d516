"""The figures of acceptance, each with what it is a figure of: a token, or a step. The unit of replication is the prompt."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pytest_mtp.core.facts import Acceptance
from pytest_mtp.core.verdict import Interval, Measure
from pytest_mtp.judge.acceptance import conditional_rates, position_rates
from pytest_mtp.judge.ledger import Ledger
from pytest_mtp.judge.statistics import ratio_interval

Pair = tuple[int, int] | None
"""Numerator and denominator of one prompt, None where it does not tell."""


def measures_of(stratum: str, book: Ledger, prompts: Sequence[Ledger]) -> list[Measure]:
    """Of one stratum, `prompts` being the same requests one by one. Empty where nothing was drafted or nothing is told."""
    counts, table = book.counts, _Table(stratum=stratum, prompts=prompts)
    if counts is None:
        return _of_steps(book, table)
    if not counts.drafted:
        return []
    tree = "; drafts are the nodes of a tree: not comparable with a chain" if counts.tree else ""
    parts = table.counts
    pairs: list[Pair] = [None if part is None else (part.accepted, part.drafted) for part in parts]
    found = [table.share("acceptance_rate", counts.rate, "token", pairs, f"{counts.accepted} of {counts.drafted} drafts{tree}")]
    if counts.rounds:
        pairs = [None if part is None or part.rounds is None else (part.accepted + part.rounds, part.rounds) for part in parts]
        note = f"1 + accepted / rounds with a draft, {counts.rounds} rounds"
        found.append(table.length("mean_acceptance_length", counts.mean_length, pairs, note))
    return [*found, *_effective(book, table, counts), *_positions(table, counts)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    """Rows of one stratum."""

    stratum: str
    prompts: Sequence[Ledger]

    @property
    def counts(self) -> list[Acceptance | None]:
        """What each prompt tells."""
        return [prompt.counts for prompt in self.prompts]

    def share(self, name: str, value: float | None, per: Literal["token", "step"], pairs: Sequence[Pair], note: str) -> Measure:
        """A rate."""
        return self._row(Measure(name=name, value=value, unit="1", per=per, n=len(self.prompts), note=note), pairs, least=0, most=1)

    def length(self, name: str, value: float | None, pairs: Sequence[Pair], note: str) -> Measure:
        """Tokens a step."""
        return self._row(Measure(name=name, value=value, unit="tokens", per="step", n=len(self.prompts), note=note), pairs, least=0)

    def _row(self, row: Measure, pairs: Sequence[Pair], *, least: float, most: float = math.inf) -> Measure:
        interval = _interval(pairs)
        if interval is not None:  # a symmetric interval may reach beyond what can be
            interval = dataclasses.replace(interval, low=max(least, interval.low), high=min(most, interval.high))
        note = f"{row.note}; the interval is clustered by prompt"
        return dataclasses.replace(row, stratum=self.stratum, interval=interval, note=note)


def _effective(book: Ledger, table: _Table, counts: Acceptance) -> list[Measure]:
    """AL_eff = N / (N - A), from usage and accepted drafts alone; none where either is not ours to know."""
    value = counts.effective_length(book.emitted) if book.emitted is not None else None
    if value is None:
        return []
    pairs: list[Pair] = [
        (prompt.emitted, prompt.emitted - prompt.counts.accepted) if prompt.emitted is not None and prompt.counts is not None else None
        for prompt in table.prompts
    ]
    note = f"tokens / forward passes, prefill and undrafted steps included: {book.emitted} / ({book.emitted} - {counts.accepted})"
    return [table.length("effective_length", value, pairs, note)]


def _positions(table: _Table, counts: Acceptance) -> list[Measure]:
    """Of all rounds, and given that all before were right. The first position is both."""
    found, parts = [], table.counts
    for place, rate in enumerate(position_rates(counts)):
        pairs: list[Pair] = [None if part is None or part.rounds is None else (_at(part, place), part.rounds) for part in parts]
        found.append(table.share(f"acceptance_at_position_{place}", rate, "step", pairs, f"of all {counts.rounds} rounds"))
    for place, rate in enumerate(conditional_rates(counts)[1:], start=1):
        pairs = [None if part is None else (_at(part, place), _at(part, place - 1)) for part in parts]
        note = f"of the {counts.per_position[place - 1]} rounds whose drafts before it were all accepted"
        found.append(table.share(f"conditional_at_position_{place}", rate, "step", pairs, note))
    return found


def _of_steps(book: Ledger, table: _Table) -> list[Measure]:
    """Where nothing but tokens and verify steps is counted."""
    if not book.passes or book.step_length is None:
        return []
    pairs: list[Pair] = [
        (prompt.emitted - prompt.requests, prompt.passes) if prompt.emitted is not None and prompt.passes is not None else None
        for prompt in table.prompts
    ]
    note = f"(tokens - first tokens) / verify steps, {book.passes} steps with or without drafts"
    return [table.length("mean_acceptance_length", book.step_length, pairs, note)]


def _interval(pairs: Sequence[Pair]) -> Interval | None:
    """None where a prompt does not tell, since an interval of some would not belong to the value of all."""
    known = [pair for pair in pairs if pair is not None]
    return ratio_interval([top for top, _ in known], [bottom for _, bottom in known]) if len(known) == len(pairs) else None


def _at(counts: Acceptance, place: int) -> int:
    """A_i; a prompt whose drafts never reached there has 0."""
    return counts.per_position[place] if place < len(counts.per_position) else 0
