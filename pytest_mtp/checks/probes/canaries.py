"""Concurrency with canaries: no request carries another's words, and an answer in a crowd is the answer alone.

Each request holds a nonce that no other has. A nonce of another in a reply is proof of a mix-up, whatever the model is worth. A text
that changes in a crowd is not: kernels round otherwise in another batch, so it is told as a note with its rate.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from pytest_mtp.checks.probes.probe import Probe, Sight, finding
from pytest_mtp.checks.probes.saying import say, secret_word, whole
from pytest_mtp.checks.probes.sent import Sent, fault_finding
from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import Case
from pytest_mtp.core.exchange import Exchange

_WIDTH, _ROUNDS, _MAX_TOKENS = 8, 2, 32
_CONDITION = "in a crowd"


def look(case: Case, sent: Sent) -> Sequence[Sight]:
    """Each ask once alone, then all together, in several rounds; streamed and not, long and short mixed."""
    budget = whole(case, "max_tokens", _MAX_TOKENS)
    asks = [_ask(place, budget) for place in range(whole(case, "width", _WIDTH))]
    solo = [sent.ask(ask) for ask in asks]
    crowds = [sent.many(asks) for _ in range(whole(case, "rounds", _ROUNDS))]
    nonces = [secret_word(place) for place in range(len(asks))]
    sights = [_sight(place, exchange, nonces) for exchanges in (solo, *crowds) for place, exchange in enumerate(exchanges)]
    changed = sum(_text(one) != _text(other) for crowd in crowds for one, other in zip(solo, crowd, strict=True))
    if changed and all(not sight.findings for sight in sights):
        title = f"{changed} of {len(asks) * len(crowds)} answers in a crowd differ from the answer alone"
        sights[-1] = dataclasses.replace(sights[-1], findings=(finding("CTRL.load", title),))
    return sights


def _ask(place: int, budget: int) -> Ask:
    long = "" if place % 2 else "Here is some background that you may ignore. " * 20
    words = f"{long}The secret word is {secret_word(place)}. Repeat the secret word, then write one sentence about the number {place}."
    return say(words, max_tokens=budget if place % 3 else max(4, budget // 4), stream=bool(place % 2))


def _sight(place: int, exchange: Exchange, nonces: Sequence[str]) -> Sight:
    fault = fault_finding(exchange)
    if fault is not None:
        return Sight(condition=_CONDITION, findings=(fault,), culprit=exchange)
    text = _text(exchange)
    stranger = next((nonce for other, nonce in enumerate(nonces) if other != place and nonce in text), None)
    if stranger is None:
        return Sight(condition=_CONDITION)
    title = f"the reply to the request with {nonces[place]} holds {stranger}, the secret word of another request"
    evidence = {"own": nonces[place], "foreign": stranger, "text": text[:400]}
    return Sight(condition=_CONDITION, findings=(finding("PROTO.crossed", title, evidence=evidence),), culprit=exchange)


def _text(exchange: Exchange) -> str:
    return f"{exchange.reply.reasoning or ''}\0{exchange.reply.text}" if exchange.reply else ""


PROBE = Probe(
    name="canaries",
    about="many requests at once: no reply holds the words of another request",
    requests=lambda case: whole(case, "width", _WIDTH) * (1 + whole(case, "rounds", _ROUNDS)),
    tokens=lambda case: whole(case, "width", _WIDTH) * (1 + whole(case, "rounds", _ROUNDS)) * whole(case, "max_tokens", _MAX_TOKENS),
    look=look,
    sees=("concurrency-parity",),
)
