"""Calls that coarse deltas break: short and empty arguments, two calls in a row, words before a call, a call in the last delta.

A step of speculation delivers several tokens at once, and parsers that expect one token a delta lose what lies on the border. Each
request is asked unstreamed and streamed at temperature 0; what came in one mode alone, or broken in one, is the parser's.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from pytest_mtp.checks.probes.probe import Probe, Sight, finding
from pytest_mtp.checks.probes.saying import say, whole
from pytest_mtp.checks.probes.sent import Sent, declined, fault_finding
from pytest_mtp.checks.probes.tool_choice import serving_faults, tool
from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import Case
from pytest_mtp.core.exchange import Exchange
from pytest_mtp.core.reply import Reply
from pytest_mtp.core.verdict import Finding
from pytest_mtp.judge.judgement import GradeContext
from pytest_mtp.judge.pipeline import judge
from pytest_mtp.judge.tools.parity import stream_parity

_MAX_TOKENS = 128
_PROMPTS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "a short argument": ("Call find for x", ("find",)),
    "no argument": ("Call get_time", ("get_time",)),
    "a long argument": ("Call find for the quick brown fox that jumps over the lazy dog at noon, twice, with some noise", ("find",)),
    "two calls in a row": ("Call find for Paris, and call find for Rome", ("find",)),
    "words and a call": ("Say in one sentence what you are going to do, then call find for Berlin", ("find",)),
    "signs in an argument": ('Call find for "a\\b" {c} <d> caf\u00e9 \U0001f680', ("find",)),
}
_GIVE_UP = 3
"""A model that made no call in so many conditions makes none in the rest: nobody's tokens are spent on that."""

_TOOLS = {"find": tool("find", "Look something up", "query"), "get_time": tool("get_time", "The time now", None)}


def look(case: Case, sent: Sent) -> Sequence[Sight]:
    """In turn, one at a time, so that both modes meet the same numerics."""
    budget = whole(case, "max_tokens", _MAX_TOKENS)
    noisy = bool(sent.control().disagree_text)
    sights: list[Sight] = []
    for condition, (prompt, tools) in _PROMPTS.items():
        if len(sights) == _GIVE_UP and all(sight.unreached or sight.not_offered for sight in sights):
            sights += [dataclasses.replace(sights[-1], condition=left) for left in list(_PROMPTS)[_GIVE_UP:]]
            break
        ask = dataclasses.replace(say(prompt, max_tokens=budget), tools=tuple(_TOOLS[name] for name in tools))
        sights.append(_sight(condition, ask, sent.alone(ask), sent.alone(dataclasses.replace(ask, stream=True)), noisy=noisy))
    return sights


def _sight(condition: str, ask: Ask, unary: Exchange, streamed: Exchange, *, noisy: bool) -> Sight:
    for exchange in (unary, streamed):
        if declined(exchange):
            return Sight(condition=condition, not_offered=declined(exchange))
        fault = fault_finding(exchange)
        if fault is not None:
            return Sight(condition=condition, findings=(fault,), culprit=exchange)
    assert unary.reply is not None
    assert streamed.reply is not None
    own = [(each, exchange) for exchange in (unary, streamed) for each in serving_faults(exchange)]
    parity = stream_parity(unary.reply, streamed.reply, ask, "critical", noisy=noisy)
    if not own and not parity and not noisy:
        parity = _words(unary.reply, streamed.reply)
    if not own and not parity:
        parity = _bare(unary.reply, streamed.reply)
    if _own_mistake(unary) or _own_mistake(streamed):
        own = [(dataclasses.replace(each, severity="model"), exchange) for each, exchange in own]
        parity = tuple(dataclasses.replace(each, severity="model" if each.severity == "critical" else each.severity) for each in parity)
    if own or parity:
        return Sight(condition=condition, findings=(*(each for each, _ in own), *parity), culprit=own[0][1] if own else streamed)
    if not unary.reply.tool_calls and not streamed.reply.tool_calls:
        return Sight(condition=condition, unreached="the model made no call in either mode")
    return Sight(condition=condition)


def _own_mistake(exchange: Exchange) -> bool:
    """The model wrote broken markup, as one mode shows: what parsers make of that may differ, and is no loss of a call."""
    found = judge(exchange, (), context=GradeContext(case_severity="model")).findings
    return any(each.code == "TOOL.leak_malformed" for each in found)


def _bare(unary: Reply, streamed: Reply) -> tuple[Finding, ...]:
    """A call without arguments has an empty object for them; clients that read empty text as JSON fail on it."""
    bare = [call.name for reply in (unary, streamed) for call in reply.tool_calls if not call.arguments.strip()]
    if not bare:
        return ()
    title = f"the arguments of {bare[0]} are an empty text, and {{}} was due"
    return (finding("TOOL.args_json", title, evidence={"calls": bare}, severity="note"),)


def _words(unary: Reply, streamed: Reply) -> tuple[Finding, ...]:
    """Words beside the same calls, of which one mode lacks the beginning, the end or all."""
    one, other = unary.text.strip(), streamed.text.strip()
    if not unary.tool_calls or one == other:
        return ()
    less, more = sorted((one, other), key=len)
    if not (more.startswith(less) or more.endswith(less)):
        return ()  # other words: the model's, or numerics
    title = f"words beside the call are lost {'unstreamed' if less == one else 'streamed'}: {more[:80]!r} became {less[:80]!r}"
    return (finding("PROTO.stream_diff", title, evidence={"unstreamed": one[:300], "streamed": other[:300]}, severity="note"),)


PROBE = Probe(
    name="coarse_calls",
    about="calls with short, empty, long and odd arguments, in a row and after words: the same streamed and not",
    requests=lambda _: 2 * len(_PROMPTS),
    tokens=lambda case: 2 * len(_PROMPTS) * whole(case, "max_tokens", _MAX_TOKENS),
    look=look,
    sees=("coarse-delta-tool-matrix", "tool-args-valid", "tool-delta-protocol", "markup-leak"),
    alone=True,
)
