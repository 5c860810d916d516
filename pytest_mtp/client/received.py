"""The bytes of one answer as they come: told apart by their looks, stamped, and bounded."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_mtp.client.flight import Flight
from pytest_mtp.client.sse import SseEvent, SseOverflowError, SseReader

LINGER_S = 5.0  # after [DONE] or an error, the body has this long to end
MAX_DOCUMENT = 16 << 20
"""Of a body that is one JSON document: it is kept whole, parsed, and written as evidence, each many times its size at worst."""

MAX_EVENTS = 250_000
"""Of a stream; twice what 128,000 tokens take one by one."""

_HEAD, _TAIL = 192 << 10, 64 << 10
_FIELDS = (b"data:", b"event:", b"id:", b"retry:", b":")


class Received:
    """`streamed` is decided by the first bytes that are no space, not by what was asked for or promised.

    An event stream cannot begin with a brace, a bracket or a `<`, and no JSON begins like a field of one.
    """

    def __init__(self, flight: Flight, *, asked_stream: bool, max_body: int) -> None:
        """`max_body` bounds the whole body in bytes; one that is no stream is bounded by `MAX_DOCUMENT` too."""
        self.flight, self.asked_stream, self.max_body = flight, asked_stream, max_body
        self.status = 0
        self.headers: Mapping[str, str] = {}
        self.headers_ns: int | None = None
        self.size = 0
        self.streamed: bool | None = None
        self.events: list[SseEvent] = []
        self.reader = SseReader()
        self.done = False
        self._failed = False
        self._body = bytearray()
        self._cut = 0

    @property
    def over(self) -> bool:
        """[DONE] or an error object came, so that nothing more is waited for."""
        return self.done or self._failed

    @property
    def body(self) -> str:
        """What came, as text; the middle of a long stream is left out."""
        if not self._cut:
            return self._body.decode(errors="replace")
        head, tail = self._body[:_HEAD], self._body[_HEAD:]
        return f"{head.decode(errors='replace')}\n… {self._cut} bytes left out …\n{tail.decode(errors='replace')}"

    @property
    def first_bad_byte(self) -> int | None:
        """Where the body stops being UTF-8, if it does."""
        try:
            self._body.decode()
        except UnicodeDecodeError as error:
            return error.start
        return None

    @property
    def told(self) -> str:
        """How far it came, in words."""
        if self.headers_ns is None:
            return "before the answer began"
        return f"after {self.size} bytes of the body" + (f", {len(self.events)} events" if self.events else "")

    def take(self, data: bytes) -> None:
        """Raises SseOverflowError beyond a bound."""
        at_ns = self.flight.clock()
        self.size += len(data)
        bound = self.max_body if self.streamed else min(self.max_body, MAX_DOCUMENT)
        if self.size > bound:
            raise SseOverflowError(f"a body of more than {bound} bytes")
        self._body += data
        if self.streamed is None:
            self.streamed = self._decide()
            data = bytes(self._body)
        if self.streamed:
            self._events(self.reader.feed(data, at_ns))
            if len(self._body) > 4 * (_HEAD + _TAIL):
                self._cut += len(self._body) - _HEAD - _TAIL
                del self._body[_HEAD:-_TAIL]

    def _decide(self) -> bool | None:
        start = bytes(self._body[:64]).removeprefix(b"\xef\xbb\xbf").lstrip()
        if not start:
            return None
        if start[:1] in (b"{", b"[", b"<"):
            return False
        promised = "event-stream" in self.headers.get("content-type", "")
        return self.asked_stream or promised or start.startswith(_FIELDS)

    def _events(self, events: list[SseEvent]) -> None:
        self.events += events
        if len(self.events) > MAX_EVENTS:
            raise SseOverflowError(f"a stream of more than {MAX_EVENTS} events")
        for event in events:
            self.done = self.done or event.data.strip() == "[DONE]"
            self._failed = self._failed or event.event == "error" or event.data.startswith('{"error":{')
        if self.over:
            self.flight.hurry(LINGER_S)

    def close(self) -> None:
        """The end of the body: what stands without its blank line is an event too."""
        self._events(self.reader.close())
