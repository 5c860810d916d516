"""Bytes to server-sent events, whatever the chunking; breaches are noted, never repaired in silence."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_mtp.core.reply import WireNote

MAX_LINE = 16 << 20
_LINE_END = re.compile(rb"\r\n?|\n")
_BOM = b"\xef\xbb\xbf"
_STRAYS_KEPT = 8


class SseOverflowError(ValueError):
    """A line or an event grew beyond the bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SseEvent:
    """One dispatched event; `at_ns` is when the last of its bytes was read.

    `unterminated`: the stream ended before its blank line, so clients that follow the standard never see this event.
    """

    at_ns: int
    data: str
    event: str = ""
    id: str = ""
    unterminated: bool = False


class SseReader:
    """Feed it bytes as they come. Cuts inside a line, a CRLF or a code point make no difference.

    After the stream, `notes` holds the breaches; `strays` the first lines that are no field of the standard (an error
    object without `data:` lands there); `comments` counts keep-alives.
    """

    def __init__(self, *, max_line: int = MAX_LINE) -> None:
        """`max_line` bounds a line and the data of one event, in bytes."""
        self._max_line = max_line
        self._partial = bytearray()
        self._skip_lf = False
        self._at_start = True
        self._data: list[str] = []
        self._data_size = 0
        self._event = ""
        self._id = ""
        self._events: list[SseEvent] = []
        self._at_ns = 0
        self._bad_bytes = 0
        self._first_bad = ""
        self.retry_ms: int | None = None
        self.comments = 0
        self.strays: list[str] = []

    @property
    def notes(self) -> tuple[WireNote, ...]:
        """What was wrong with the bytes so far."""
        if not self._bad_bytes:
            return ()
        lines = "1 line is" if self._bad_bytes == 1 else f"{self._bad_bytes} lines are"
        return (WireNote(code="PROTO.sse", detail=f"{lines} not UTF-8, first at {self._first_bad}"),)

    def feed(self, data: bytes, at_ns: int) -> list[SseEvent]:
        """The events that these bytes complete. Raises SseOverflowError beyond the bound."""
        self._at_ns = at_ns
        if self._skip_lf and data:
            self._skip_lf = False
            if data.startswith(b"\n"):
                data = data[1:]
        start = 0
        for end in _LINE_END.finditer(data):
            self._keep(data[start : end.start()])
            self._end_line()
            start = end.end()
        self._keep(data[start:])
        if data.endswith(b"\r"):
            self._skip_lf = True
        return self._take()

    def close(self) -> list[SseEvent]:
        """The event that the end of the stream left open, marked `unterminated`."""
        if self._partial:
            self._end_line()
        if self._data or self._event:
            self._dispatch(unterminated=True)
        return self._take()

    def _take(self) -> list[SseEvent]:
        events, self._events = self._events, []
        return events

    def _keep(self, piece: bytes) -> None:
        if not piece:
            return
        self._partial += piece
        if len(self._partial) > self._max_line:
            raise SseOverflowError(f"a line of more than {self._max_line} bytes")

    def _end_line(self) -> None:
        raw = bytes(self._partial)
        self._partial.clear()
        if self._at_start:
            self._at_start = False
            raw = raw.removeprefix(_BOM)
        try:
            line = raw.decode()
        except UnicodeDecodeError as error:
            self._bad_bytes += 1
            self._first_bad = self._first_bad or repr(raw[max(0, error.start - 8) : error.end + 8])
            line = raw.decode(errors="replace")
        self._read_line(line)

    def _read_line(self, line: str) -> None:
        if not line:
            if self._data or self._event:
                self._dispatch(unterminated=False)
            return
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        match name:
            case "":
                self.comments += 1
            case "data":
                self._data.append(value)
                self._data_size += len(value) + 1
                if self._data_size > self._max_line:
                    raise SseOverflowError(f"an event of more than {self._max_line} characters")
            case "event":
                self._event = value
            case "id":
                self._id = self._id if "\0" in value else value
            case "retry":
                self.retry_ms = int(value) if re.fullmatch(r"[0-9]{1,12}", value) else self.retry_ms
            case _:
                if len(self.strays) < _STRAYS_KEPT:
                    self.strays.append(line[:4096])

    def _dispatch(self, *, unterminated: bool) -> None:
        self._events.append(
            SseEvent(at_ns=self._at_ns, data="\n".join(self._data), event=self._event, id=self._id, unterminated=unterminated)
        )
        self._data, self._data_size, self._event = [], 0, ""
