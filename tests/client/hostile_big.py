"""Hostile servers that send more than anybody can hold."""

from __future__ import annotations

import functools
import gzip
import json
import zlib
from collections.abc import Callable, Iterator

from tests.client.raw_server import Serve, Talk, delta, event, response, stream_head

MIB = 1 << 20
BEYOND = 200
"""MiB that are offered; nobody who reads them all stays below 500."""


def pours(head: bytes, data: bytes, *, mib: int = BEYOND, end: bytes = b"") -> Serve:
    """The same bytes again and again."""
    block = data * max(1, MIB // len(data))

    def serve(talk: Talk) -> None:
        talk.send(head)
        for _ in range(mib * MIB // len(block)):
            talk.send(block)
        talk.send(end)

    return serve


def made(head: bytes, pieces: Callable[[], Iterator[bytes]]) -> Serve:
    """Bytes that differ each time."""

    def serve(talk: Talk) -> None:
        talk.send(head)
        for piece in pieces():
            talk.send(piece)

    return serve


@functools.cache
def zipped(times: int, mib: int, data: bytes = b"\0") -> bytes:
    """`mib` of one byte, compressed again and again."""
    packer = zlib.compressobj(1, wbits=zlib.MAX_WBITS | 16)
    block = data * (MIB // len(data))
    packed = b"".join(packer.compress(block) for _ in range(mib)) + packer.flush()
    for _ in range(times - 1):
        packed = gzip.compress(packed)
    return packed


def document(body: str | bytes) -> Serve:
    return lambda talk: talk.send(response(body))


def calls(count: int) -> Iterator[bytes]:
    for at in range(count):
        yield event(delta(tool_calls=[{"index": at, "id": f"c{at}", "function": {"name": "f", "arguments": "{"}}]))


def two_minds(count: int) -> Iterator[bytes]:
    """One index, another id each time, and arguments that are never whole."""
    for at in range(count):
        yield event(delta(tool_calls=[{"index": 0, "id": f"c{at}", "function": {"name": "f", "arguments": "[1," * 100}}]))


def new_fields(count: int) -> Iterator[bytes]:
    for at in range(count):
        yield event({"choices": [{"index": 0, "delta": {}, f"field{at}": at}], f"other{at}": at})


HEAD = b"HTTP/1.1 200 OK\r\n\r\n"
GZIP = "Content-Encoding: gzip\r\n"

STREAMS: dict[str, tuple[Serve, str]] = {
    "line of 200 MB": (pours(stream_head() + b"data: ", b"a"), "PROTO.sse"),
    "event of 200 MB in many lines": (pours(stream_head(), b"data: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n"), "PROTO.sse"),
    "empty events": (pours(stream_head(), b"data: \n\n"), "PROTO.sse"),
    "comments": (pours(stream_head(), b": " + b"ping " * 40 + b"\n\n"), "PROTO.sse"),
    "blank lines": (pours(stream_head(), b"\n"), "PROTO.json"),
    "words without end": (pours(stream_head(), event(delta(content="word " * 50))), "PROTO.sse"),
    "words of one letter": (pours(stream_head(), event(delta(content="a"))), "PROTO.sse"),
    "signs of four bytes": (
        pours(stream_head(), f'data: {{"choices":[{{"delta":{{"content":"{"😀" * 1000}"}}}}]}}\n\n'.encode()),
        "PROTO.sse",
    ),
    "strays": (pours(stream_head(), b"x" * 4000 + b"\n"), "PROTO.sse"),
    "events of garbage": (pours(stream_head(), b"data: {oops" + b"x" * 300 + b"\n\n"), "PROTO.sse"),
    "a new call each time": (made(stream_head(), lambda: calls(20_000)), ""),
    "a new id each time": (made(stream_head(), lambda: two_minds(30_000)), "PROTO.sse"),
    "a new field each time": (made(stream_head(), lambda: new_fields(40_000)), ""),
    "gzip bomb in a stream": (lambda talk: talk.send(stream_head(GZIP) + zipped(1, 100, b"data: \n\n")), "PROTO.sse"),
}

BODIES: dict[str, tuple[Serve, str]] = {
    "body of 200 MB": (pours(HEAD, b'{"a":1}'), "PROTO.json"),
    "body of spaces": (pours(HEAD, b" "), "PROTO.json"),
    "string of 200 MB": (pours(HEAD + b'{"choices":"', b"a"), "PROTO.json"),
    "lists without end": (document("[" + "[]," * 5_000_000 + "[]]"), "PROTO.json"),
    "objects without end": (document("[" + '{"a":1},' * 1_900_000 + "{}]"), "PROTO.json"),
    "numbers without end": (document("[" + "0," * 7_000_000 + "0]"), "PROTO.json"),
    "keys without end": (document("{" + ",".join(f'"k{at}":0' for at in range(1_000_000)) + "}"), "PROTO.json"),
    "just enough keys": (document("{" + ",".join(f'"k{at}":0' for at in range(900_000)) + "}"), "PROTO.json"),
    "words of 12 MB": (document(json.dumps({"choices": [{"message": {"content": "Paris. " * 1_700_000}, "finish_reason": "stop"}]})), ""),
    "escapes of 15 MB": (document('{"choices":[{"message":{"content":"' + "\\u00e9" * 2_500_000 + '"},"finish_reason":"stop"}]}'), ""),
    "gzip bomb": (lambda talk: talk.send(response(zipped(1, 600), headers=GZIP)), "PROTO.json"),
    "gzip bomb of bombs": (lambda talk: talk.send(response(zipped(2, 600), headers="Content-Encoding: gzip, gzip\r\n")), "PROTO.json"),
    "error of 200 MB": (pours(b"HTTP/1.1 500 Down\r\n\r\n", b"<p>sorry</p>"), "INFRA.5xx"),
    "headers without end": (pours(b"HTTP/1.1 200 OK\r\n", b"X-A: " + b"b" * 100 + b"\r\n"), "PROTO.json"),
}

PAGES: dict[str, Serve] = {
    "page of 200 MB": pours(HEAD, b'{"data":[]}'),
    "page that is a gzip bomb": lambda talk: talk.send(response(zipped(1, 600), headers=GZIP)),
}
