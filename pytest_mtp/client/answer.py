"""One attempt: a request sent, its answer read with stamps, and a reply or a fault made of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import httpx

from pytest_mtp.client.assemble import ProtocolError, StreamAssembler, reply_of_body
from pytest_mtp.client.complaint import has_error
from pytest_mtp.client.decoding import pieces
from pytest_mtp.client.document import shown
from pytest_mtp.client.faults import excerpt, fault_of_exception, fault_of_protocol, fault_of_status
from pytest_mtp.client.flight import under_way
from pytest_mtp.client.received import LINGER_S, Received
from pytest_mtp.client.redaction import masked_headers
from pytest_mtp.client.sse import SseOverflowError
from pytest_mtp.core.exchange import ChunkStamp, Fault, Timeline
from pytest_mtp.core.reply import Reply, WireNote

Break = httpx.HTTPError | httpx.InvalidURL | SseOverflowError


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Exactly one of `reply` and `fault`. `retriable`: nobody answered, or the server asked us to come again."""

    timeline: Timeline
    duration_s: float
    reply: Reply | None = None
    fault: Fault | None = None
    retriable: bool = False


def read_answer(http: httpx.Client, request: httpx.Request, got: Received, *, limit_s: float) -> Answer:
    """Send and read to the end. Never raises for anything that came or did not come."""
    flight, url = got.flight, str(request.url)
    begun = flight.clock()
    broken: Break | None = None
    try:
        with under_way(flight):
            response = http.send(request, stream=True)
            try:
                got.headers_ns = flight.clock()
                got.status, got.headers = response.status_code, masked_headers(response.headers.multi_items())
                for data in pieces(response):
                    got.take(data)
            finally:
                response.close()
        got.close()
    except (httpx.HTTPError, httpx.InvalidURL, SseOverflowError) as error:
        broken = error
    ended = flight.clock() if broken is None or not got.events else got.events[-1].at_ns
    sent_ns = begun if flight.first_write_ns is None else flight.first_write_ns
    timeline = Timeline(sent_ns=sent_ns, headers_ns=got.headers_ns, done_ns=ended if broken is None or got.over else None)
    duration_s = (flight.clock() - begun) / 1e9

    if got.headers_ns is not None and not 200 <= got.status < 300:
        fault = fault_of_status(got.status, headers=got.headers, body=got.body, url=url)
        return Answer(timeline=timeline, duration_s=duration_s, fault=fault, retriable=fault.kind == "busy")
    if broken is not None and not got.over:
        fault = _fault_of_break(broken, got, url=url, limit_s=limit_s)
        unanswered = _nobody_answered(broken, got) and fault.kind in ("connect", "reset")
        stamps = tuple(ChunkStamp(at_ns=event.at_ns, characters=0, kind="empty") for event in got.events)
        return Answer(timeline=replace(timeline, chunks=stamps), duration_s=duration_s, fault=fault, retriable=unanswered)
    return _assembled(got, broken, timeline, duration_s)


def _fault_of_break(broken: Break, got: Received, *, url: str, limit_s: float) -> Fault:
    if isinstance(broken, SseOverflowError):
        code = "PROTO.sse" if got.streamed else "PROTO.json"
        fault = Fault(kind="malformed", code=code, message=f"{broken}; reading stopped")
    else:
        fault = fault_of_exception(broken, url=url, waited=got.told, limit_s=limit_s, flight=got.flight)
    return replace(fault, status=got.status or None, body=excerpt(got.body), headers=got.headers or None)


def _nobody_answered(broken: Break, got: Received) -> bool:
    """No connection; or a connection that had been idle ended as we wrote on it, before a byte came back.

    A fresh connection that ends without an answer is the server's failure and is not retried away.
    """
    if isinstance(broken, (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError)):
        return True
    reused = not got.flight.connected and got.flight.first_write_ns is not None
    return reused and got.headers_ns is None and isinstance(broken, (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError))


def _assembled(got: Received, broken: Break | None, timeline: Timeline, duration_s: float) -> Answer:
    assembler = StreamAssembler()
    try:
        reply = _streamed(got, assembler, broken) if _is_stream(got) else _unary(got)
    except ProtocolError as error:
        fault = fault_of_protocol(error, status=got.status, headers=got.headers, body=got.body)
        return Answer(timeline=replace(timeline, chunks=tuple(assembler.stamps)), duration_s=duration_s, fault=fault)
    return Answer(timeline=replace(timeline, chunks=tuple(assembler.stamps)), duration_s=duration_s, reply=reply)


def _is_stream(got: Received) -> bool:
    return got.asked_stream if got.streamed is None else got.streamed


def _streamed(got: Received, assembler: StreamAssembler, broken: Break | None) -> Reply:
    notes = list(got.reader.notes)
    if not got.asked_stream:
        notes.append(WireNote(code="PROTO.sse", detail="an event stream came, and none was asked for"))
    for event in got.events:
        assembler.feed(event)
    for stray in got.reader.strays:
        if has_error(stray):
            raise ProtocolError("an error object between the events", code="PROTO.sse", error=stray)
        notes.append(WireNote(code="PROTO.sse", detail=f"a line is no field of an event: {shown(stray)}"))
    if broken is not None:
        notes.append(
            WireNote(code="PROTO.sse", detail=f"the body did not end properly within {LINGER_S:g} s of [DONE]: {shown(str(broken))}")
        )
    return assembler.finish(headers=got.headers, raw=got.body, notes=tuple(notes))


def _unary(got: Received) -> Reply:
    notes = []
    if got.asked_stream:
        notes.append(WireNote(code="PROTO.sse", detail="one JSON body came where a stream was asked for"))
    if got.first_bad_byte is not None:
        notes.append(WireNote(code="PROTO.json", detail=f"the body is not UTF-8 at byte {got.first_bad_byte}"))
    text = got.body
    return reply_of_body(text.removeprefix("\ufeff"), headers=got.headers, raw=text, notes=tuple(notes))
