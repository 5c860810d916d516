"""The sockets of the fault proxy: what a request becomes on its way up, and its reply on its way down."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any

import httpx

from pytest_mtp.selftest.dice import roll
from pytest_mtp.selftest.fault import Armed
from pytest_mtp.selftest.fault_doors import ENTER, Door
from pytest_mtp.selftest.request import BadRequest, parse
from pytest_mtp.selftest.reread import body_again, completion_of, completion_of_stream, frames_again, frames_in, written
from pytest_mtp.selftest.scene import Scene
from pytest_mtp.selftest.sockets import Loopback, cut, encode
from pytest_mtp.selftest.wire import Frame

if TYPE_CHECKING:
    from pytest_mtp.selftest.proxy import FaultProxy

_CHAT = "/chat/completions"
_HOPS = frozenset({
    "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding",
    "upgrade",
})  # fmt: skip


class Relay(Loopback):
    """The proxy's own."""

    def __init__(self, port: int, proxy: FaultProxy) -> None:
        """Listen at once."""
        self.proxy = proxy
        super().__init__(port, _Handler)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Relay

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the name is the parent's
        """Nobody reads it."""

    def do_GET(self) -> None:
        try:
            self._pass_on()
        except OSError:  # the client went away
            self.close_connection = True
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            self.close_connection = True
            self._send(
                502, encode({"error": {"message": f"upstream: {type(error).__name__}: {error}", "type": "bad_gateway", "code": 502}})
            )

    do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_HEAD = do_GET  # noqa: N815  # names of the parent's protocol

    def _pass_on(self) -> None:
        body = self._body()
        path = self.path.partition("?")[0]
        if self.command != "POST" or not path.endswith(_CHAT):
            self._relay(body, (), None)
            return
        try:
            request = parse(body)
        except BadRequest:
            self._relay(body, (), None)  # the upstream's to judge, and its refusal for faults of refusals
            return
        proxy = self.server.proxy
        with proxy.stage.visit(request) as visit:
            scene = proxy.stage.scene(visit)
            struck = [armed for armed in proxy.armed if armed.fault.door is None and armed.strikes(scene, proxy.seed)]
            for armed in struck:
                proxy.count(armed.fault.name)
            door = self._door(scene)
            if door != ENTER:
                self._turn_away(door)
                return
            for armed in struck:
                refusal = armed.fault.refuse(scene) if armed.fault.refuse else None
                if refusal is not None:
                    self._error(refusal)
                    return
            asked = dict(request.body)
            for armed in struck:
                asked = armed.fault.ask(asked) if armed.fault.ask else asked
            self._relay(body if asked == request.body else encode(asked), struck, scene)

    def _door(self, scene: Scene) -> Door:
        proxy = self.server.proxy
        for armed in proxy.armed:
            if armed.fault.door is None or not armed.condition.holds(scene):
                continue
            if armed.rate < 1 and roll(proxy.seed, armed.fault.name, scene.visit) >= armed.rate:
                continue
            door = armed.fault.door(scene.visit, armed.number)
            if door != ENTER:
                proxy.count(armed.fault.name)
                return door
        return ENTER

    def _relay(self, body: bytes, struck: Sequence[Armed], scene: Scene | None) -> None:
        proxy = self.server.proxy
        rewrites = [armed for armed in struck if armed.fault.completion or armed.fault.frames or armed.fault.trait == "buffers"]
        headers = [(name, value) for name, value in self.headers.items() if name.lower() not in _HOPS | {"host", "content-length"}]
        if rewrites or any(armed.fault.error for armed in proxy.armed):  # what is read must not be compressed
            headers = [(name, value) for name, value in headers if name.lower() != "accept-encoding"] + [("Accept-Encoding", "identity")]
        content = body if body or self.command not in ("GET", "HEAD") else None
        request = httpx.Request(self.command, f"{proxy.upstream}{self.path}", headers=headers, content=content)
        answer = proxy.client.send(request, stream=True)
        try:
            if answer.status_code >= 400:
                self._refusal(answer)
            elif rewrites and scene is not None:
                self._rewritten(answer, rewrites, scene)
            else:
                self._untouched(answer, answer.iter_raw())
        finally:
            answer.close()

    def _refusal(self, answer: httpx.Response) -> None:
        errors = [armed for armed in self.server.proxy.armed if armed.fault.error and self.path.partition("?")[0].endswith(_CHAT)]
        if not errors:
            self._untouched(answer, answer.iter_raw())
            return
        raw = answer.read()
        text = raw.decode("utf-8", "replace")
        came = said = Door(action="refuse", status=answer.status_code, body=text)
        for armed in errors:
            if armed.fault.error and roll(self.server.proxy.seed, armed.fault.name, text) < armed.rate:
                said = armed.fault.error(said.status, said.body)
                self.server.proxy.count(armed.fault.name)
        if said == came:
            self._untouched(answer, iter((raw,)))
        else:
            self._turn_away(said)

    def _rewritten(self, answer: httpx.Response, rewrites: Sequence[Armed], scene: Scene) -> None:
        if "text/event-stream" not in answer.headers.get("content-type", ""):
            raw = answer.read()
            self._untouched(answer, iter((_whole(raw, rewrites, scene),)), resized=True)
            return
        frames: Iterable[Frame] = frames_in(answer.iter_bytes())
        if any(armed.fault.completion for armed in rewrites):
            frames = _retold(tuple(frames), rewrites, scene)
        for armed in rewrites:
            frames = armed.fault.frames(frames, scene) if armed.fault.frames else frames
        if any(armed.fault.trait == "buffers" for armed in rewrites):
            frames = tuple(frames)
        self._untouched(answer, map(written, frames), resized=True)

    def _untouched(self, answer: httpx.Response, pieces: Iterator[bytes], *, resized: bool = False) -> None:
        """Head and body as they come. A body whose length is not known any more is sent in chunks."""
        dropped = _HOPS | ({"content-length", "content-encoding"} if resized else set())
        named = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in answer.headers.raw]
        headers = [(name, value) for name, value in named if name.lower() not in dropped]
        bodiless = self.command == "HEAD" or answer.status_code in (204, 304)
        chunked = not bodiless and not any(name.lower() == "content-length" for name, _ in headers)
        if chunked:
            headers.append(("Transfer-Encoding", "chunked"))
        self.wfile.write(self._head(answer.status_code, headers))
        try:
            for piece in () if bodiless else pieces:
                if piece:
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)
        except httpx.HTTPError:  # the upstream broke off in mid-reply, and so do we
            self.close_connection = True
            cut(self.connection)
            return
        if chunked:
            self.wfile.write(b"0\r\n\r\n")

    def _body(self) -> bytes:
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            parts = []
            while size := int(self.rfile.readline().split(b";")[0] or b"0", 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            while self.rfile.readline().strip():
                continue
            return b"".join(parts)
        length = self.headers.get("Content-Length", "0")
        return self.rfile.read(int(length)) if length.isdecimal() else b""

    def _turn_away(self, door: Door) -> None:
        if door.action == "refuse":
            headers = [("Content-Type", door.content_type), *door.headers.items()]
            self._send(door.status, door.body.encode(), headers)
            return
        self.close_connection = True
        if door.action == "die":
            self.server.proxy.die()
        elif door.action == "hang":
            self.server.proxy.ended.wait()
        else:
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4096\r\n\r\n{")
            cut(self.connection)

    def _error(self, error: BadRequest) -> None:
        self._send(error.status, encode({"error": {"message": error.message, "type": error.kind, "code": error.status}}))

    def _send(self, status: int, body: bytes, headers: Sequence[tuple[str, str]] = (("Content-Type", "application/json"),)) -> None:
        self.wfile.write(self._head(status, [*headers, ("Content-Length", str(len(body)))]) + body)

    def _head(self, status: int, headers: Sequence[tuple[str, str]]) -> bytes:
        phrase = HTTPStatus(status).phrase if status in set(HTTPStatus) else ""
        lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {text}" for name, text in headers)]
        if self.close_connection:
            lines.append("Connection: close")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")


def _whole(raw: bytes, rewrites: Sequence[Armed], scene: Scene) -> bytes:
    """A whole reply with the faults of completions; one that cannot be read stays as it is."""
    try:
        came: Mapping[str, Any] = json.loads(raw)
        changed = first = completion_of(came)
        for armed in rewrites:
            changed = armed.fault.completion(changed, scene) if armed.fault.completion else changed
        return raw if changed == first else encode(body_again(changed, came))
    except (ValueError, KeyError, TypeError, AttributeError):
        return raw


def _retold(came: Sequence[Frame], rewrites: Sequence[Armed], scene: Scene) -> Iterable[Frame]:
    """The same for a stream that was read to its end."""
    try:
        changed = first = completion_of_stream(came)
        for armed in rewrites:
            changed = armed.fault.completion(changed, scene) if armed.fault.completion and changed else changed
    except (ValueError, KeyError, TypeError, AttributeError):
        return came
    return came if changed is None or changed == first else frames_again(changed, came)
