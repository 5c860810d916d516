"""Reasoning and answer stay apart: no tag in either, no answer inside the reasoning alone, streamed and not, with tools and without.

A model that does not reason is not asked for more: the condition is not reached, and said so.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from pytest_mtp.checks.probes.probe import Probe, Sight, finding
from pytest_mtp.checks.probes.saying import say, whole
from pytest_mtp.checks.probes.sent import Sent, declined, fault_finding
from pytest_mtp.checks.probes.tool_choice import TOOLS
from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import Case
from pytest_mtp.core.exchange import Exchange
from pytest_mtp.judge.judgement import GradeContext
from pytest_mtp.judge.pipeline import judge, view_of

_MAX_TOKENS = 768
_CODES = frozenset({"PROTO.reasoning", "GEN.think_unclosed"})


def look(case: Case, sent: Sent) -> Sequence[Sight]:
    """Four ways to ask one small sum."""
    plain = say("What is 17 + 25? Think first, then answer with the number alone.", max_tokens=whole(case, "max_tokens", _MAX_TOKENS))
    asks: Mapping[str, Ask] = {
        "unstreamed": plain,
        "streamed": dataclasses.replace(plain, stream=True),
        "with tools": dataclasses.replace(plain, tools=TOOLS),
        "with tools, streamed": dataclasses.replace(plain, tools=TOOLS, stream=True),
    }
    exchanges = dict(zip(asks, sent.many(list(asks.values())), strict=True))
    thinks = [name for name, exchange in exchanges.items() if _reasons(exchange)]
    return [_sight(name, exchange, thinks) for name, exchange in exchanges.items()]


def _reasons(exchange: Exchange) -> bool:
    """Reasoning came, in its own field or between tags."""
    if exchange.reply is None:
        return False
    view, split = view_of(exchange)
    return bool(view.reasoning.strip() or split.unclosed)


def _sight(condition: str, exchange: Exchange, thinks: Sequence[str]) -> Sight:
    if declined(exchange):
        return Sight(condition=condition, not_offered=declined(exchange))
    fault = fault_finding(exchange)
    if fault is not None or exchange.reply is None:
        return Sight(condition=condition, findings=(fault,) if fault else (), culprit=exchange)
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
    about="reasoning and answer stay apart, streamed and not, with tools and without",
    requests=lambda _: 4,
    tokens=lambda case: 4 * whole(case, "max_tokens", _MAX_TOKENS),
    look=look,
    sees=("reasoning-boundary", "non-empty-answer"),
)
