"""Log-probabilities that can be believed: as many as tokens, never above 0, the greedy token on top, and not all empty.

A server that offers none is not accused. One that sends 0.0 with an empty list, as some do for every token that left a verify
step of speculation, claims a certainty that it does not have; that is told apart from values that contradict each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from pytest_mtp.checks.probes.probe import Probe, Sight, finding, unanswered
from pytest_mtp.checks.probes.saying import COUNT, STORY, say, whole
from pytest_mtp.checks.probes.sent import Sent, declined
from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import Case
from pytest_mtp.core.exchange import Exchange
from pytest_mtp.core.reply import Reply, TokenLogprob
from pytest_mtp.core.verdict import Finding

_MAX_TOKENS, _TOP = 24, 3
_SLACK_NATS = 0.01
"""Rounding on the wire: some servers print four digits."""

_TIE_NATS = 0.1
"""A token this close below the top may win by the order of additions in another kernel."""


def look(case: Case, sent: Sent) -> Sequence[Sight]:
    """Two greedy answers, unstreamed: several servers send none in streams."""
    budget = whole(case, "max_tokens", _MAX_TOKENS)
    asks = {name: _with_logprobs(say(prompt, max_tokens=budget)) for name, prompt in (("counting", COUNT), ("prose", STORY))}
    exchanges = sent.many(list(asks.values()))
    return [_sight(name, exchange) for name, exchange in zip(asks, exchanges, strict=True)]


def _with_logprobs(ask: Ask) -> Ask:
    return Ask.from_dict({**ask.to_dict(), "top_logprobs": _TOP})


def _sight(condition: str, exchange: Exchange) -> Sight:
    if declined(exchange):
        return Sight(condition=condition, not_offered=declined(exchange))
    if exchange.reply is None:
        return unanswered(condition, exchange)
    entries = exchange.reply.logprobs
    if not entries:
        return Sight(condition=condition, not_offered="the reply carries no log-probabilities")
    counted = _due(exchange.reply)
    found = [each for each in (_contradiction(entries), _hollow(entries), _length(entries, counted)) if each]
    return Sight(condition=condition, findings=tuple(found), culprit=exchange if found else None)


def hollow(entry: TokenLogprob) -> bool:
    """0.0 without alternatives where alternatives were asked for: absence written as certainty."""
    return entry.logprob == 0.0 and not entry.top


def _hollow(entries: Sequence[TokenLogprob]) -> Finding | None:
    empty = [index for index, entry in enumerate(entries) if hollow(entry)]
    if not empty:
        return None
    title = f"{len(empty)} of {len(entries)} tokens have logprob 0.0 and no alternatives, which is absence written as certainty"
    evidence = {"positions": empty[:20], "tokens": [entries[index].token for index in empty[:8]]}
    return finding("PROTO.logprobs_hollow", title, evidence=evidence)


def _contradiction(entries: Sequence[TokenLogprob]) -> Finding | None:
    """The first value that no distribution has."""
    for index, entry in enumerate(entries):
        wrong = _wrong(entry)
        if wrong:
            evidence = {"position": index, "entry": entry.to_dict()}
            return finding("PROTO.logprobs", f"token {index}, {entry.token!r}: {wrong}", evidence=evidence)
    return None


def _wrong(entry: TokenLogprob) -> str:
    values = [value for value in (entry.logprob, *(top.logprob for top in entry.top)) if value is not None]
    if any(math.isnan(value) or value > _SLACK_NATS for value in values):
        return f"a log-probability of {max(values):g} is above 0"
    known = {top.token: top.logprob for top in entry.top if top.logprob is not None}
    if sum(math.exp(value) for value in known.values()) > 1 + len(known) * _SLACK_NATS:
        return f"the alternatives add up to a probability of {sum(math.exp(value) for value in known.values()):.3f}"
    best = max(known.values(), default=None)
    if best is not None and entry.logprob is not None and entry.logprob < best - _TIE_NATS:
        return f"chosen at temperature 0 with {entry.logprob:.3f} nats, while another has {best:.3f}"
    return ""


def _due(reply: Reply) -> int | None:
    """Tokens that should have an entry. The API asks for those of the answer: tokens of reasoning may or may not have one."""
    if reply.usage is None or reply.reasoning or reply.usage.reasoning_tokens:
        return None
    return reply.usage.completion_tokens


def _length(entries: Sequence[TokenLogprob], counted: int | None) -> Finding | None:
    """One entry a token; the end of the turn may or may not have one."""
    if counted is None or len(entries) in (counted, counted - 1):
        return None
    title = f"{len(entries)} log-probabilities for {counted} completion tokens"
    return finding("PROTO.logprobs", title, evidence={"entries": len(entries), "completion_tokens": counted})


PROBE = Probe(
    name="logprobs",
    about="log-probabilities: one a token, none above 0, the greedy token on top, none empty",
    requests=lambda _: 2,
    tokens=lambda case: 2 * whole(case, "max_tokens", _MAX_TOKENS),
    look=look,
    sees=("logprob-sanity",),
)
