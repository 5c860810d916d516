"""Prefix cache, A-B-A: what was said cold is said again warm, and it is proven that the cache was hit.

One trial is one prefix that the server has never seen: A cold, A again, B after the same prefix, A once more. Only a hit that the
server itself reports (cached tokens in the reply, or its counters) makes the warm answers mean anything. A warm answer that
differs is not yet a fault, since a prompt that is computed in other pieces rounds otherwise: the log-probability that the server
gives to its own first token tells corruption from rounding. Where there is none, only a majority of all trials is told.
"""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_mtp.checks.probes.probe import Probe, Sight, finding, unanswered
from pytest_mtp.checks.probes.saying import say, whole
from pytest_mtp.checks.probes.sent import Sent
from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import Case
from pytest_mtp.core.exchange import Exchange

_PREFIXES, _WORDS, _MAX_TOKENS = 3, 240, 17
_CONDITION = "a warm prefix"

MATERIAL_NATS = 0.5
"""How far the log-probability of the same token may move between two computations of one prompt before rounding is no excuse. bf16
servers move it by some hundredths; the tolerance that engines use in their own tests of it is 0.5."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One prefix: A cold, then A warm, B, and A again."""

    cold: Exchange
    warm: tuple[Exchange, ...]
    hit: bool

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """All of them."""
        return (self.cold, *self.warm)

    @property
    def changed(self) -> bool:
        """A warm answer is not the cold one."""
        return any(_text(exchange) != _text(self.cold) for exchange in self.warm)

    @property
    def moved_nats(self) -> float | None:
        """The largest move of the first token's log-probability; None where it is not told, or where another token came."""
        first = _first(self.cold)
        moves = [
            abs(value - first[1])
            for other in self.warm
            if first and (told := _first(other)) and told[0] == first[0]
            for value in (told[1],)
        ]
        return max(moves, default=None)


def look(case: Case, sent: Sent) -> Sequence[Sight]:
    """One request at a time, so that nobody else evicts the prefix."""
    rounds = [
        _round(sent, whole(case, "words", _WORDS), whole(case, "max_tokens", _MAX_TOKENS))
        for _ in range(whole(case, "prefixes", _PREFIXES))
    ]
    missing = next((exchange for each in rounds for exchange in each.exchanges if exchange.reply is None), None)
    if missing is not None:
        return [unanswered(_CONDITION, missing)]
    hits = [each for each in rounds if each.hit]
    if not hits:
        if any(_cached(exchange) is not None for each in rounds for exchange in each.exchanges):
            return [Sight(condition=_CONDITION, unreached="the server reports no cache hit")]
        return [Sight(condition=_CONDITION, not_offered="the server does not tell how many prompt tokens came from its cache")]
    return [_sight(each, hits) for each in hits]


def _round(sent: Sent, words: int, budget: int) -> Round:
    prefix = _prefix(words)
    a, b = (_asked(sent, prefix, question, budget) for question in ("Which number was named first?", "Which number was named last?"))
    before = sent.engine.counters(sent.client)
    cold, warm, _, again = sent.alone(a), sent.alone(a), sent.alone(b), sent.alone(a)
    after = sent.engine.counters(sent.client)
    counted = after.since(before).cached_tokens if after and before else None
    return Round(cold=cold, warm=(warm, again), hit=bool(counted) or any(_cached(exchange) for exchange in (warm, again)))


def _cached(exchange: Exchange) -> int | None:
    return exchange.reply.usage.cached_tokens if exchange.reply and exchange.reply.usage else None


def _prefix(words: int) -> str:
    """Numbers behind a salt that stands first, so that no run before this one has warmed it."""
    numbers = ", ".join(str(secrets.randbelow(900) + 100) for _ in range(words // 4))
    return f"List {secrets.token_hex(8)} of numbers: {numbers}."


def _asked(sent: Sent, prefix: str, question: str, budget: int) -> Ask:
    ask = sent.engine.instrumented(say(f"{prefix}\n{question}", max_tokens=budget))
    return dataclasses.replace(ask, top_logprobs=1) if sent.facts.capabilities.logprobs else ask


def _sight(each: Round, hits: Sequence[Round]) -> Sight:
    moved = each.moved_nats
    changed = sum(one.changed for one in hits)
    evidence = {
        "cold": _text(each.cold)[:200],
        "warm": [_text(exchange)[:200] for exchange in each.warm],
        "first_token_moved_nats": moved,
        "changed": f"{changed} of {len(hits)} prefixes",
    }
    if moved is not None and moved > MATERIAL_NATS:
        title = f"with a cache hit the log-probability of the same first token moves by {moved:.2f} nats"
        return Sight(condition=_CONDITION, findings=(finding("CTRL.cache", title, evidence=evidence),), culprit=each.warm[-1])
    if not each.changed:
        return Sight(condition=_CONDITION)
    if moved is None and 2 * changed > len(hits) > 2:
        title = f"with a cache hit the answers to {changed} of {len(hits)} prompts are others than without"
        return Sight(condition=_CONDITION, findings=(finding("CTRL.cache", title, evidence=evidence),), culprit=each.warm[-1])
    title = "with a cache hit the answer changes, within what rounding explains"
    return Sight(condition=_CONDITION, findings=(finding("CTRL.cache", title, evidence=evidence, severity="note"),))


def _first(exchange: Exchange) -> tuple[str, float] | None:
    """The first token with its log-probability, where one was told with an alternative beside it."""
    entry = exchange.reply.logprobs[0] if exchange.reply and exchange.reply.logprobs else None
    return (entry.token, entry.logprob) if entry is not None and entry.logprob is not None and entry.top else None


def _text(exchange: Exchange) -> str:
    return f"{exchange.reply.reasoning or ''}{exchange.reply.text}" if exchange.reply else ""


PROBE = Probe(
    name="prefix_cache",
    about="A, A, B, A behind one long prefix: warm answers are the cold ones, and hits are proven",
    requests=lambda case: 4 * whole(case, "prefixes", _PREFIXES),
    tokens=lambda case: 4 * whole(case, "prefixes", _PREFIXES) * whole(case, "max_tokens", _MAX_TOKENS),
    look=look,
    sees=("prefix-cache-replay",),
    alone=True,
)
