"""Is speculation really on? Counters that moved with our own requests decide, never a flag."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from pytest_mtp.core.exchange import Exchange
from pytest_mtp.core.facts import Acceptance, SpecDecode
from pytest_mtp.core.protocols import Engine

DEAD_AFTER_DRAFTS = 32
"""Drafted tokens without one acceptance that prove a dead drafter: a drafter right one time in ten, and so hardly worth its
cost, would show none with probability 0.9^32 = 3 %, and the shipped prompts draft several times as many."""


def summed(parts: Sequence[Acceptance | None]) -> Acceptance | None:
    """The sum of per-reply counts; None when no reply carried any."""
    present = [part for part in parts if part is not None]
    if not present:
        return None
    rounds = [part.rounds for part in present]
    return Acceptance(
        drafted=sum(part.drafted for part in present),
        accepted=sum(part.accepted for part in present),
        rounds=None if None in rounds else sum(count or 0 for count in rounds),
        source=next((part.source for part in present if part.drafted), present[0].source),
    )


def evidence_of_speculation(
    configured: SpecDecode, engine: Engine, exchanges: Sequence[Exchange], delta: Acceptance | None
) -> SpecDecode:  # fmt: skip
    """The state that these exchanges prove, the proof before the claims.

    `delta` is what the server's counters moved by during them.
    """
    own = summed([engine.acceptance_of(exchange.reply) for exchange in exchanges if exchange.reply is not None])
    seen = delta if delta is not None and delta.drafted else own if own is not None else delta
    words = []
    if delta is not None:
        words.append(f"{delta.source or 'counters'}: {delta.drafted} drafted, {delta.accepted} accepted during our requests")
    if own is not None:
        words.append(f"{own.source or 'replies'}: {own.drafted} drafted, {own.accepted} accepted in our replies")
    if seen is None:
        words.append("neither counters nor replies tell of drafts")
        return dataclasses.replace(configured, state="unknown", evidence=(*words, *configured.evidence))
    claims = configured.method is not None or configured.depth is not None or configured.state in ("active", "dead")
    if seen.accepted:
        state = "active"
    elif seen.drafted >= DEAD_AFTER_DRAFTS or (claims and not seen.drafted):
        state = "dead"
    elif seen.drafted:
        state = "unknown"
        words.append(f"{seen.drafted} drafts are too few to call the drafter dead")
    else:
        state = "inactive"
    return dataclasses.replace(configured, state=state, evidence=(*words, *configured.evidence), acceptance=seen)  # type: ignore[arg-type]  # the literals survive


def broken_identities(counts: Acceptance, *, emitted_tokens: int | None = None) -> list[str]:
    """The identities of acceptance counts that do not hold, in words. All are exact: no statistics."""
    broken = []
    if counts.accepted > counts.drafted:
        broken.append(f"accepted {counts.accepted} > drafted {counts.drafted}")
    if min(counts.drafted, counts.accepted) < 0:
        broken.append("a counter went backwards: the server restarted, or the series was reset")
    if counts.per_position:
        if sum(counts.per_position) != counts.accepted:
            broken.append(f"positions sum to {sum(counts.per_position)}, accepted is {counts.accepted}")
        if list(counts.per_position) != sorted(counts.per_position, reverse=True):
            broken.append(f"a later position was accepted more often than an earlier one: {list(counts.per_position)}")
        if counts.rounds is not None and counts.per_position[0] > counts.rounds:
            broken.append(f"position 0 accepted {counts.per_position[0]} times in {counts.rounds} rounds")
    if emitted_tokens is not None and counts.accepted > emitted_tokens:
        broken.append(f"{counts.accepted} accepted drafts in {emitted_tokens} emitted tokens")
    return broken
