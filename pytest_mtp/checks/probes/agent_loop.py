"""An agent's session: turn after turn a call, its result handed back, and words; every reply is judged.

Parsers and templates that hold for one call fail in the third: ids that come again, calls of the past that no template renders, markup
that leaks once the history holds some. The server gets its own calls back as it sent them. Where the model makes none, a call is put
into its mouth, so that the history grows all the same: what the model chooses is left to it, and what became of a reply is not.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_mtp.checks.probes.probe import Probe, Sight, finding
from pytest_mtp.checks.probes.saying import say, whole
from pytest_mtp.checks.probes.sent import SERVER_FAILED, Sent, declined, fault_finding
from pytest_mtp.checks.probes.tool_choice import serving_faults, tool
from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import Case
from pytest_mtp.core.exchange import Exchange
from pytest_mtp.core.reply import Reply
from pytest_mtp.core.verdict import Finding
from pytest_mtp.judge.judgement import GradeContext
from pytest_mtp.judge.pipeline import judge

_TURNS, _MAX_TOKENS = 6, 64
_SOUGHT = ("Paris", "Oslo", "the moon", "bread", "Rome", "copper", "tea", "a lighthouse", "Lima", "salt", "rain", "Kyoto")
_TOOL = tool("find", "Look something up", "query")
_CALLS, _AFTER, _READ = "calls", "words after a result", "the history is read"
_WRECKS = ("GEN.degenerate.replacement", "GEN.degenerate.control", "GEN.degenerate.special", "GEN.degenerate.script")

Message = Mapping[str, Any]


def look(case: Case, sent: Sent) -> Sequence[Sight]:
    """Two requests a turn, every other one streamed. Ends early where a reply is missing: nothing could be handed back."""
    budget, turns = whole(case, "max_tokens", _MAX_TOKENS), whole(case, "turns", _TURNS)
    history: list[Message] = []
    sights: list[Sight] = []
    calling: list[Exchange] = []
    for turn in range(turns):
        history.append({"role": "user", "content": f"Call find for {_SOUGHT[turn % len(_SOUGHT)]}"})
        called = sent.alone(_ask(history, budget, stream=bool(turn % 2)))
        sights.append(_sight(_CALLS, turn, called))
        if called.reply is None:
            return sights
        calling.append(called)
        history += _acted(called.reply, turn)
        said = sent.alone(_ask(history, budget, stream=not turn % 2))
        sights.append(_sight(_AFTER, turn, said))
        if said.reply is None:
            return sights
        history.append({"role": "assistant", "content": said.reply.text.strip() or "Here it is."})
    return [*sights, *_ids(calling), _read(calling)]


def _ask(history: Sequence[Message], budget: int, *, stream: bool) -> Ask:
    return dataclasses.replace(say("", max_tokens=budget, stream=stream), messages=tuple(history), tools=(_TOOL,))


def _acted(reply: Reply, turn: int) -> list[Message]:
    """The assistant's message with its calls, as they came, and a result for each."""
    calls = [
        {
            "id": call.id or f"call_{turn}_{place}",
            "type": "function",
            "function": {"name": call.name or "find", "arguments": call.arguments},
        }
        for place, call in enumerate(reply.tool_calls)
    ]
    if not calls or any(not _is_object(call.arguments) for call in reply.tool_calls):  # a broken one is told; the session goes on
        arguments = json.dumps({"query": _SOUGHT[turn % len(_SOUGHT)]})
        calls = [{"id": f"call_{turn}", "type": "function", "function": {"name": "find", "arguments": arguments}}]
    result = json.dumps({"found": f"entry {1000 + 37 * turn} of the register"})
    return [
        {"role": "assistant", "content": reply.text if reply.tool_calls else "", "tool_calls": calls},
        *({"role": "tool", "tool_call_id": call["id"], "content": result} for call in calls),
    ]


def _is_object(arguments: str) -> bool:
    try:
        return isinstance(json.loads(arguments), dict)
    except ValueError:
        return False


def _sight(condition: str, turn: int, exchange: Exchange) -> Sight:
    reply = exchange.reply
    if reply is None:
        return _unanswered(condition, turn, exchange)
    found = list(serving_faults(exchange))
    found += [each for each in judge(exchange, (), context=GradeContext(case_severity="model")).findings if each.code in _WRECKS]
    if not found and reply.finish_reason == "stop" and not (reply.text.strip() or reply.reasoning or reply.tool_calls):
        found.append(finding("GEN.empty", "nothing came, and the reply ended by itself", severity="model"))
    if found:
        placed = (dataclasses.replace(each, where=f"turn {turn + 1}, {condition}") for each in found)
        return Sight(condition=condition, findings=tuple(placed), culprit=exchange)
    if condition == _CALLS and not reply.tool_calls:
        return Sight(condition=condition, unreached="the model made no call")
    return Sight(condition=condition)


def _unanswered(condition: str, turn: int, exchange: Exchange) -> Sight:
    fault = exchange.fault
    if declined(exchange):
        return Sight(condition=condition, not_offered=f"turn {turn + 1}: {declined(exchange)}")
    if fault is not None and fault.kind in SERVER_FAILED and exchange.ask.messages[1:]:
        title = f"turn {turn + 1} with the calls and results so far ends without a reply: {fault.message}"
        evidence = {"status": fault.status, "body": fault.body[:400], "messages": len(exchange.ask.messages)}
        return Sight(condition=condition, findings=(finding("PROTO.no_reply", title, evidence=evidence),), culprit=exchange)
    told = fault_finding(exchange)
    return Sight(condition=condition, findings=(told,) if told else (), culprit=exchange)


def _ids(exchanges: Sequence[Exchange]) -> list[Sight]:
    """An id that names two calls of one conversation: servers count from 0 in each reply, and clients that look ids up are misled."""
    ids = [call.id for exchange in exchanges if exchange.reply for call in exchange.reply.tool_calls if call.id]
    twice = next((id_ for id_ in ids if ids.count(id_) > 1), None)
    if twice is None:
        return []
    note = finding("TOOL.id", f"the id {twice!r} names {ids.count(twice)} calls of one conversation", severity="note")
    return [Sight(condition=_CALLS, findings=(note,))]


def _read(exchanges: Sequence[Exchange]) -> Sight:
    """From one call of the user to the next the prompt grows by a call, a result, an answer and a question."""
    counts = [exchange.reply.usage.prompt_tokens for exchange in exchanges if exchange.reply and exchange.reply.usage]
    told = [count for count in counts if count is not None]
    if len(told) < 2 or len(told) < len(exchanges):
        return Sight(condition=_READ, not_offered="the replies carry no count of prompt tokens")
    stalled = next((turn for turn in range(1, len(told)) if told[turn] <= told[turn - 1]), None)
    if stalled is None:
        return Sight(condition=_READ)
    title = f"turn {stalled + 1} makes a prompt of {told[stalled]} tokens, the one before it {told[stalled - 1]}: the history is cut"
    found: Finding = finding("TOOL.template", title, evidence={"prompt_tokens": told})
    return Sight(condition=_READ, findings=(found,), culprit=exchanges[stalled])


PROBE = Probe(
    name="agent_loop",
    about="a session of six turns, each a call, its result and words: every reply is whole, and the history is read",
    requests=lambda case: 2 * whole(case, "turns", _TURNS),
    tokens=lambda case: 2 * whole(case, "turns", _TURNS) * whole(case, "max_tokens", _MAX_TOKENS),
    look=look,
    sees=("multi-turn-tool-loop", "tool-args-valid", "markup-leak"),
    alone=True,
)
