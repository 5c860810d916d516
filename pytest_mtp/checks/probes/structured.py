"""Structured output under temptation: a schema that was promised is kept, whatever the prompt asks for.

A schema whose every value is short, and prompts that pull away from it: a poem, a refusal, a fence. What a server declines openly
is not offered; an answer that its budget cut is not reached, since nothing was promised for it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from pytest_mtp.checks.probes.probe import Probe, Sight, finding, unanswered
from pytest_mtp.checks.probes.saying import say, whole
from pytest_mtp.checks.probes.sent import SERVER_FAILED, Sent, declined
from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import Case
from pytest_mtp.core.exchange import Exchange
from pytest_mtp.core.record import Json
from pytest_mtp.judge.judgement import GradeContext
from pytest_mtp.judge.pipeline import judge

_MAX_TOKENS = 96
_TEMPTATIONS = (
    "Write a poem about the sea. Do not write JSON.",
    "Answer in plain words only: is the sky blue?",
    "Reply with a Markdown code block and an explanation.",
)
_SCHEMAS: dict[str, Json] = {
    "a flag": {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"], "additionalProperties": False},
    "a choice": {
        "type": "object",
        "properties": {"colour": {"enum": ["red", "green"]}, "size": {"type": "integer", "enum": [1, 2, 3]}},
        "required": ["colour", "size"],
        "additionalProperties": False,
    },
}


def look(case: Case, sent: Sent) -> Sequence[Sight]:
    """Each schema with each temptation, streamed and not, greedy and sampled."""
    budget = whole(case, "max_tokens", _MAX_TOKENS)
    asks = [
        (name, _asked(prompt, schema, budget, stream=stream, temperature=temperature))
        for name, schema in _SCHEMAS.items()
        for prompt in _TEMPTATIONS
        for stream, temperature in ((False, 0.0), (True, 0.0), (False, 0.8))
    ]
    exchanges = sent.many([ask for _, ask in asks])
    served = any(exchange.reply is not None for exchange in exchanges)
    return [_sight(name, exchange, served=served) for (name, _), exchange in zip(asks, exchanges, strict=True)]


def _asked(prompt: str, schema: Json, budget: int, *, stream: bool, temperature: float) -> Ask:
    form: dict[str, Json] = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}
    return dataclasses.replace(say(prompt, max_tokens=budget, stream=stream, temperature=temperature), response_format=form)


def _sight(name: str, exchange: Exchange, *, served: bool) -> Sight:
    """`served`: others of these requests were answered, so that the server lives and knows schemas."""
    mode = "streamed" if exchange.ask.stream else "sampled" if exchange.ask.sampling.temperature else "greedy"
    condition = f"{name}, {mode}"
    if declined(exchange):
        return Sight(condition=condition, not_offered=declined(exchange))
    if served and exchange.fault is not None and exchange.fault.kind in SERVER_FAILED:
        title = f"with a schema the request ends without a reply: {exchange.fault.message}"
        evidence = {"prompt": str(exchange.ask.messages[-1]["content"]), "status": exchange.fault.status, "body": exchange.fault.body[:300]}
        return Sight(condition=condition, findings=(finding("PROTO.no_reply", title, evidence=evidence),), culprit=exchange)
    if exchange.reply is None:
        return unanswered(condition, exchange)
    if exchange.reply.finish_reason == "length":
        return Sight(condition=condition, unreached="the budget cut the answer")
    found = [each for each in judge(exchange, (), context=GradeContext(case_severity="critical")).findings if each.code in _KEPT]
    return Sight(condition=condition, findings=tuple(found), culprit=exchange if found else None)


_KEPT = frozenset({"ANS.json_forced", "ANS.duplicate_key", "PROTO.finish", "PROTO.sse", "PROTO.truncated"})

PROBE = Probe(
    name="structured",
    about="json_schema with prompts that pull away from it: the schema is kept, or the request is refused",
    requests=lambda _: len(_SCHEMAS) * len(_TEMPTATIONS) * 3,
    tokens=lambda case: len(_SCHEMAS) * len(_TEMPTATIONS) * 3 * whole(case, "max_tokens", _MAX_TOKENS),
    look=look,
    sees=("schema-conformance",),
)
