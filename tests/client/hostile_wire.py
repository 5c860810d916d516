"""More hostile servers: heads, codings, transfer, JSON and events that break one rule each."""

from __future__ import annotations

import gzip
import json
import zlib

from tests.client.hostile import GOOD_BODY, Hostile, drips, sends
from tests.client.raw_server import DONE, GOOD_STREAM, Serve, Talk, chunked, completion, delta, event, response, stream_head

OK = b"HTTP/1.1 200 OK\r\n"
LENGTH = f"Content-Length: {len(GOOD_BODY)}\r\n".encode()
GOOD = GOOD_BODY.encode()


def a_body(**changes: object) -> bytes:
    """A completion with some of its fields replaced."""
    return response(json.dumps({**completion(), **changes}))


def a_message(**fields: object) -> bytes:
    return response(json.dumps(completion(**fields)))


def a_stream(*chunks: object) -> bytes:
    return stream_head() + b"".join(event(chunk) for chunk in chunks) + event(delta("stop")) + DONE


def raw(text: str) -> bytes:
    return response(text)


def after(head: bytes, data: bytes) -> Serve:
    """A head, and then something without end and without a pause."""

    def serve(talk: Talk) -> None:
        talk.send(head)
        while not talk.gone.is_set():
            talk.send(data)

    return serve


def bare_deflate(data: bytes) -> bytes:
    """Without the header of RFC 1950."""
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


HEADS = (
    Hostile(
        id="header-of-a-megabyte",
        serve=sends(OK + b"X: " + b"a" * (1 << 20) + b"\r\n" + LENGTH + b"\r\n" + GOOD),
        fault=("malformed", "PROTO.json"),
    ),
    Hostile(id="ten-thousand-headers", serve=sends(OK + b"X: a\r\n" * 10_000 + LENGTH + b"\r\n" + GOOD)),
    Hostile(id="header-without-colon", serve=sends(OK + b"nonsense\r\n" + LENGTH + b"\r\n" + GOOD), fault=("malformed", "PROTO.json")),
    Hostile(id="header-with-nul", serve=sends(OK + b"X: a\0b\r\n" + LENGTH + b"\r\n" + GOOD), fault=("malformed", "PROTO.json")),
    Hostile(id="header-not-ascii", serve=sends(OK + b"X: \xff\xfe\xc3\x28\r\n" + LENGTH + b"\r\n" + GOOD)),
    Hostile(id="header-with-ansi", serve=sends(OK + b"X: \x1b[2J\x1b]0;owned\x07\r\n" + LENGTH + b"\r\n" + GOOD)),
    Hostile(id="status-of-letters", serve=sends(b"HTTP/1.1 abc OK\r\n\r\n"), fault=("malformed", "PROTO.json")),
    Hostile(id="status-000", serve=sends(b"HTTP/1.1 000 Nothing\r\nContent-Length: 0\r\n\r\n"), fault=("malformed", "PROTO.json")),
    Hostile(id="status-999", serve=sends(b"HTTP/1.1 999 Beyond\r\nContent-Length: 0\r\n\r\n"), fault=("server_error", "INFRA.5xx")),
    Hostile(
        id="status-with-ansi",
        serve=sends(b"HTTP/1.1 500 \x1b[31mred\r\nContent-Length: 4\r\n\r\nboom"),
        fault=("server_error", "INFRA.5xx"),
    ),
    Hostile(id="http-2", serve=sends(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), fault=("malformed", "PROTO.json")),
    Hostile(id="http-0.9", serve=sends(GOOD), fault=("malformed", "PROTO.json")),
    Hostile(
        id="switching-protocols",
        serve=sends(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"),
        fault=("malformed", "PROTO.json"),
    ),
    Hostile(id="fifty-early-hints", serve=sends(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" * 50 + response(GOOD_BODY))),
    Hostile(
        id="continue-for-ever", serve=after(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100), fault=("timeout", "INFRA.timeout"), timeout_s=0.3
    ),
    Hostile(id="two-lengths", serve=sends(OK + b"Content-Length: 3\r\n" + LENGTH + b"\r\n" + GOOD), fault=("malformed", "PROTO.json")),
    Hostile(id="length-negative", serve=sends(OK + b"Content-Length: -5\r\n\r\n" + GOOD), fault=("malformed", "PROTO.json")),
    Hostile(id="length-of-letters", serve=sends(OK + b"Content-Length: many\r\n\r\n" + GOOD), fault=("malformed", "PROTO.json")),
    Hostile(
        id="length-beyond-count", serve=sends(OK + b"Content-Length: 1" + b"0" * 30 + b"\r\n\r\n" + GOOD), fault=("malformed", "PROTO.json")
    ),
    Hostile(
        id="length-and-chunks",
        serve=sends(OK + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n" + b"%x\r\n%s\r\n0\r\n\r\n" % (len(GOOD), GOOD)),
    ),
    Hostile(id="unknown-transfer", serve=sends(OK + b"Transfer-Encoding: smoke-signals\r\n\r\n" + GOOD), fault=("malformed", "PROTO.json")),
    Hostile(
        id="chunk-beyond-count",
        serve=sends(OK + b"Transfer-Encoding: chunked\r\n\r\n" + b"f" * 40 + b"\r\n" + GOOD),
        fault=("malformed", "PROTO.json"),
    ),
    Hostile(id="chunk-negative", serve=sends(OK + b"Transfer-Encoding: chunked\r\n\r\n-5\r\n" + GOOD), fault=("malformed", "PROTO.json")),
    Hostile(
        id="chunk-extension-of-a-megabyte",
        serve=sends(OK + b"Transfer-Encoding: chunked\r\n\r\n5;" + b"x" * (1 << 20) + b"\r\nhello\r\n0\r\n\r\n"),
        fault=("malformed", "PROTO.json"),
    ),
    Hostile(
        id="trailers",
        serve=sends(OK + b"Transfer-Encoding: chunked\r\n\r\n" + b"%x\r\n%s\r\n0\r\n" % (len(GOOD), GOOD) + b"X: a\r\n" * 50 + b"\r\n"),
    ),
    Hostile(
        id="trailers-for-ever",
        serve=drips(OK + b"Transfer-Encoding: chunked\r\n\r\n" + b"%x\r\n%s\r\n0\r\n" % (len(GOOD), GOOD), b"X: a\r\n"),
        fault=("timeout", "INFRA.timeout"),
        timeout_s=0.3,
    ),
    Hostile(id="a-byte-a-chunk", serve=sends(chunked(*(GOOD_STREAM[i : i + 1] for i in range(len(GOOD_STREAM))))), stream=True),
    Hostile(
        id="pings-after-done-for-ever",
        serve=drips(stream_head() + GOOD_STREAM, b": ping\n\n"),
        stream=True,
        notes=("PROTO.sse",),
        timeout_s=0.5,
    ),
)

CODINGS = (
    Hostile(
        id="brotli-unasked",
        serve=sends(response(b"\x0b\x02\x80hello\x03", headers="Content-Encoding: br\r\n")),
        fault=("malformed", "PROTO.json"),
    ),
    Hostile(
        id="zstd-unasked", serve=sends(response(b"(\xb5/\xfd", headers="Content-Encoding: zstd\r\n")), fault=("malformed", "PROTO.json")
    ),
    Hostile(
        id="gzip-in-gzip",
        serve=sends(response(gzip.compress(gzip.compress(GOOD)), headers="Content-Encoding: gzip, gzip\r\n")),
        fault=("malformed", "PROTO.json"),
    ),
    Hostile(
        id="coding-of-letters",
        serve=sends(response(GOOD, headers="Content-Encoding: \x1b[31mrot13\r\n")),
        fault=("malformed", "PROTO.json"),
    ),
    Hostile(id="deflate", serve=sends(response(zlib.compress(GOOD), headers="Content-Encoding: deflate\r\n"))),
    Hostile(id="deflate-bare", serve=sends(response(bare_deflate(GOOD), headers="Content-Encoding: deflate\r\n"))),
    Hostile(
        id="gzip-cut",
        serve=sends(response(gzip.compress(GOOD)[:-20], headers="Content-Encoding: gzip\r\n")),
        fault=("malformed", "PROTO.json"),
    ),
    Hostile(id="gzip-stream", serve=sends(stream_head("Content-Encoding: gzip\r\n") + gzip.compress(GOOD_STREAM)), stream=True),
    Hostile(id="gzip-and-rubbish", serve=sends(response(gzip.compress(GOOD) + b"rubbish", headers="Content-Encoding: gzip\r\n"))),
)

DOCUMENTS = (
    Hostile(id="doubled-keys", serve=sends(raw(GOOD_BODY[:-1] + ', "choices": 5}')), fault=("malformed", "PROTO.json")),
    Hostile(
        id="count-beyond-floats",
        serve=sends(raw(GOOD_BODY.replace('"completion_tokens": 1', '"completion_tokens": 1e999'))),
        notes=("PROTO.json",),
    ),
    Hostile(id="count-negative", serve=sends(a_body(usage={"prompt_tokens": -3, "completion_tokens": -1, "total_tokens": -4}))),
    Hostile(
        id="count-of-letters",
        serve=sends(a_body(usage={"prompt_tokens": "many", "completion_tokens": [], "total_tokens": {}})),
        notes=("PROTO.usage",),
    ),
    Hostile(id="usage-a-list", serve=sends(a_body(usage=[1, 2])), notes=("PROTO.usage",)),
    Hostile(
        id="count-beyond-words",
        serve=sends(a_body(usage={"prompt_tokens": 10**300, "completion_tokens": 10**300, "total_tokens": 1})),
        notes=("PROTO.usage",),
    ),
    Hostile(id="not-a-number", serve=sends(raw(GOOD_BODY[:-1] + ', "x": NaN, "y": -Infinity}')), notes=("PROTO.json",)),
    Hostile(id="lone-surrogates", serve=sends(raw(GOOD_BODY.replace("Paris", "\\ud800 \\udfff"))), content="\ud800 \udfff"),
    Hostile(
        id="ansi-in-the-words", serve=sends(a_message(content="\x1b[2J\x1b]0;owned\x07\x9b31m")), content="\x1b[2J\x1b]0;owned\x07\x9b31m"
    ),
    Hostile(
        id="html-in-the-words",
        serve=sends(a_message(content="</details><script>alert(1)</script>|`x`")),
        content="</details><script>alert(1)</script>|`x`",
    ),
    Hostile(id="nul-in-the-words", serve=sends(a_message(content="Pa\0ris")), content="Pa\x00ris"),
    Hostile(id="model-with-controls", serve=sends(a_body(model="\x1b[31mred\r\n::error::x"))),
    Hostile(id="ids-of-all-kinds", serve=sends(a_body(id=[1], model={"a": 1}, system_fingerprint=7))),
    Hostile(id="choices-an-object", serve=sends(a_body(choices={"0": {}})), fault=("malformed", "PROTO.json")),
    Hostile(id="choice-a-list", serve=sends(a_body(choices=[[{}]])), fault=("malformed", "PROTO.json")),
    Hostile(
        id="choice-index-far-away",
        serve=sends(a_body(choices=[{"index": 10**12, "message": {"content": "Paris"}, "finish_reason": "stop"}])),
        fault=("malformed", "PROTO.json"),
    ),
    Hostile(
        id="ten-thousand-choices",
        serve=sends(a_body(choices=[{"index": i, "message": {"content": "x"}, "finish_reason": "stop"} for i in range(10_000)])),
        content="x",
    ),
    Hostile(
        id="message-a-string",
        serve=sends(a_body(choices=[{"index": 0, "message": "Paris", "finish_reason": "stop"}])),
        fault=("malformed", "PROTO.json"),
    ),
    Hostile(id="content-a-number", serve=sends(a_message(content=7)), content="7", notes=("PROTO.json",)),
    Hostile(id="content-parts", serve=sends(a_message(content=[{"type": "text", "text": "Pa"}, "ris", 7, None])), notes=("PROTO.json",)),
    Hostile(
        id="finish-a-list",
        serve=sends(a_body(choices=[{"index": 0, "message": {"content": "Paris"}, "finish_reason": ["stop"]}])),
        notes=("PROTO.finish",),
    ),
    Hostile(
        id="finish-made-up", serve=sends(a_body(choices=[{"index": 0, "message": {"content": "Paris"}, "finish_reason": "\x1b[31mfine"}]))
    ),
    Hostile(id="calls-a-string", serve=sends(a_message(tool_calls="get_weather()")), notes=("TOOL.wire",)),
    Hostile(
        id="calls-of-all-kinds",
        serve=sends(a_message(tool_calls=[None, 7, {}, {"function": 7}, {"id": 5, "function": {"name": [], "arguments": {"a": 1}}}])),
        notes=("TOOL.wire", "TOOL.id"),
    ),
    Hostile(
        id="five-thousand-calls",
        serve=sends(
            a_message(tool_calls=[{"id": str(i), "type": "function", "function": {"name": "f", "arguments": "{}"}} for i in range(5000)])
        ),
        notes=("TOOL.wire",),
    ),
    Hostile(
        id="logprobs-of-all-kinds",
        serve=sends(
            a_body(
                choices=[
                    {
                        "index": 0,
                        "message": {"content": "Paris"},
                        "finish_reason": "stop",
                        "logprobs": {"content": [{"token": 5, "logprob": "x", "top_logprobs": 7}, {}]},
                    }
                ]
            )
        ),
    ),
    Hostile(
        id="logprobs-a-number",
        serve=sends(a_body(choices=[{"index": 0, "message": {"content": "Paris"}, "finish_reason": "stop", "logprobs": 5}])),
        notes=("PROTO.json",),
    ),
    Hostile(id="utf-16", serve=sends(response(GOOD_BODY.encode("utf-16"))), fault=("malformed", "PROTO.json")),
    Hostile(id="utf-32", serve=sends(response(GOOD_BODY.encode("utf-32"))), fault=("malformed", "PROTO.json")),
    Hostile(id="two-documents", serve=sends(raw(GOOD_BODY + GOOD_BODY)), fault=("malformed", "PROTO.json")),
    Hostile(id="python-repr", serve=sends(raw(str(completion()))), fault=("malformed", "PROTO.json")),
    Hostile(
        id="error-a-list",
        serve=sends(response(json.dumps({"error": [["deep", {"message": 5}]]}), status="400 Bad Request")),
        fault=("refused", "PROTO.refused"),
    ),
    Hostile(
        id="error-of-html",
        serve=sends(
            response(
                "<html><script>" + "x" * 100_000 + "</script><title>\x1b[31mdown\x07</title>", status="502 Bad Gateway", kind="text/html"
            )
        ),
        fault=("server_error", "INFRA.5xx"),
    ),
    Hostile(
        id="error-of-bytes",
        serve=sends(response(bytes(range(256)) * 100, status="500 Internal Server Error")),
        fault=("server_error", "INFRA.5xx"),
    ),
    Hostile(
        id="redirect-of-script",
        serve=sends(b"HTTP/1.1 308 Permanent Redirect\r\nLocation: javascript:alert(1)\r\nContent-Length: 0\r\n\r\n"),
        fault=("not_found", "INFRA.path"),
    ),
    Hostile(
        id="redirect-with-controls",
        serve=sends(b"HTTP/1.1 302 Found\r\nLocation: /\x1b[31m\xff\r\nContent-Length: 0\r\n\r\n"),
        fault=("not_found", "INFRA.path"),
    ),
    Hostile(
        id="unauthorised-with-controls",
        serve=sends(b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: \x1b[31m\r\nContent-Length: 6\r\n\r\n\x1b]0;a\x07"),
        fault=("auth", "INFRA.auth"),
    ),
)

EVENTS = (
    Hostile(
        id="deltas-of-all-kinds",
        serve=sends(
            a_stream({"choices": [{"delta": 5}]}, {"choices": [{"delta": [1]}]}, {"choices": [5]}, {"choices": 7}, delta(content="Paris"))
        ),
        stream=True,
        notes=("PROTO.sse",),
    ),
    Hostile(
        id="deltas-of-all-types",
        serve=sends(a_stream(delta(content=5), delta(content={"a": 1}), delta(content=["Pa"]), delta(reasoning_content=7))),
        stream=True,
        content='5{"a": 1}Pa',
        notes=("PROTO.json",),
    ),
    Hostile(id="two-finishes", serve=sends(a_stream(delta("length"), delta(content="Paris"))), stream=True, notes=("PROTO.finish",)),
    Hostile(id="done-first", serve=sends(stream_head() + DONE + GOOD_STREAM), stream=True, fault=("malformed", "PROTO.sse")),
    Hostile(id="events-of-other-names", serve=sends(stream_head() + b"event: ping\ndata: {}\n\n" + GOOD_STREAM), stream=True),
    Hostile(id="retry-beyond-count", serve=sends(stream_head() + b"retry: " + b"9" * 5000 + b"\n\n" + GOOD_STREAM), stream=True),
    Hostile(id="id-with-nul", serve=sends(stream_head() + b"id: a\0b\n" + GOOD_STREAM), stream=True),
    Hostile(
        id="an-event-in-many-lines",
        serve=sends(
            stream_head()
            + b"".join(b"data: " + line + b"\n" for line in json.dumps(delta(content="Paris"), indent=1).encode().split(b"\n"))
            + b"\n"
            + event(delta("stop"))
            + DONE
        ),
        stream=True,
    ),
    Hostile(
        id="a-deep-event", serve=sends(stream_head() + b"data: " + b"[" * 50_000 + b"\n\n" + GOOD_STREAM), stream=True, notes=("PROTO.sse",)
    ),
    Hostile(
        id="number-beyond-floats-in-an-event",
        serve=sends(stream_head() + b'data: {"choices": [], "x": 1e999}\n\n' + GOOD_STREAM),
        stream=True,
        notes=("PROTO.json",),
    ),
    Hostile(
        id="surrogates-in-events",
        serve=sends(a_stream(delta(content="\ud83d"), delta(content="\ude00"))),
        stream=True,
        content="\U0001f600",
        notes=("PROTO.sse",),
    ),
    Hostile(
        id="call-indices-of-all-kinds",
        serve=sends(
            a_stream(
                *(
                    delta(tool_calls=[{"index": i, "id": "a", "function": {"name": "f", "arguments": "{}"}}])
                    for i in (-1, 2**70, 1.5, "3", "x", None, True)
                )
            )
        ),
        stream=True,
        content=None,
        notes=("TOOL.wire",),
    ),
    Hostile(
        id="usage-falls",
        serve=sends(
            a_stream(
                {"choices": [], "usage": {"completion_tokens": 9}},
                {"choices": [], "usage": {"completion_tokens": 2}},
                delta(content="Paris"),
            )
        ),
        stream=True,
        notes=("PROTO.usage",),
    ),
    Hostile(
        id="bytes-cut-inside-a-sign",
        serve=sends(stream_head() + event(delta(content="x")).replace(b'"x"', b'"\xf0\x9f"') + GOOD_STREAM),
        stream=True,
        content="\ufffdParis",
        notes=("PROTO.sse",),
    ),
    Hostile(id="ansi-in-events", serve=sends(stream_head() + b"\x1b[2J: x\n" + GOOD_STREAM), stream=True, notes=("PROTO.sse",)),
    Hostile(
        id="html-error-in-the-stream",
        serve=sends(stream_head() + event(delta(content="Pa")) + b"<html><title>502</title></html>\n"),
        stream=True,
        content="Pa",
        notes=("PROTO.sse", "PROTO.truncated", "PROTO.done"),
    ),
)

MORE = (*HEADS, *CODINGS, *DOCUMENTS, *EVENTS)
