"""Acceptance counts, alike over all engines: their sums, their rates, and the identities that lawful counts obey.

Symbols: R requests, N tokens emitted, T drafted, A accepted, D verify steps with at least one draft, A_i those whose draft i
was accepted, F forward passes that emit tokens, prefill aside, K depth. The definitions are in docs/acceptance.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from pytest_mtp.core.facts import Acceptance


def summed(parts: Sequence[Acceptance | None]) -> Acceptance | None:
    """The sum of counts; None when no part carries any. What one part does not tell, the sum does not tell either.

    The counts of concurrent replies that cover their whole batch must not come here: each would be counted several times.
    """
    present = [part for part in parts if part is not None]
    if not present:
        return None
    rounds = [part.rounds for part in present]
    # A reply without accepted drafts may have no positions, and takes nothing away from those of the others.
    told = all(part.per_position or not part.accepted for part in present)
    positions = (sum(column) for column in zip_longest(*(part.per_position for part in present), fillvalue=0))
    return Acceptance(
        drafted=sum(part.drafted for part in present),
        accepted=sum(part.accepted for part in present),
        rounds=None if None in rounds else sum(count or 0 for count in rounds),
        per_position=tuple(positions) if told else (),
        source=next((part.source for part in present if part.drafted), present[0].source),
        batch_wide=any(part.batch_wide for part in present),
        tree=any(part.tree for part in present),
    )


def position_rates(counts: Acceptance) -> tuple[float, ...]:
    """a_i = A_i / D: the share of all rounds whose draft i was accepted. Their sum is the mean length less 1."""
    return tuple(hits / counts.rounds for hits in counts.per_position) if counts.rounds else ()


def conditional_rates(counts: Acceptance) -> tuple[float, ...]:
    """c_i = a_i / a_(i-1): how often draft i is right where all before it were. What one more draft would bring.

    Ends before the first position that no round reached.
    """
    reached = (counts.rounds or 0, *counts.per_position)
    rates = []
    for hits, before in zip(counts.per_position, reached, strict=False):
        if not before:
            break
        rates.append(hits / before)
    return tuple(rates)


def went_backwards(counts: Acceptance) -> bool:
    """A delta below 0: the server restarted between two readings, or the series was reset."""
    return min(counts.drafted, counts.accepted, counts.rounds or 0, *counts.per_position, 0) < 0


def broken_identities(counts: Acceptance) -> list[str]:
    """The identities among the counts themselves that do not hold, in words. All are exact: no statistics.

    A <= T; the A_i fall with i, sum to A, and A_0 <= D. That D <= T is no identity: a grammar may take drafts back after the
    round was counted.
    """
    if went_backwards(counts):
        return ["a counter went backwards: the server restarted, or the series was reset"]
    broken = []
    if counts.accepted > counts.drafted:
        broken.append(f"accepted {counts.accepted} > drafted {counts.drafted}")
    if counts.per_position:
        if sum(counts.per_position) != counts.accepted:
            broken.append(f"positions sum to {sum(counts.per_position)}, accepted is {counts.accepted}")
        if list(counts.per_position) != sorted(counts.per_position, reverse=True):
            broken.append(f"a later position was accepted more often than an earlier one: {list(counts.per_position)}")
        if counts.rounds is not None and counts.per_position[0] > counts.rounds:
            broken.append(f"position 0 accepted {counts.per_position[0]} times in {counts.rounds} rounds")
    if counts.rounds == 0 and counts.accepted:
        broken.append(f"{counts.accepted} drafts accepted in no round at all")
    return broken


def beyond_depth(counts: Acceptance, depth: int | None) -> str:
    """T <= D K, for a chain: in words where it does not hold, else nothing.

    `depth` comes from a flag or a page, so this says that the counts and the configuration do not belong together: another
    depth runs than the one that was read. The nodes of a tree may be more.
    """
    if depth is None or counts.tree or went_backwards(counts):
        return ""
    if counts.rounds is not None and counts.drafted > counts.rounds * depth:
        return f"{counts.drafted} drafts in {counts.rounds} rounds are more than the configured depth of {depth} allows"
    if any(counts.per_position[depth:]):
        return f"drafts beyond the configured depth of {depth} were accepted: {list(counts.per_position)}"
    return ""


def least_emitted(counts: Acceptance, *, requests: int, depth: int | None) -> int | None:
    """What the counts prove to have been emitted: N >= A + D - R K, None where K is not known or drafts form a tree.

    A round emits its accepted drafts and one token of its own. Tokens are cut only in the last round of a reply (at the end
    token or max_tokens), and then at most K of them. D counts for 0 where it is not told. Stop words are found later, after
    rounds that never show: asks with `stop` must not come here.
    """
    width = max(depth or 0, len(counts.per_position))
    if not width or counts.tree:
        return None
    return max(0, counts.accepted + (counts.rounds or 0) - requests * width)


def passes_broken(emitted: int, *, accepted: int, passes: int, requests: int, depth: int | None) -> str:
    """N = A + F, but for the prefill and for what is cut: A + F - R K <= N <= A + F + R. In words where it does not hold.

    The upper bound is R tokens wider since the first token of a reply comes from its prefill, which some engines count as a
    pass and others do not.
    """
    if emitted > accepted + passes + requests:
        return f"{emitted} tokens from {passes} passes with {accepted} accepted drafts and {requests} prefills"
    if depth is not None and emitted < accepted + passes - requests * depth:
        return f"{accepted} accepted drafts and {passes} passes gave only {emitted} tokens in {requests} replies"
    return ""


def length_of_steps(emitted: int, *, passes: int, requests: int) -> float | None:
    """(N - R) / F, tokens a verify step where nothing but tokens and steps is counted. The R first tokens come from prefill."""
    return max(0, emitted - requests) / passes if passes > 0 else None
