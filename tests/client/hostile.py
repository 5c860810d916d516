"""The table of hostile servers: what each sends, and what the client must make of it."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass

from tests.client.raw_server import DONE, GOOD_STREAM, Serve, Talk, chunked, completion, delta, event, response, stream_head

GOOD_BODY = json.dumps(completion())
ERROR = {"error": {"message": "EngineCore encountered an issue", "type": "InternalServerError", "code": 500}}


@dataclass(frozen=True, kw_only=True)
class Hostile:
    """`fault` is kind and code; where it is None the client accepts the answer, with `notes` among its codes."""

    id: str
    serve: Serve
    stream: bool = False
    fault: tuple[str, str] | None = None
    says: str = ""
    notes: tuple[str, ...] = ()
    content: str | None = "Paris"
    timeout_s: float = 20.0


def sends(*pieces: bytes, then: str = "close") -> Serve:
    def serve(talk: Talk) -> None:
        for piece in pieces:
            talk.send(piece)
        if then != "close":
            getattr(talk, then)()

    return serve


def drips(head: bytes, data: bytes) -> Serve:
    def serve(talk: Talk) -> None:
        talk.send(head)
        talk.drip(data)

    return serve


TIMEOUTS = (
    Hostile(id="silence", serve=sends(then="hang"), fault=("timeout", "INFRA.timeout"), says="before the answer began"),
    Hostile(id="headers-dripped-for-ever", serve=drips(b"HTTP/1.1 200 OK\r\nX: ", b"a"), fault=("timeout", "INFRA.timeout")),
    Hostile(
        id="body-dripped-for-ever",
        serve=drips(b"HTTP/1.1 200 OK\r\n\r\n", b" "),
        fault=("timeout", "INFRA.timeout"),
        says="bytes of the body",
    ),
    Hostile(id="keep-alives-for-ever", serve=drips(stream_head(), b": ping\n\n"), stream=True, fault=("timeout", "INFRA.timeout")),
    Hostile(
        id="words-without-end",
        serve=drips(stream_head(), event(delta(content="a"))),
        stream=True,
        fault=("timeout", "INFRA.timeout"),
    ),
    Hostile(
        id="silence-in-the-middle",
        serve=sends(stream_head() + event(delta(content="Pa")), then="hang"),
        stream=True,
        fault=("timeout", "INFRA.timeout"),
        says="1 events",
    ),
    Hostile(
        id="length-never-filled",
        serve=sends(b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n{", then="hang"),
        fault=("timeout", "INFRA.timeout"),
    ),
)

BREAKS = (
    Hostile(id="closes-without-a-word", serve=sends(), fault=("reset", "INFRA.reset"), says="before the answer began"),
    Hostile(id="resets-at-once", serve=sends(then="reset"), fault=("reset", "INFRA.reset")),
    Hostile(id="half-headers", serve=sends(b"HTTP/1.1 200 OK\r\nContent-Ty"), fault=("reset", "INFRA.reset")),
    Hostile(
        id="body-shorter-than-its-length",
        serve=sends(b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n" + GOOD_BODY.encode()),
        fault=("reset", "INFRA.reset"),
        says="bytes of the body",
    ),
    Hostile(
        id="body-longer-than-its-length",
        serve=sends(b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n" + GOOD_BODY.encode()),
        fault=("malformed", "PROTO.json"),
    ),
    Hostile(
        id="reset-in-the-body",
        serve=sends(b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n{", then="reset"),
        fault=("reset", "INFRA.reset"),
    ),
    Hostile(
        id="chunked-stream-cut",
        serve=sends(chunked(event(delta(content="Pa")), end=False)),
        stream=True,
        fault=("reset", "INFRA.reset"),
        says="1 events",
    ),
    Hostile(
        id="chunked-stream-cut-after-done",
        serve=sends(chunked(GOOD_STREAM, end=False)),
        stream=True,
        notes=("PROTO.sse",),
    ),
    Hostile(
        id="chunked-garbage",
        serve=sends(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n"),
        fault=("malformed", "PROTO.json"),
        says="not HTTP",
    ),
    Hostile(id="not-http", serve=sends(b"220 smtp.example ESMTP\r\n"), fault=("malformed", "PROTO.json"), says="does not speak HTTP"),
    Hostile(id="tls-alert", serve=sends(b"\x15\x03\x01\x00\x02\x02\x46"), fault=("tls", "INFRA.tls"), says="https://"),
    Hostile(
        id="gzip-that-is-none",
        serve=sends(response(b"plain", headers="Content-Encoding: gzip\r\n")),
        fault=("malformed", "PROTO.json"),
        says="Content-Encoding",
    ),
)

BODIES = (
    Hostile(id="gzip", serve=sends(response(gzip.compress(GOOD_BODY.encode()), headers="Content-Encoding: gzip\r\n"))),
    Hostile(
        id="html",
        serve=sends(response("<!DOCTYPE html><title>Welcome</title>", kind="text/html")),
        fault=("malformed", "PROTO.json"),
        says="HTML",
    ),
    Hostile(id="html-for-a-stream", serve=sends(response("<html>hi</html>")), stream=True, fault=("malformed", "PROTO.json"), says="HTML"),
    Hostile(id="empty", serve=sends(response("")), fault=("malformed", "PROTO.json"), says="empty body"),
    Hostile(id="empty-stream", serve=sends(stream_head()), stream=True, fault=("malformed", "PROTO.sse"), says="empty stream"),
    Hostile(id="no-content", serve=sends(b"HTTP/1.1 204 No Content\r\n\r\n"), fault=("malformed", "PROTO.json"), says="empty body"),
    Hostile(id="binary", serve=sends(response(bytes(range(256)))), fault=("malformed", "PROTO.json")),
    Hostile(id="binary-for-a-stream", serve=sends(response(bytes(range(128, 256)))), stream=True, fault=("malformed", "PROTO.sse")),
    Hostile(id="null", serve=sends(response("null")), fault=("malformed", "PROTO.json"), says="not an object"),
    Hostile(id="a-number", serve=sends(response("7")), fault=("malformed", "PROTO.json"), says="not an object"),
    Hostile(id="another-api", serve=sends(response('{"status": "ok"}')), fault=("malformed", "PROTO.json"), says="without choices"),
    Hostile(id="no-choices", serve=sends(response('{"choices": []}')), fault=("malformed", "PROTO.json"), says="no choices"),
    Hostile(id="null-choice", serve=sends(response('{"choices": [null]}')), fault=("malformed", "PROTO.json"), says="no message"),
    Hostile(
        id="legacy-completion", serve=sends(response('{"choices": [{"text": "x"}]}')), fault=("malformed", "PROTO.json"), says="no message"
    ),
    Hostile(id="half-json", serve=sends(response(GOOD_BODY[:40])), fault=("malformed", "PROTO.json"), says="no JSON"),
    Hostile(id="deep-json", serve=sends(response("[" * 100_000)), fault=("malformed", "PROTO.json"), says="nested"),
    Hostile(
        id="deep-extra",
        serve=sends(response('{"choices":[],"x":' + "[" * 500 + "]" * 500 + "}")),
        fault=("malformed", "PROTO.json"),
        says="nested",
    ),
    Hostile(id="endless-number", serve=sends(response('{"choices": ' + "9" * 5000 + "}")), fault=("malformed", "PROTO.json")),
    Hostile(
        id="error-with-200", serve=sends(response(json.dumps(ERROR))), fault=("malformed", "PROTO.json"), says="EngineCore encountered"
    ),
    Hostile(
        id="not-utf-8", serve=sends(response(GOOD_BODY.encode().replace(b"Paris", b"Par\xe9"))), notes=("PROTO.json",), content="Par\ufffd"
    ),
    Hostile(id="byte-order-mark", serve=sends(response(b"\xef\xbb\xbf" + GOOD_BODY.encode()))),
    Hostile(id="stream-unasked", serve=sends(stream_head() + GOOD_STREAM), notes=("PROTO.sse",)),
    Hostile(id="body-for-a-stream", serve=sends(response(GOOD_BODY)), stream=True, notes=("PROTO.sse",)),
)

STREAMS = (
    Hostile(id="bare-carriage-returns", serve=sends(stream_head() + GOOD_STREAM.replace(b"\n", b"\r")), stream=True),
    Hostile(id="no-done", serve=sends(stream_head() + GOOD_STREAM.removesuffix(DONE)), stream=True, notes=("PROTO.done",)),
    Hostile(id="no-finish", serve=sends(stream_head() + event(delta(content="Paris")) + DONE), stream=True, notes=("PROTO.truncated",)),
    Hostile(id="words-after-done", serve=sends(stream_head() + GOOD_STREAM + event(delta(content="!"))), stream=True, notes=("PROTO.sse",)),
    Hostile(id="done-alone", serve=sends(stream_head() + DONE), stream=True, fault=("malformed", "PROTO.sse")),
    Hostile(id="comments-alone", serve=sends(stream_head() + b": ping\n\n" * 3), stream=True, fault=("malformed", "PROTO.sse")),
    Hostile(
        id="error-in-the-stream",
        serve=sends(stream_head() + event(delta(content="Pa")) + event(ERROR) + DONE),
        stream=True,
        fault=("server_error", "INFRA.5xx"),
        says="EngineCore encountered an issue (500)",
    ),
    Hostile(
        id="error-event",
        serve=sends(stream_head() + b'event: error\ndata: {"message": "out of memory"}\n\n'),
        stream=True,
        fault=("server_error", "INFRA.5xx"),
        says="out of memory",
    ),
    Hostile(
        id="error-event-of-words",
        serve=sends(stream_head() + b"event: error\ndata: out of memory\n\n"),
        stream=True,
        fault=("server_error", "INFRA.5xx"),
        says="out of memory",
    ),
    Hostile(
        id="error-without-data-field",
        serve=sends(stream_head() + event(delta(content="Pa")) + json.dumps(ERROR).encode() + b"\n"),
        stream=True,
        fault=("server_error", "INFRA.5xx"),
        says="EngineCore",
    ),
    Hostile(
        id="refusal-in-the-stream",
        serve=sends(stream_head() + event({"error": {"message": "prompt too long", "code": 400}})),
        stream=True,
        fault=("refused", "PROTO.refused"),
        says="prompt too long",
    ),
    Hostile(id="an-event-of-garbage", serve=sends(stream_head() + b"data: {oops\n\n" + GOOD_STREAM), stream=True, notes=("PROTO.sse",)),
    Hostile(
        id="chunks-of-numbers", serve=sends(stream_head() + b"data: 7\n\ndata: null\n\n" + GOOD_STREAM), stream=True, notes=("PROTO.sse",)
    ),
    Hostile(id="not-utf-8-in-the-stream", serve=sends(stream_head() + b": \xff\n\n" + GOOD_STREAM), stream=True, notes=("PROTO.sse",)),
    Hostile(id="stray-line", serve=sends(stream_head() + b"Content-Type: x\n" + GOOD_STREAM), stream=True, notes=("PROTO.sse",)),
)

STATUSES = (
    Hostile(
        id="redirect-loop",
        serve=sends(b"HTTP/1.1 307 Temporary Redirect\r\nLocation: /v1/chat/completions?token=s3cret\r\nContent-Length: 0\r\n\r\n"),
        fault=("not_found", "INFRA.path"),
        says="redirected to /v1/chat/completions;",
    ),
    Hostile(
        id="redirect-to-nowhere",
        serve=sends(b"HTTP/1.1 302 Found\r\nLocation: http://[::bad\r\nContent-Length: 0\r\n\r\n"),
        fault=("not_found", "INFRA.path"),
    ),
    Hostile(
        id="redirect-without-location", serve=sends(b"HTTP/1.1 301 Moved\r\nContent-Length: 0\r\n\r\n"), fault=("not_found", "INFRA.path")
    ),
    Hostile(
        id="error-body-cut",
        serve=sends(b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 999\r\n\r\nboom"),
        fault=("server_error", "INFRA.5xx"),
        says="boom",
    ),
)

TABLE = (*TIMEOUTS, *BREAKS, *BODIES, *STREAMS, *STATUSES)
