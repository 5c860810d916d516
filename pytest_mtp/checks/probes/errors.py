"""Requests that no server can answer: refused with a 4xx and a JSON body, and the next request is served.

What a server does with nonsense harms few; that it lives on harms all. So a server that dies, hangs or answers the next honest
request worse is a fault, a 5xx or a dropped connection in place of a refusal is noted, and so is an answer to nonsense.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence

from pytest_mtp.checks.probes.probe import Probe, Sight, finding
from pytest_mtp.checks.probes.saying import say
from pytest_mtp.checks.probes.sent import Sent
from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import Case
from pytest_mtp.core.exchange import Exchange
from pytest_mtp.core.record import Json

_EXCERPT = 1000
"""Characters: no refusal worth reading is longer."""

NONSENSE: Mapping[str, Mapping[str, Json]] = {
    "messages as text": {"messages": "hello"},
    "no messages": {"messages": []},
    "temperature as text": {"temperature": "hot"},
    "a negative budget": {"max_tokens": -5},
    "an unknown role": {"messages": [{"role": "wizard", "content": "hello"}]},
    "a tool choice that is none": {"tool_choice": "banana", "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}]},
    "a response format that is none": {"response_format": {"type": "banana"}},
    "an unknown model": {"model": "no-such-model-42"},
}


def look(_case: Case, sent: Sent) -> Sequence[Sight]:
    """Each bad request alone, and an honest one after each."""
    sights = []
    for name, body in NONSENSE.items():
        honest = say("Say hello.", max_tokens=4)
        bad = sent.alone(_with_body(body))
        after = sent.alone(honest)
        sights.append(_sight(name, bad, after))
        if after.reply is None:
            break  # nothing that follows would say anything about nonsense
    return sights


def _with_body(body: Mapping[str, Json]) -> Ask:
    return dataclasses.replace(say("Say hello.", max_tokens=4), extra_body=body)


def _sight(condition: str, bad: Exchange, after: Exchange) -> Sight:
    if after.reply is None:
        came = bad.fault.message if bad.fault else "an answer"
        title = f"the honest request after it got no answer: {after.fault.message if after.fault else ''}"
        return Sight(condition=condition, findings=(finding("PROTO.error_poison", title, detail=f"before it came: {came}"),), culprit=bad)
    fault = bad.fault
    if fault is None:
        evidence = {"sent": NONSENSE[condition], "text": bad.reply.text[:200] if bad.reply else ""}
        return Sight(
            condition=condition, findings=(finding("PROTO.param", f"{condition}: answered as if it were sound", evidence=evidence),)
        )
    told: Mapping[str, Json] = {"sent": NONSENSE[condition], "status": fault.status, "body": fault.body[:400]}
    if fault.status is not None and 400 <= fault.status < 500:
        if _is_json(fault.body):
            return Sight(condition=condition)
        title = f"{condition}: status {fault.status} with a body that is no JSON"
    else:
        title = f"{condition}: {fault.message} in place of a refusal (4xx)"
    return Sight(condition=condition, findings=(finding("PROTO.error_mapping", title, evidence=told),), culprit=bad)


def _is_json(body: str) -> bool:
    """A long body is kept in excerpts, which are no JSON any more: then its first sign decides."""
    try:
        json.loads(body)
    except ValueError:
        return len(body) > _EXCERPT and body.lstrip()[:1] in ("{", "[")
    return True


PROBE = Probe(
    name="errors",
    about="bad requests are refused, and the next honest one is served",
    requests=lambda _: 2 * len(NONSENSE),
    tokens=lambda _: 2 * 4 * len(NONSENSE),
    look=look,
    sees=("error-mapping",),
    alone=True,
)
