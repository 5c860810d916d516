"""An agent's loop against a simulator of the tools: ask, carry the calls out, hand the results back, until words come."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.exchange import Exchange
from pytest_mtp.core.record import Json
from pytest_mtp.core.reply import Reply
from pytest_mtp.core.verdict import Finding
from pytest_mtp.judge.judgement import GradeContext
from pytest_mtp.judge.pipeline import judge
from pytest_mtp.judge.tools.simulation import Simulator, state_findings
from pytest_mtp.judge.tools.turns import turn_findings

MOST_ROUNDS = 8


def converse(ask: Ask, simulator: Simulator, send: Callable[[Ask], Exchange], *, most_rounds: int = MOST_ROUNDS) -> tuple[Exchange, ...]:
    """Every exchange of one user turn. Ends at a reply without calls, at a fault, or after `most_rounds` requests."""
    exchanges = []
    for _ in range(most_rounds):
        exchange = send(ask)
        exchanges.append(exchange)
        if exchange.reply is None or not exchange.reply.tool_calls:
            break
        ask = dataclasses.replace(ask, messages=(*ask.messages, _said(exchange.reply), *_results(exchange.reply, simulator)))
    return tuple(exchanges)


def conversation_findings(exchanges: Sequence[Exchange], simulator: Simulator, state: Mapping[str, Json]) -> tuple[Finding, ...]:
    """What is wrong with the serving of any reply, with the turns, and with the state in the end.

    `simulator` is a fresh one: the calls are carried out again, so that the state is that of the calls alone.
    """
    context = GradeContext(case_severity="critical")
    served = [finding for exchange in exchanges for finding in judge(exchange, (), context=context).findings if finding.severity != "note"]
    turns = turn_findings(exchanges, "critical", final_uses_result=False)
    return (*served, *turns, *state_findings([exchanges], simulator, [state], "critical"))


def _said(reply: Reply) -> dict[str, Any]:
    calls = [
        {"id": call.id or "", "type": "function", "function": {"name": call.name or "", "arguments": call.arguments}}
        for call in reply.tool_calls
    ]
    return {"role": "assistant", "content": reply.content or "", "tool_calls": calls}


def _results(reply: Reply, simulator: Simulator) -> list[dict[str, Any]]:
    return [
        {"role": "tool", "tool_call_id": call.id or "", "content": _carried_out(simulator, call.name or "", call.arguments)}
        for call in reply.tool_calls
    ]


def _carried_out(simulator: Simulator, name: str, arguments: str) -> str:
    """The result as a tool message; a refusal of the tool, or arguments that are no object, go back to the model as well."""
    try:
        parsed = json.loads(arguments or "{}")
        if not isinstance(parsed, dict):
            raise ValueError("the arguments are no JSON object")
        return json.dumps(simulator.call(name, parsed), ensure_ascii=False)
    except (ValueError, LookupError) as refusal:
        return json.dumps({"error": str(refusal)}, ensure_ascii=False)
