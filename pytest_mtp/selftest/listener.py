"""Sockets and HTTP/1.1 for the fake: keep-alive, chunked streams, JSON errors, and nothing that a client sends can end it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any

from pytest_mtp import __version__
from pytest_mtp.selftest.fault_doors import Door
from pytest_mtp.selftest.metrics import exposition
from pytest_mtp.selftest.request import BadRequest, parse
from pytest_mtp.selftest.sockets import Loopback, cut, encode, hung_up
from pytest_mtp.selftest.stage import Visit
from pytest_mtp.selftest.wire import Frame

if TYPE_CHECKING:
    from pytest_mtp.selftest.server import FakeServer

OWNER = "pytest-mtp-fake"
CHAT = "/v1/chat/completions"
_LARGEST_BODY = 32 * 2**20
_ORPHAN_S = 60.0
"""How long an answer that nobody reads goes on: beyond the patience of any probe."""
_GLANCE_S = 0.05
_PLAIN = "text/plain; version=0.0.4; charset=utf-8"


class Listener(Loopback):
    """The fake's own."""

    def __init__(self, port: int, fake: FakeServer) -> None:
        """Listen at once."""
        self.fake = fake
        super().__init__(port, _Handler)


def _taken(seats: threading.BoundedSemaphore | None, held: ExitStack) -> bool:
    """A seat for as long as `held` lives; no limit is always a seat."""
    if seats is None:
        return True
    if not seats.acquire(blocking=False):
        return False
    held.callback(seats.release)
    return True


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Listener

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the name is the parent's
        """Nobody reads an access log of a fake."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """As JSON; the parent calls it for requests that it cannot read."""
        self.close_connection = True
        self._error(int(code), message or explain or HTTPStatus(code).phrase)

    def do_GET(self) -> None:
        if self.headers.get("Content-Length") or self.headers.get("Transfer-Encoding"):
            self.close_connection = True  # a body that nobody reads
        self._guarded(self._get)

    def do_POST(self) -> None:
        self._guarded(self._post)

    def do_HEAD(self) -> None:
        self.send_error(HTTPStatus.METHOD_NOT_ALLOWED)

    do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_HEAD  # noqa: N815  # names of the parent's protocol

    def _guarded(self, act: Any) -> None:
        try:
            act()
        except OSError:  # the client went away
            self.close_connection = True
        except BadRequest as error:
            said = encode({"error": {"message": error.message, "type": error.kind, "code": error.status}}).decode()
            self._turn_away(self.server.fake.refusal(error.status, said))
        except Exception as error:  # noqa: BLE001  # a server answers 500 and lives
            self._error(500, f"{type(error).__name__}: {error}", "internal_error")

    def _get(self) -> None:
        fake, path = self.server.fake, self.path.partition("?")[0]
        if path.startswith("/v1/") and not self._enter(chat=False):
            return
        if path in ("/health", "/v1/health", "/ping"):
            self._send(200, encode({"status": "ok"}))
        elif path == "/v1/models":
            model = {
                "id": fake.alias,
                "object": "model",
                "created": int(fake.created),
                "owned_by": OWNER,
                "max_model_len": fake.context_length,
            }
            self._send(200, encode({"object": "list", "data": [model]}))
        elif path == "/metrics" and fake.dialect.metrics:
            self._send(200, exposition(fake.counters, created=fake.created).encode(), content_type=_PLAIN)
        elif path == "/fake/info":
            speculation = {"enabled": fake.speculation, "method": "mtp" if fake.speculation else None, "depth": fake.depth}
            self._send(
                200,
                encode(
                    {
                        "engine": "fake",
                        "version": __version__,
                        "model": fake.alias,
                        "concurrency": fake.concurrency,
                        "context_length": fake.context_length,
                        "speculation": speculation,
                    }
                ),
            )
        elif path == CHAT:
            self._error(405, "Method Not Allowed", headers={"Allow": "POST"})
        else:
            self._error(404, f"Not Found: {path}", "not_found_error")

    def _post(self) -> None:
        fake, path = self.server.fake, self.path.partition("?")[0]
        raw = self._body()
        if raw is None:
            return
        if path != CHAT:
            self._error(404, f"Not Found: {path}", "not_found_error")
            return
        if not self._enter(chat=True):
            return
        request = parse(raw)
        body = json.loads(raw)
        fake.seen.append(body)
        if body.get("model") not in (None, fake.alias):
            raise BadRequest(f"The model `{body['model']}` does not exist.", status=404, kind="NotFoundError")
        with ExitStack() as held:
            visit = held.enter_context(fake.engine.stage.visit(request))
            door = fake.inner_door(visit)
            if door.action != "enter":
                self._turn_away(door)
            elif not _taken(fake.entrance, held):
                self._error(429, "Too many parallel requests", "rate_limit_error", headers={"Retry-After": "1"})
            elif not _taken(fake.seats, held):
                self._error(503, "All slots are taken", "unavailable_error", headers={"Retry-After": "0"})
            else:
                self._serve(visit)

    def _serve(self, visit: Visit) -> None:
        fake = self.server.fake
        gone = threading.Event()
        with fake.at_work(lambda: gone.is_set() and fake.has("leaks-slots")):
            made = fake.engine.answer(visit)
            step_s = max(fake.step_s, made.slow_s)
            if isinstance(made.content, tuple):
                self._stream(made.content, step_s, gone)
            elif self._waits(step_s * made.steps, gone):
                self._send(200, encode(made.content))

    def _waits(self, seconds: float, gone: threading.Event) -> bool:
        """Generation takes its time, and ends early when nobody is left to read it; False then."""
        fake = self.server.fake
        until = time.monotonic() + seconds
        while not fake.ended.is_set() and (left := until - time.monotonic()) > 0:
            if not gone.is_set() and hung_up(self.connection):
                gone.set()
                if not fake.has("ignores-hang-up"):
                    return False
                until += _ORPHAN_S  # nobody tells it to end, so that it ends with the window
            fake.ended.wait(min(left, _GLANCE_S))
        return not gone.is_set()

    def _body(self) -> bytes | None:
        """The request's body, or None after an error was sent. What is not read cannot be followed by a request."""
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            self.send_error(HTTPStatus.LENGTH_REQUIRED if not length else HTTPStatus.BAD_REQUEST, "a Content-Length is needed")
            return None
        if int(length) > _LARGEST_BODY:
            self.send_error(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body may have {_LARGEST_BODY} bytes")
            return None
        return self.rfile.read(int(length))

    def _enter(self, *, chat: bool) -> bool:
        """False when a fault or a missing key has already dealt with the request."""
        fake = self.server.fake
        if fake.api_key is not None and self.headers.get("Authorization") != f"Bearer {fake.api_key}":
            self._error(401, "Incorrect API key provided", "invalid_api_key", headers={"WWW-Authenticate": "Bearer"})
            return False
        door = fake.door(chat=chat)
        if door.action == "enter":
            return True
        self._turn_away(door)
        return False

    def _turn_away(self, door: Door) -> None:
        fake = self.server.fake
        if door.action == "refuse":
            self._send(door.status, door.body.encode(), content_type=door.content_type, headers=door.headers)
            return
        self.close_connection = True
        if door.action == "die":
            fake.die()
        elif door.action == "hang":
            fake.ended.wait()
        else:
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4096\r\n\r\n{")
            cut(self.connection)

    def _error(self, status: int, message: str, kind: str = "invalid_request_error", headers: Mapping[str, str] | None = None) -> None:
        self._send(status, encode({"error": {"message": message, "type": kind, "code": status}}), headers=headers or {})

    def _send(self, status: int, body: bytes, *, content_type: str = "application/json", headers: Mapping[str, str] | None = None) -> None:
        head = self._head(status, {"Content-Type": content_type, "Content-Length": str(len(body)), **(headers or {})})
        self.wfile.write(head + (b"" if self.command == "HEAD" else body))

    def _head(self, status: int, headers: Mapping[str, str]) -> bytes:
        lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", f"Server: {OWNER}/{__version__}"]
        lines += [f"{name}: {text}" for name, text in headers.items()]
        if self.close_connection:
            lines.append("Connection: close")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")

    def _stream(self, frames: Iterable[Frame], step_s: float, gone: threading.Event) -> None:
        fake = self.server.fake
        dialect, write = fake.dialect, self.wfile.write
        data = b"data: " if dialect.space_after_colon else b"data:"
        end = (dialect.line_end * 2).encode()
        comment = b": keep-alive" + end if dialect.comments else b""
        events = []  # all of them before the status line, so that trouble can still become an error
        for frame in frames:
            payload = frame.payload.encode() if isinstance(frame.payload, str) else encode(frame.payload)
            events.append((frame.takes_step, comment + data + payload + end))
        headers = {"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache", "Transfer-Encoding": "chunked"}
        if fake.has("buffers"):
            if not self._waits(step_s * sum(takes_step for takes_step, _ in events), gone):
                return
            events = [(False, event) for _, event in events]
        try:
            write(self._head(200, headers))
            for takes_step, event in events:
                if takes_step and step_s:
                    fake.ended.wait(step_s)
                size = dialect.split_bytes or len(event)
                for start in range(0, len(event), size):
                    piece = event[start : start + size]
                    write(b"%x\r\n%b\r\n" % (len(piece), piece))
            write(b"0\r\n\r\n")
        except OSError:
            gone.set()
            if fake.has("ignores-hang-up"):
                fake.ended.wait(_ORPHAN_S)
            raise
