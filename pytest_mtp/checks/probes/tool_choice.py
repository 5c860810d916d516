"""The tool_choice matrix: auto, none, required and named, streamed and not, with a system message and without.

What tool_choice promises is the server's duty. Whether a model calls under `auto` is its own affair; that a call which came is whole,
and that its markup does not leak, is not.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from pytest_mtp.checks.probes.probe import Probe, Sight, unanswered
from pytest_mtp.checks.probes.saying import say, whole
from pytest_mtp.checks.probes.sent import Sent, declined
from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import Case
from pytest_mtp.core.exchange import Exchange
from pytest_mtp.core.record import Json
from pytest_mtp.core.verdict import Finding
from pytest_mtp.judge.judgement import GradeContext
from pytest_mtp.judge.pipeline import judge

_MAX_TOKENS = 96
_SYSTEM = {"role": "system", "content": "You are an assistant with tools."}


def tool(name: str, about: str, argument: str | None) -> Mapping[str, Json]:
    """A function of one text argument, or of none."""
    properties: Json = {argument: {"type": "string"}} if argument else {}
    parameters: Json = {"type": "object", "properties": properties, "required": [argument] if argument else []}
    return {"type": "function", "function": {"name": name, "description": about, "parameters": parameters}}


TOOLS = (tool("get_weather", "Current weather of a city", "city"), tool("get_time", "The time now", None))
CHOICES: Mapping[str, str | Mapping[str, Json]] = {
    "auto": "auto",
    "none": "none",
    "required": "required",
    "named": {"type": "function", "function": {"name": "get_weather"}},
}


def look(case: Case, sent: Sent) -> Sequence[Sight]:
    """Sixteen requests; each cell of the matrix is a condition."""
    budget = whole(case, "max_tokens", _MAX_TOKENS)
    cells = [(name, stream, system) for name in CHOICES for stream in (False, True) for system in (False, True)]
    exchanges = sent.many([_asked(CHOICES[name], budget, stream=stream, system=system) for name, stream, system in cells])
    return [_sight(_named(*cell), exchange) for cell, exchange in zip(cells, exchanges, strict=True)]


def _named(name: str, stream: bool, system: bool) -> str:  # noqa: FBT001 (a cell of the matrix)
    return f"{name}, {'streamed' if stream else 'unstreamed'}{', system message' if system else ''}"


def _asked(choice: str | Mapping[str, Json], budget: int, *, stream: bool, system: bool) -> Ask:
    ask = say("Call get_weather for Paris", max_tokens=budget, stream=stream)
    messages = (_SYSTEM, *ask.messages) if system else ask.messages
    return dataclasses.replace(ask, messages=messages, tools=TOOLS, tool_choice=choice)


def _sight(condition: str, exchange: Exchange) -> Sight:
    if declined(exchange):
        return Sight(condition=condition, not_offered=declined(exchange))
    if exchange.reply is None:
        return unanswered(condition, exchange)
    found = serving_faults(exchange) or _no_object(exchange)
    if not found and exchange.reply.finish_reason == "length":
        return Sight(condition=condition, unreached="the budget ended before the reply did")
    return Sight(condition=condition, findings=found, culprit=exchange if found else None)


def _no_object(exchange: Exchange) -> tuple[Finding, ...]:
    """Arguments of a forced call that are JSON and no object: some engines hold them to JSON alone where `strict` is not asked for.

    Lawful, as the API promises no more, and of severity `model`; a client that reads an argument by its name fails on it all the same.
    """
    if exchange.ask.tool_choice in ("auto", "none", None):
        return ()
    found = judge(exchange, (), context=GradeContext(case_severity="model")).findings
    return tuple(each for each in found if each.code == "TOOL.args_json")


def serving_faults(exchange: Exchange) -> tuple[Finding, ...]:
    """What is wrong with the serving of a reply that may hold calls; what the model chose is left to it.

    With tool_choice none nothing is parsed, lawfully: a model that writes markup all the same wrote plain text.
    """
    found = judge(exchange, (), context=GradeContext(case_severity="model")).findings
    lawful = ("TOOL.leak",) if exchange.ask.tool_choice == "none" else ()
    return tuple(
        each for each in found if each.severity == "critical" and each.code.startswith(("TOOL.", "PROTO.")) and each.code not in lawful
    )


PROBE = Probe(
    name="tool_choice",
    about="tool_choice auto, none, required and named, streamed and not, with and without a system message",
    requests=lambda _: 4 * len(CHOICES),
    tokens=lambda case: 4 * len(CHOICES) * whole(case, "max_tokens", _MAX_TOKENS),
    look=look,
    sees=("tool-choice-matrix", "markup-leak", "finish-reason-oracle"),
)
