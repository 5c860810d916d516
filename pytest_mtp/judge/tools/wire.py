"""Gate A, the wire: one strike, no statistics. What a client's code would stumble over, whatever the model meant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import CaseSeverity
from pytest_mtp.core.reply import Reply
from pytest_mtp.core.verdict import Finding
from pytest_mtp.judge.tools.choice import choice_findings
from pytest_mtp.judge.tools.malformed import argument_findings
from pytest_mtp.judge.tools.names import name_finding
from pytest_mtp.judge.tools.offered import Offer, offer_of
from pytest_mtp.judge.tools.reading import ReadCall, read_calls
from pytest_mtp.judge.tools.report import found
from pytest_mtp.judge.words.normal import excerpt

_CALLING = ("tool_calls", "function_call")  # the second is OpenAI's word before there were tools
_CUT = ("length", "content_filter")  # said by their own codes


def wire_findings(reply: Reply, ask: Ask, case_severity: CaseSeverity) -> tuple[Finding, ...]:
    """Everything that breaks the protocol, the promises of tool_choice included. Schemas are the next gate's."""
    return tuple(wire_breaches(reply, ask, read_calls(reply, ask), case_severity))


def wire_breaches(reply: Reply, ask: Ask, calls: Sequence[ReadCall], case_severity: CaseSeverity) -> Iterator[Finding]:
    """The same for calls that are already read."""
    offer = offer_of(ask)
    yield from _finish(reply, offer, case_severity)
    yield from choice_findings(reply, calls, offer, case_severity)
    if not calls:
        return
    yield from _ids(calls, case_severity)
    yield from _indices(reply, ask, calls, case_severity)
    for call in calls:
        yield from _kind(call, case_severity)
        if call.tool is None:
            yield name_finding(call, reply, ask, case_severity)
        yield from argument_findings(call, reply, case_severity, last=call.place == len(calls) - 1)


def _finish(reply: Reply, offer: Offer, case_severity: CaseSeverity) -> Iterator[Finding]:
    finish, count = reply.finish_reason, len(reply.tool_calls)
    evidence = {"finish_reason": finish, "calls": count, "tool_choice": offer.choice.mode}
    if not count:
        if finish in _CALLING:
            yield found("PROTO.finish", f"finish_reason is {finish}, but the reply has no call", case_severity, evidence=evidence)
    elif finish in _CALLING or finish in _CUT:
        return
    elif finish is None:
        if not any(note.code in ("PROTO.truncated", "PROTO.finish") for note in reply.notes):
            yield found("PROTO.finish", "the reply is complete, and its finish reason is null", case_severity, evidence=evidence)
    elif finish == "stop" and offer.choice.forces:
        # OpenAI answers a named choice with "stop" and vLLM follows; for "required" servers differ, so it is only said.
        if offer.choice.mode == "required":
            title = "finish_reason is stop although a call was required and made; most servers say tool_calls"
            yield found("PROTO.finish", title, case_severity, severity="note", evidence=evidence)
    else:
        title = f"finish_reason is {excerpt(finish, 20)}, but the reply has {count} call{'s' if count > 1 else ''}"
        yield found("PROTO.finish", title, case_severity, evidence=evidence)


def _ids(calls: Sequence[ReadCall], case_severity: CaseSeverity) -> Iterator[Finding]:
    missing = [call.place for call in calls if not call.wire.id]
    if missing:
        title = f"{_listed(missing)} {'has' if len(missing) == 1 else 'have'} no id"
        yield found("TOOL.id", title, case_severity, where=f"call {missing[0]}", evidence={"calls": missing})
    for id_, count in Counter(call.wire.id for call in calls if call.wire.id).items():
        if count > 1:
            places = [call.place for call in calls if call.wire.id == id_]
            title = f"{_listed(places)} share the id {excerpt(repr(id_), 40)}"
            yield found("TOOL.id", title, case_severity, where=f"call {places[1]}", evidence={"id": id_, "calls": places})


def _indices(reply: Reply, ask: Ask, calls: Sequence[ReadCall], case_severity: CaseSeverity) -> Iterator[Finding]:
    """Streams alone are asked for an index; what the reader of the stream has already noted is not said again."""
    if not ask.stream or any(note.code == "TOOL.wire" for note in reply.notes):
        return
    indices = [call.wire.index for call in calls]
    if indices == list(range(len(calls))):
        return
    if None in indices:
        title = f"{_listed([call.place for call in calls if call.wire.index is None])}: the stream gives no index"
    elif len(set(indices)) < len(indices):
        title = f"calls share an index in the stream: {', '.join(map(str, indices))}"
    else:
        title = f"the indices in the stream are not 0 to {len(calls) - 1} in order: {', '.join(map(str, indices))}"
    yield found("TOOL.wire", title, case_severity, where="stream", evidence={"indices": indices})


def _kind(call: ReadCall, case_severity: CaseSeverity) -> Iterator[Finding]:
    kind = call.wire.type
    if kind != "function":
        title = f"{call.where} has {'no type' if not kind else f'the type {excerpt(repr(kind), 30)}'}; it must be 'function'"
        yield found("TOOL.wire", title, case_severity, where=call.where, evidence={"type": kind})


def _listed(places: Sequence[int]) -> str:
    numbers = ", ".join(map(str, places[:6])) + (", …" if len(places) > 6 else "")
    return f"call {numbers}" if len(places) == 1 else f"calls {numbers}"
