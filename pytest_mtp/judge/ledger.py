"""Our own requests against a server's counters: what they cost by their replies, what moved, and whose tokens moved it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from pytest_mtp.core.exchange import Exchange
from pytest_mtp.core.facts import Acceptance, Counters
from pytest_mtp.judge.acceptance import least_emitted, length_of_steps, passes_broken, summed, went_backwards


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """One stretch of our own requests.

    `requests` R were answered, `emitted` N are their tokens by usage, None where one reply does not tell. `sent_once` is False
    where one was repeated or not answered: the server may have worked on more than came back, so N is not known either, and
    nothing that the server counts is held against replies. `replies` are the counts of each reply, None where not offered.
    `moved` is the delta of the counters. `overlapped`: some ran at the same time. `depth` K as configured.
    """

    requests: int
    emitted: int | None
    replies: tuple[Acceptance | None, ...] = ()
    moved: Counters | None = None
    overlapped: bool = False
    depth: int | None = None
    sent_once: bool = True

    @property
    def restarted(self) -> bool:
        """A counter went backwards, so the delta says nothing."""
        if self.moved is None:
            return False
        numbers = [value for value in (self.moved.generated_tokens, self.moved.verify_steps) if value is not None]
        return min(numbers, default=0) < 0 or (self.moved.acceptance is not None and went_backwards(self.moved.acceptance))

    @property
    def surplus_tokens(self) -> int | None:
        """Generated tokens less those of our own replies: above 0 they are of others, below 0 the counters miss some of ours.

        None where one of the two is not known.
        """
        if self.moved is None or self.restarted or self.emitted is None or self.moved.generated_tokens is None:
            return None
        return self.moved.generated_tokens - self.emitted

    @property
    def partial(self) -> bool:
        """The counters miss tokens of ours, more than the first of each reply: others behind the same address answered too.

        What such counters saw is ours, what they did not see proves nothing.
        """
        return (self.surplus_tokens or 0) < -self.requests

    @property
    def foreign_tokens(self) -> int:
        """Tokens that others had generated meanwhile, as far as is known."""
        return max(0, self.surplus_tokens or 0)

    @property
    def foreign_drafts(self) -> int:
        """Drafts of others, where the server does not count generated tokens: beyond those that our own replies tell of.

        Where tokens are counted and all of them are ours, other draft counts are a contradiction, no traffic.
        """
        drafts, own = self._drafts, self._complete
        if drafts is None or own is None or self.surplus_tokens is not None or not self.sent_once:
            return 0
        return max(0, drafts.drafted - own.drafted)

    @property
    def impossible_tokens(self) -> int:
        """Tokens that the counters prove to have been emitted, beyond ours, where the server does not count tokens itself."""
        drafts = self._drafts
        if drafts is None or self.emitted is None or self.surplus_tokens is not None:
            return 0
        return max(0, (least_emitted(drafts, requests=self.requests, depth=self.depth) or 0) - self.emitted)

    @property
    def contaminated(self) -> bool:
        """Others used the server meanwhile: the counters cannot tell whose drafts they saw."""
        return bool(self.foreign_tokens or self.foreign_drafts or self.impossible_tokens)

    @property
    def own(self) -> Acceptance | None:
        """The sum over our replies, None where none tells or where each of them tells of a whole batch of ours.

        Batch-wide counts are left out as well where others had tokens generated, or where they prove more tokens than came.
        """
        told = summed(self.replies)
        if told is None or (told.batch_wide and (self.overlapped or self.foreign_tokens or self._batch_of_others(told))):
            return None
        return told

    @property
    def silent(self) -> int:
        """Replies without counts beside replies that have them."""
        return sum(part is None for part in self.replies) if any(part is not None for part in self.replies) else 0

    @property
    def counters(self) -> Acceptance | None:
        """The delta of the draft counters, where it is about our own requests.

        Counters that stood still tell of everybody's requests alike: then nobody's were drafted, ours included.
        """
        drafts = self._drafts
        return None if drafts is None or self._unusable(drafts.drafted) else drafts

    @property
    def counts(self) -> Acceptance | None:
        """What to believe: counters that moved, since they know rounds and positions; else our replies; else counters at rest."""
        counters = self.counters
        if counters is not None and counters.drafted:
            return counters
        return self.own or counters

    @property
    def passes(self) -> int | None:
        """F, where it is about our own requests."""
        if self.moved is None or self.restarted or self.moved.verify_steps is None:
            return None
        return None if self._unusable(self.moved.verify_steps) else self.moved.verify_steps

    @property
    def step_length(self) -> float | None:
        """Tokens a verify step from tokens and steps alone; None where either is not known or not ours."""
        if self.passes is None or self.emitted is None:
            return None
        return length_of_steps(self.emitted, passes=self.passes, requests=self.requests)

    @property
    def conflict(self) -> str:
        """Two sources that cannot both be right, by name; empty where they agree or one of them is missing."""
        counters, own = self.counters, self._complete
        if counters is None or own is None or self.partial or not self.sent_once:
            return ""
        if (counters.drafted, counters.accepted) == (own.drafted, own.accepted):
            return ""
        return (
            f"{counters.source or 'the counters'} moved by {counters.drafted} drafts with {counters.accepted} accepted, "
            f"{own.source or 'our replies'} tell of {own.drafted} and {own.accepted}"
        )

    @property
    def emission_broken(self) -> str:
        """Token counts and draft counts of one source that contradict each other, in words.

        Counters are held against the server's own count of tokens, since both miss the same where they miss something.
        """
        counts = self.counts
        if counts is None or not self.sent_once:
            return ""
        of_server = counts is self.counters and self.moved is not None and self.moved.generated_tokens is not None
        tokens = self.moved.generated_tokens if of_server and self.moved is not None else self.emitted
        if tokens is None:
            return ""
        least = least_emitted(counts, requests=self.requests, depth=self.depth)
        if least is not None and least > tokens:
            return f"{counts.accepted} accepted drafts in {counts.rounds or 'some'} rounds make at least {least} tokens, not {tokens}"
        if not of_server or self.passes is None or counts.tree:
            return ""
        depth = max(self.depth or 0, len(counts.per_position)) or None
        return passes_broken(tokens, accepted=counts.accepted, passes=self.passes, requests=self.requests, depth=depth)

    @property
    def _drafts(self) -> Acceptance | None:
        """The delta of the draft counters, whoever's they are."""
        return None if self.moved is None or self.restarted else self.moved.acceptance

    @property
    def _complete(self) -> Acceptance | None:
        """The sum over our replies where each of them tells."""
        return None if self.silent else self.own

    def _unusable(self, moved_by: int) -> bool:
        """Moved by others too, or at rest where others worked for us."""
        return self.contaminated if moved_by else self.partial

    def _batch_of_others(self, told: Acceptance) -> bool:
        least = least_emitted(told, requests=self.requests, depth=self.depth)
        return least is not None and self.emitted is not None and least > self.emitted


def ledger_of(
    exchanges: Sequence[Exchange], replies: Sequence[Acceptance | None], moved: Counters | None, *, depth: int | None
) -> Ledger:  # fmt: skip
    """`replies` are the counts of the answered exchanges, in order. `moved` is what the counters moved by during all of them."""
    answered = [exchange.reply for exchange in exchanges if exchange.reply is not None]
    tokens = [reply.usage.completion_tokens if reply.usage else None for reply in answered]
    sent_once = len(answered) == len(exchanges) and all(len(exchange.attempts) <= 1 for exchange in exchanges)
    return Ledger(
        requests=len(answered),
        emitted=sum(count or 0 for count in tokens) if sent_once and None not in tokens else None,
        replies=tuple(replies),
        moved=moved,
        overlapped=overlapped(exchanges),
        depth=depth,
        sent_once=sent_once,
    )


def overlapped(exchanges: Sequence[Exchange]) -> bool:
    """Whether one was sent before another had ended."""
    spans = sorted((line.sent_ns, line.done_ns) for line in (exchange.timeline for exchange in exchanges) if line.done_ns is not None)
    return any(after[0] < before[1] for before, after in pairwise(spans))
