"""Sampling options: obeyed or refused, never ignored in silence.

Each option is held against what it must do to any model: a seed repeats, a high temperature without a seed varies, top_k 1 is
greedy, a banned token does not come. What needs more than the server offers (token ids for a ban) is not reached, and said so.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from pytest_mtp.checks.probes.probe import Probe, Sight, finding, unanswered
from pytest_mtp.checks.probes.saying import COUNT, STORY, say, whole
from pytest_mtp.checks.probes.sent import SERVER_FAILED, Sent, declined
from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import Case
from pytest_mtp.core.exchange import Exchange
from pytest_mtp.core.record import Json

_MAX_TOKENS, _SAMPLES = 12, 6
_LIST_TOKENS, _COMMAS = 64, 10
_HOT = 1.5
"""At this temperature twelve tokens of a story come out alike by chance less often than once in a million runs, unless the model
is certain of every word; six equal samples are therefore told as a note, and nothing more."""

_PLAIN = "greedy"
_UNSTEADY = "the greedy answer itself differs from request to request"


def look(case: Case, sent: Sent) -> Sequence[Sight]:
    """One request at a time, so that no batch changes what a seed gives."""
    budget = whole(case, "max_tokens", _MAX_TOKENS)
    greedy = say(STORY, max_tokens=budget)
    base = [sent.alone(greedy), sent.alone(greedy)]
    if any(exchange.reply is None for exchange in base):
        return [_missing(_PLAIN, next(exchange for exchange in base if exchange.reply is None))]
    steady = _text(base[0]) == _text(base[1])
    looks: tuple[Callable[[], Sight], ...] = (
        lambda: _seed(sent, budget, steady=steady),
        lambda: _varies(sent, budget),
        *(partial(_as_greedy, sent, name, _hot(greedy, **option), base[0], steady=steady) for name, option in _GREEDY.items()),
        lambda: _penalty(sent),
        lambda: _ban(sent, greedy, base[0], steady=steady),
    )
    sights: list[Sight] = []
    for option in looks:
        sights.append(option())
        if any(found.code == "PROTO.no_reply" for found in sights[-1].findings) and sent.alone(greedy).reply is None:
            break  # the server died of this option: the others are not to blame
    return sights


_GREEDY: Mapping[str, Mapping[str, Json]] = {
    "top_k 1 is greedy": {"top_k": 1},
    "top_p 0.000001 is greedy": {"top_p": 1e-6},
    "min_p 1 is greedy": {"min_p": 1.0},
}
_OPTIONS = len(_GREEDY)


def _hot(greedy: Ask, **options: Json) -> Ask:
    return dataclasses.replace(
        greedy, sampling=type(greedy.sampling).from_dict({**greedy.sampling.to_dict(), "temperature": _HOT, **options})
    )


def _seed(sent: Sent, budget: int, *, steady: bool) -> Sight:
    """A server whose greedy answers differ has another fault than an ignored seed, which is told elsewhere."""
    condition = "a seed repeats"
    ask = say(STORY, max_tokens=budget, temperature=1.0, seed=11)
    exchanges = [sent.alone(ask) for _ in range(3)]
    if not steady:
        return _refused(condition, exchanges) or Sight(condition=condition, unreached=_UNSTEADY)
    return _refused(condition, exchanges) or _ignored(
        condition, exchanges, len({_text(exchange) for exchange in exchanges}) > 1, "seed 11 gave different texts: the seed is ignored"
    )


def _varies(sent: Sent, budget: int) -> Sight:
    condition = "temperature varies"
    ask = say(STORY, max_tokens=budget, temperature=_HOT)
    exchanges = [sent.alone(ask) for _ in range(_SAMPLES)]
    same = len({_text(exchange) for exchange in exchanges}) == 1
    return _refused(condition, exchanges) or _ignored(
        condition,
        exchanges,
        same,
        f"{_SAMPLES} samples at temperature {_HOT} without a seed are alike: the temperature is ignored, or the seed is fixed",
    )


def _as_greedy(sent: Sent, condition: str, ask: Ask, base: Exchange, *, steady: bool) -> Sight:
    exchanges = [sent.alone(ask) for _ in range(2)]
    if not steady:
        return _refused(condition, exchanges) or Sight(condition=condition, unreached=_UNSTEADY)
    other = next((exchange for exchange in exchanges if _text(exchange) != _text(base)), None)
    return _refused(condition, exchanges) or _ignored(
        condition, exchanges, other is not None, f"{condition}: a text other than the greedy one came"
    )


def _penalty(sent: Sent) -> Sight:
    """Dozens of commas: at the greatest penalty that the API allows no model goes on to choose them."""
    condition = "frequency_penalty 2 changes a list"
    plain = say(COUNT, max_tokens=_LIST_TOKENS)
    penalised = dataclasses.replace(plain, sampling=dataclasses.replace(plain.sampling, frequency_penalty=2.0))
    exchanges = [sent.alone(plain), sent.alone(penalised)]
    missing = _refused(condition, exchanges)
    if missing is not None:
        return missing
    same = _text(exchanges[0]) == _text(exchanges[1])
    if same and _text(exchanges[0]).count(",") < _COMMAS:
        return Sight(condition=condition, unreached=f"the list has fewer than {_COMMAS} commas")
    return _ignored(condition, exchanges, same, "the same list comes with frequency_penalty 2 and without")


def _ban(sent: Sent, greedy: Ask, base: Exchange, *, steady: bool) -> Sight:
    condition = "logit_bias bans a token"
    told = sent.alone(dataclasses.replace(sent.engine.instrumented(greedy), top_logprobs=1))
    reply = told.reply
    ids = reply.token_ids or tuple(entry.token_id for entry in reply.logprobs if entry.token_id is not None) if reply else ()
    if not ids:
        return Sight(condition=condition, not_offered="the server tells no token ids")
    banned = ids[0]
    ask = dataclasses.replace(greedy, sampling=dataclasses.replace(greedy.sampling, logit_bias={str(banned): -100.0}))
    exchange = sent.alone(ask)
    if not steady:
        return _refused(condition, [exchange]) or Sight(condition=condition, unreached=_UNSTEADY)
    same = _text(exchange) == _text(base)
    return _refused(condition, [exchange]) or _ignored(
        condition, [exchange], same, f"the first token ({banned}) was banned with logit_bias -100, and the text is the same"
    )


def _ignored(condition: str, exchanges: Sequence[Exchange], ignored: bool, title: str) -> Sight:  # noqa: FBT001 (one sentence with its condition)
    if not ignored:
        return Sight(condition=condition)
    evidence = {"texts": [_text(exchange)[:120] for exchange in exchanges], "sampling": exchanges[0].ask.sampling.body()}
    return Sight(condition=condition, findings=(finding("PROTO.param", title, evidence=evidence),), culprit=exchanges[0])


def _refused(condition: str, exchanges: Sequence[Exchange]) -> Sight | None:
    """A refusal is honest; any other missing answer is not."""
    missing = next((exchange for exchange in exchanges if exchange.reply is None), None)
    return None if missing is None else _missing(condition, missing)


def _missing(condition: str, exchange: Exchange) -> Sight:
    if declined(exchange):
        return Sight(condition=condition, not_offered=declined(exchange))
    if exchange.fault is not None and exchange.fault.kind in SERVER_FAILED and condition != _PLAIN:
        title = f"with this option the request ends without a reply: {exchange.fault.message}"
        evidence = {"sampling": exchange.ask.sampling.body(), "status": exchange.fault.status, "body": exchange.fault.body[:300]}
        return Sight(condition=condition, findings=(finding("PROTO.no_reply", title, evidence=evidence),), culprit=exchange)
    return unanswered(condition, exchange)


def _text(exchange: Exchange) -> str:
    return f"{exchange.reply.reasoning or ''}{exchange.reply.text}" if exchange.reply else ""


PROBE = Probe(
    name="sampling",
    about="seed, temperature, top_k, top_p, min_p, frequency_penalty and logit_bias: obeyed or refused, never ignored in silence",
    requests=lambda _: 2 + 3 + _SAMPLES + 2 * _OPTIONS + 4,
    tokens=lambda case: (2 + 3 + _SAMPLES + 2 * _OPTIONS + 2) * whole(case, "max_tokens", _MAX_TOKENS) + 2 * _LIST_TOKENS,
    look=look,
    sees=("sampling-effect",),
    alone=True,
)
