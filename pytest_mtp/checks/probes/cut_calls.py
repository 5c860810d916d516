"""A call that its budget cuts: the reply comes all the same, and says `length`.

A parser that meets half a call may fail the whole request, or sign it off as complete; an agent then repeats a request for ever, or
carries out half a command. The budget is half of what the server itself counted for the whole call, so that the probe needs no
particular tokenizer. What becomes of the half call (its fragments, its markup as text, nothing) is left to the server.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from pytest_mtp.checks.probes.probe import Probe, Sight, finding, unanswered
from pytest_mtp.checks.probes.saying import say, whole
from pytest_mtp.checks.probes.sent import SERVER_FAILED, Sent, declined, fault_finding
from pytest_mtp.checks.probes.tool_choice import tool
from pytest_mtp.core.case import Case
from pytest_mtp.core.exchange import Exchange
from pytest_mtp.core.record import Json

_MAX_TOKENS, _FEWEST = 128, 8
_PROMPT = "Call find for Paris"


def look(case: Case, sent: Sent) -> Sequence[Sight]:
    """The whole call first, then its first half in both modes. One at a time, so that the half is that of the same text."""
    ask = dataclasses.replace(
        say(_PROMPT, max_tokens=whole(case, "max_tokens", _MAX_TOKENS)), tools=(tool("find", "Look something up", "query"),)
    )
    complete = sent.alone(ask)
    if declined(complete):
        return [Sight(condition="the whole call", not_offered=declined(complete))]
    fault = fault_finding(complete)
    if fault is not None or complete.reply is None:
        return [Sight(condition="the whole call", findings=(fault,) if fault else (), culprit=complete)]
    count = complete.reply.usage.completion_tokens if complete.reply.usage else None
    if not complete.reply.tool_calls or complete.reply.text.strip():
        return [Sight(condition="the whole call", unreached="the model did not answer with a call alone")]
    if count is None or count < _FEWEST:
        return [Sight(condition="the whole call", unreached="the usage does not tell how many tokens the call takes")]
    half = dataclasses.replace(ask, sampling=dataclasses.replace(ask.sampling, max_tokens=count // 2))
    return [_sight(sent.alone(dataclasses.replace(half, stream=stream)), count) for stream in (False, True)]


def _sight(exchange: Exchange, count: int) -> Sight:
    condition = "cut, streamed" if exchange.ask.stream else "cut, unstreamed"
    budget = exchange.ask.sampling.max_tokens
    if exchange.fault is not None and exchange.fault.kind not in SERVER_FAILED:
        return unanswered(condition, exchange)
    if exchange.fault is not None:
        evidence = {"status": exchange.fault.status, "body": exchange.fault.body[:400], "max_tokens": budget, "whole_call_tokens": count}
        title = f"a call of {count} tokens that max_tokens {budget} cuts ends without a reply: {exchange.fault.message}"
        return Sight(condition=condition, findings=(finding("PROTO.no_reply", title, evidence=evidence),), culprit=exchange)
    reply = exchange.reply
    if reply is None or reply.finish_reason == "length":
        return Sight(condition=condition)
    came = reply.usage.completion_tokens if reply.usage else None
    if came is not None and budget is not None and came < budget:
        return Sight(condition=condition, unreached=f"the reply ended by itself after {came} tokens")
    told: dict[str, Json] = {
        "max_tokens": budget, "whole_call_tokens": count, "finish_reason": reply.finish_reason,
        "text": reply.text[:300], "calls": [f"{call.name}: {call.arguments[:200]}" for call in reply.tool_calls[:4]],
    }  # fmt: skip
    title = f"a call of {count} tokens that max_tokens {budget} cuts is said to end for the reason {reply.finish_reason!r}, not 'length'"
    return Sight(condition=condition, findings=(finding("PROTO.finish", title, evidence=told),), culprit=exchange)


PROBE = Probe(
    name="cut_calls",
    about="a call that max_tokens cuts ends with a reply that says length, streamed and not",
    requests=lambda _: 3,
    tokens=lambda case: 2 * whole(case, "max_tokens", _MAX_TOKENS),
    look=look,
    sees=("error-mapping", "finish-reason-oracle", "tool-args-valid"),
    alone=True,
)
