"""The max_tokens ladder: a budget is never exceeded, and a reply that says `length` has spent it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from pytest_mtp.checks.probes.probe import Probe, Sight, finding, unanswered
from pytest_mtp.checks.probes.sent import Sent
from pytest_mtp.core.ask import Ask, Sampling
from pytest_mtp.core.case import Case
from pytest_mtp.core.exchange import Exchange

RUNGS = (1, 2, 3, 5, 8, 17)
"""Around the usual draft depths: a step that accepts several drafts is what overruns a budget."""

_PROMPT = "Count from one to one hundred in words, separated by commas."


def look(case: Case, sent: Sent) -> Sequence[Sight]:
    """Each rung streamed and not."""
    rungs = cast("Sequence[int]", case.params.get("rungs", RUNGS))
    asks = [_ask(rung, stream=stream) for rung in rungs for stream in (False, True)]
    exchanges = sent.many(asks)
    return [*(_sight(exchange) for exchange in exchanges), *_never_length(exchanges)]


def _never_length(exchanges: Sequence[Exchange]) -> list[Sight]:
    """`stop` exactly at a budget is a coincidence that happens; at every rung of a mode it is none."""
    found = []
    for stream in (False, True):
        rungs = [exchange for exchange in exchanges if exchange.ask.stream == stream]
        full = [exchange for exchange in rungs if exchange.reply and _count(exchange) == exchange.ask.sampling.max_tokens]
        if len(full) < max(3, len(rungs)) or any(exchange.reply.finish_reason != "stop" for exchange in full if exchange.reply):
            continue
        title = f"each of {len(full)} replies that their budgets cut says stop, where length was due"
        condition = "streamed" if stream else "unstreamed"
        found.append(Sight(condition=condition, findings=(finding("PROTO.finish", title),), culprit=full[-1]))
    return found


def _count(exchange: Exchange) -> int | None:
    reply = exchange.reply
    return None if reply is None else len(reply.token_ids) or (reply.usage.completion_tokens if reply.usage else None)


def _ask(rung: int, *, stream: bool) -> Ask:
    return Ask(messages=({"role": "user", "content": _PROMPT},), sampling=Sampling(temperature=0.0, max_tokens=rung), stream=stream)


def _sight(exchange: Exchange) -> Sight:
    condition = "streamed" if exchange.ask.stream else "unstreamed"
    if exchange.reply is None:
        return unanswered(condition, exchange)
    reply, budget = exchange.reply, exchange.ask.sampling.max_tokens or 0
    counted = len(reply.token_ids) or (reply.usage.completion_tokens if reply.usage else None)
    if counted is None:
        return Sight(condition=condition, unreached="neither token ids nor usage tell how many tokens came")
    where = f"max_tokens {budget}, {condition}"
    evidence = {"max_tokens": budget, "tokens": counted, "finish_reason": reply.finish_reason, "text": reply.text[:200]}
    if counted > budget:
        title = f"{counted} tokens came for max_tokens {budget}"
        return Sight(condition=condition, findings=(finding("PROTO.budget", title, where=where, evidence=evidence),), culprit=exchange)
    if reply.finish_reason == "length" and counted < budget:
        title = f"finish reason length after {counted} of {budget} tokens"
        return Sight(condition=condition, findings=(finding("PROTO.budget", title, where=where, evidence=evidence),), culprit=exchange)
    return Sight(condition=condition)


PROBE = Probe(
    name="budgets",
    about="max_tokens 1, 2, 3, 5, 8, 17: never exceeded, and spent where the reply says so",
    requests=lambda case: 2 * len(cast("Sequence[int]", case.params.get("rungs", RUNGS))),
    tokens=lambda case: 2 * sum(cast("Sequence[int]", case.params.get("rungs", RUNGS))),
    look=look,
    sees=("token-budget-ladder",),
)
