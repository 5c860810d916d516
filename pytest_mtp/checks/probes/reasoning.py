"""Reasoning and answer stay apart: no tag in either, no answer inside the reasoning alone.

Streamed and not, with tools and without, under a forced choice and after the result of a tool.
A model that does not reason is not asked for more: the condition is not reached, and said so.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from pytest_mtp.checks.probes.probe import Probe, Sight, finding, unanswered
from pytest_mtp.checks.probes.saying import say, whole
from pytest_mtp.checks.probes.sent import Sent, declined
from pytest_mtp.checks.probes.tool_choice import TOOLS
from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import Case
from pytest_mtp.core.exchange import Exchange
from pytest_mtp.core.record import Json
from pytest_mtp.judge.judgement import GradeContext
from pytest_mtp.judge.pipeline import judge, view_of

_MAX_TOKENS = 768
_FORCED = "a forced call"
_RESULT: tuple[Mapping[str, Json], ...] = (
    {"role": "user", "content": "Call get_time, then tell me the time."},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "get_time", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "call_1", "content": "12:30"},
)
_CODES = frozenset({"PROTO.reasoning", "GEN.think_unclosed"})


def look(case: Case, sent: Sent) -> Sequence[Sight]:
    """Four ways to ask one small sum, and two that parsers treat as others: a forced call, and the turn after a result."""
    plain = say("What is 17 + 25? Think first, then answer with the number alone.", max_tokens=whole(case, "max_tokens", _MAX_TOKENS))
    asks: Mapping[str, Ask] = {
        "unstreamed": plain,
        "streamed": dataclasses.replace(plain, stream=True),
        "with tools": dataclasses.replace(plain, tools=TOOLS),
        "with tools, streamed": dataclasses.replace(plain, tools=TOOLS, stream=True),
        _FORCED: dataclasses.replace(plain, tools=TOOLS, tool_choice="required"),
        "after a result, streamed": dataclasses.replace(plain, messages=_RESULT, tools=TOOLS, stream=True),
    }
    exchanges = dict(zip(asks, sent.many(list(asks.values())), strict=True))
    thinks = [name for name, exchange in exchanges.items() if _reasons(exchange)]
    fields = [name for name, exchange in exchanges.items() if exchange.reply and exchange.reply.reasoning]
    return [_in_place(_sight(name, exchange, thinks), exchange, thinks, fields) for name, exchange in exchanges.items()]


def _in_place(sight: Sight, exchange: Exchange, thinks: Sequence[str], fields: Sequence[str]) -> Sight:
    """One server tells reasoning in one place: beside the answer, or between tags in it, and under a forced choice too."""
    if sight.findings or sight.why_not or exchange.reply is None or 2 * len(fields) < len(thinks):
        return sight
    if sight.condition in thinks and sight.condition not in fields:
        title = "reasoning stands between tags in the answer, where other requests to this server have it in a field of its own"
        evidence = {"text": exchange.reply.text[:300], "in_a_field": list(fields)}
        return dataclasses.replace(sight, findings=(finding("PROTO.reasoning", title, evidence=evidence),), culprit=exchange)
    if sight.condition == _FORCED and sight.condition not in thinks and len(fields) >= 3:
        title = "under a forced choice there is no reasoning, which other requests to this server have"
        return dataclasses.replace(sight, findings=(finding("PROTO.reasoning", title, severity="note"),), culprit=exchange)
    return sight


def _reasons(exchange: Exchange) -> bool:
    """Reasoning came, in its own field or between tags."""
    if exchange.reply is None:
        return False
    view, split = view_of(exchange)
    return bool(view.reasoning.strip() or split.unclosed)


def _sight(condition: str, exchange: Exchange, thinks: Sequence[str]) -> Sight:
    if declined(exchange):
        return Sight(condition=condition, not_offered=declined(exchange))
    if exchange.reply is None:
        return unanswered(condition, exchange)
    found = [each for each in judge(exchange, (), context=GradeContext(case_severity="critical")).findings if each.code in _CODES]
    if found:
        return Sight(condition=condition, findings=tuple(found), culprit=exchange)
    if not thinks:
        return Sight(condition=condition, not_offered="the model showed no reasoning in any mode")
    if exchange.reply.finish_reason == "length":
        return Sight(condition=condition, unreached="the budget ended before the reasoning did")
    view, _ = view_of(exchange)
    if condition in thinks and not view.text.strip() and not exchange.reply.tool_calls:
        title = "the reply ended by itself with reasoning alone: the answer went into it, or got lost"
        evidence = {"reasoning": view.reasoning[-300:], "finish_reason": exchange.reply.finish_reason}
        return Sight(condition=condition, findings=(finding("PROTO.reasoning", title, evidence=evidence),), culprit=exchange)
    return Sight(condition=condition)


PROBE = Probe(
    name="reasoning",
    about="reasoning and answer stay apart, streamed and not, with tools and without, forced, and after a result",
    requests=lambda _: 6,
    tokens=lambda case: 6 * whole(case, "max_tokens", _MAX_TOKENS),
    look=look,
    sees=("reasoning-boundary", "non-empty-answer"),
)
