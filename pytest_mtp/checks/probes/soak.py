"""A soak: mixed load for a number of requests or of minutes, and a real request after each round that says whether the server lives.

Each round is the same crowd: long and short prompts, streamed and not, sampled and greedy, with tools and with a schema, each with a
secret word of its own. What is looked for shows only with time: errors that nothing explains, words of other requests, acceptance that
decays from the first rounds to the last, places that never become free.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_mtp.checks.probes.probe import Probe, Sight, finding
from pytest_mtp.checks.probes.saying import say, secret_word, whole
from pytest_mtp.checks.probes.sent import Sent, declined, fault_finding
from pytest_mtp.checks.probes.tool_choice import TOOLS
from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import Case
from pytest_mtp.core.exchange import Exchange
from pytest_mtp.core.facts import Acceptance, Counters
from pytest_mtp.core.record import Json

_REQUESTS, _WIDTH, _MAX_TOKENS = 160, 8, 24
_A_MINUTE = 60
"""Requests: what a minute may cost, for budgets. A fast server takes more."""

_LOAD, _HEALTH, _DRAFTS, _PLACES = "the load", "health", "acceptance over time", "their places are free again"
_LOST = 0.5
"""As in load_poison: the same prompts at less than half of the acceptance that they had."""

_FEWEST_DRAFTS = 64
_SETTLE_S, _POLL_S = 20.0, 0.25
_SCHEMA: dict[str, Json] = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"], "additionalProperties": False}


@dataclass(slots=True, kw_only=True)
class _Spent:
    """Where the soak stands: requests sent, its begin, and what was drafted in each round."""

    begun: float
    requests: int = 0
    drafts: list[Acceptance] = dataclasses.field(default_factory=list)


def look(case: Case, sent: Sent) -> Sequence[Sight]:
    """Rounds until the requests are spent or the minutes are over; it ends at once where the server no longer answers."""
    width, budget = whole(case, "width", _WIDTH), whole(case, "max_tokens", _MAX_TOKENS)
    most, minutes = _limits(case)
    crowd = [_ask(place, budget) for place in range(width)]
    spent, sights = _Spent(begun=time.monotonic()), list[Sight]()
    while spent.requests < most and time.monotonic() - spent.begun < 60 * minutes:
        before = sent.engine.counters(sent.client)
        exchanges = sent.burst(crowd)
        spent.requests += width + 1
        sights += [_sight(place, exchange, width) for place, exchange in enumerate(exchanges)]
        _drafted(spent, before, sent.engine.counters(sent.client))
        health = sent.alone(say("Say hello.", max_tokens=1))
        sights.append(_healthy(health, spent))
        if health.reply is None:
            return sights
        sent.progress(f"soak, {spent.requests} requests in {time.monotonic() - spent.begun:.0f} s")
    return [*sights, _kept(spent.drafts), _freed(sent)]


def _limits(case: Case) -> tuple[int, float]:
    """Requests and minutes; whichever comes first ends it, and the one that is not named never does."""
    minutes = case.params.get("minutes")
    if not isinstance(minutes, int | float):
        return whole(case, "requests", _REQUESTS), float("inf")
    return whole(case, "requests", 10**9), float(minutes)


def _ask(place: int, budget: int) -> Ask:
    padding = "Here is some background that you may ignore. " * (30 if place % 4 == 0 else 1)
    words = f"{padding}The secret word is {secret_word(place)}. Repeat it, then write one sentence about the number {place}."
    plain = say(words, max_tokens=budget * (2 if place % 4 == 1 else 1), stream=bool(place % 2))
    if place % 4 == 2:
        plain = dataclasses.replace(plain, sampling=dataclasses.replace(plain.sampling, temperature=0.8, seed=place))
    if place % 8 == 3:
        return dataclasses.replace(plain, tools=TOOLS)
    if place % 8 == 7:
        form: dict[str, Json] = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": _SCHEMA}}
        return dataclasses.replace(plain, response_format=form)
    return plain


def _sight(place: int, exchange: Exchange, width: int) -> Sight:
    fault = exchange.fault
    if fault is not None and (fault.kind == "busy" or declined(exchange)):
        return Sight(condition=_LOAD, unreached=declined(exchange) or f"busy: {fault.message[:120]}")
    if fault is not None:
        title = f"under mixed load a lawful request ended in: {fault.message}"
        evidence = {"kind": fault.kind, "status": fault.status, "body": fault.body[:300]}
        return Sight(condition=_LOAD, findings=(finding("PROTO.overload", title, evidence=evidence),), culprit=exchange)
    text = f"{exchange.reply.reasoning or ''}\0{exchange.reply.text}" if exchange.reply else ""
    strangers = (secret_word(other) for other in range(width) if other != place)
    stranger = next((word for word in strangers if word in text), None)
    if stranger is None:
        return Sight(condition=_LOAD)
    title = f"the reply to the request with {secret_word(place)} holds {stranger}, the secret word of another request"
    evidence = {"own": secret_word(place), "foreign": stranger, "text": text[:400]}
    return Sight(condition=_LOAD, findings=(finding("PROTO.crossed", title, evidence=evidence),), culprit=exchange)


def _healthy(exchange: Exchange, spent: _Spent) -> Sight:
    if exchange.reply is not None:
        return Sight(condition=_HEALTH)
    fault = fault_finding(exchange)
    title = f"after {spent.requests} requests one token is not to be had any more: {fault.title if fault else ''}"
    evidence = fault.evidence if fault else {}
    return Sight(condition=_HEALTH, findings=(finding("PROTO.overload", title, evidence=evidence),), culprit=exchange)


def _drafted(spent: _Spent, before: Counters | None, after: Counters | None) -> None:
    moved = after.since(before).acceptance if after and before else None
    if moved is not None and moved.drafted:
        spent.drafts.append(moved)


def _kept(rounds: Sequence[Acceptance]) -> Sight:
    """The first quarter of the rounds against the last. The crowd is the same each time, so that the rates are of one mix."""
    part = max(1, len(rounds) // 4)
    first, last = (_rate(group) for group in (rounds[:part], rounds[len(rounds) - part :]))
    if len(rounds) < 2 or sum(each.drafted or 0 for each in rounds[:part]) < _FEWEST_DRAFTS:
        return Sight(condition=_DRAFTS, not_offered="no counters of drafts that move, or too few drafts")
    if first == 0 or last >= _LOST * first:
        return Sight(condition=_DRAFTS)
    title = f"acceptance of the same crowd falls from {first:.0%} in the first rounds to {last:.0%} in the last"
    rates = [round(_rate([each]), 4) for each in rounds[:: max(1, len(rounds) // 40)]]
    return Sight(condition=_DRAFTS, findings=(finding("SPEC.decay", title, evidence={"rates": rates, "rounds": len(rounds)}),))


def _rate(rounds: Sequence[Acceptance]) -> float:
    drafted = sum(each.drafted or 0 for each in rounds)
    return sum(each.accepted or 0 for each in rounds) / drafted if drafted else 0.0


def _freed(sent: Sent) -> Sight:
    """Nobody asks any more, so nothing may run and nothing wait."""
    deadline = time.monotonic() + _SETTLE_S
    load = sent.engine.load(sent.client)
    if load is None or load.running is None:
        return Sight(condition=_PLACES, not_offered="the server has no gauge of running requests")
    while load is not None and (load.running or load.waiting) and time.monotonic() < deadline:
        time.sleep(_POLL_S)
        load = sent.engine.load(sent.client)
    if load is None or not (load.running or load.waiting):
        return Sight(condition=_PLACES)
    title = f"{load.running} requests run and {load.waiting or 0} wait {_SETTLE_S:g} s after the last reply"
    return Sight(condition=_PLACES, findings=(finding("PROTO.disconnect", title, evidence=load.to_dict()),))


def _planned(case: Case) -> int:
    """The last round is finished, and each has its request for health."""
    a_round = whole(case, "width", _WIDTH) + 1
    minutes = case.params.get("minutes")
    if isinstance(minutes, int | float):
        wanted = min(int(minutes * _A_MINUTE) + 1, whole(case, "requests", 10**9))
    else:
        wanted = whole(case, "requests", _REQUESTS)
    return -(-wanted // a_round) * a_round


PROBE = Probe(
    name="soak",
    about="mixed load for a number of requests or minutes: no unexplained error, nothing crossed, acceptance and places as before",
    requests=_planned,
    tokens=lambda case: _planned(case) * 2 * whole(case, "max_tokens", _MAX_TOKENS),
    look=look,
    sees=("soak-liveness", "acceptance-trend", "concurrency-parity"),
    alone=True,
)
