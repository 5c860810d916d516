"""A server that speaks bytes, so that it can break every rule."""

from __future__ import annotations

import json
import re
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress


class Talk:
    """One connection after its request was read."""

    def __init__(self, connection: socket.socket, number: int) -> None:
        self.connection, self.number = connection, number
        self.request = b""
        self.gone = threading.Event()

    def read_request(self) -> bytes:
        data = b""
        while b"\r\n\r\n" not in data:
            piece = self.connection.recv(65536)
            data += piece
            if not piece or data.startswith(b"\x16"):  # gone, or a TLS greeting
                return data
        head, _, body = data.partition(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
        while length and len(body) < int(length.group(1)):
            body += self.connection.recv(65536)
        self.request = head + b"\r\n\r\n" + body
        return self.request

    def send(self, data: bytes) -> None:
        self.connection.sendall(data)

    def drip(self, data: bytes, every_s: float = 0.01) -> None:
        """Byte by byte, again and again, until the client has had enough."""
        while not self.gone.wait(every_s):
            for at in range(len(data)):
                self.send(data[at : at + 1])
                if self.gone.wait(every_s):
                    return

    def hang(self) -> None:
        """Say nothing more until the client goes away."""
        while self.connection.recv(65536):
            pass

    def shut(self) -> None:
        """End in good order without a word."""
        self.connection.shutdown(socket.SHUT_RDWR)

    def reset(self) -> None:
        """End with RST instead of FIN."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()


Serve = Callable[[Talk], None]


class RawServer:
    """`connections` counts the connections that were accepted, `requests` keeps what was asked."""

    def __init__(self, serve: Serve) -> None:
        self._serve = serve
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._talks: list[Talk] = []
        self.requests: list[bytes] = []
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    @property
    def connections(self) -> int:
        return len(self._talks)

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            talk = Talk(connection, len(self._talks) + 1)
            self._talks.append(talk)
            threading.Thread(target=self._one, args=(talk,), daemon=True).start()

    def _one(self, talk: Talk) -> None:
        with suppress(OSError), talk.connection:
            request = talk.read_request()
            if request:
                self.requests.append(request)
                self._serve(talk)

    def stop(self) -> None:
        for talk in self._talks:
            talk.gone.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes accept() on Linux
        self._listener.close()


@contextmanager
def raw_server(serve: Serve) -> Iterator[RawServer]:
    server = RawServer(serve)
    try:
        yield server
    finally:
        server.stop()


def closed_port() -> int:
    """A port of this machine where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def response(body: bytes | str, *, status: str = "200 OK", kind: str = "application/json", headers: str = "") -> bytes:
    data = body.encode() if isinstance(body, str) else body
    return f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\n{headers}\r\n".encode() + data


def stream_head(headers: str = "") -> bytes:
    """Of a body that ends with the connection."""
    return f"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n{headers}\r\n".encode()


def chunked(*pieces: bytes, end: bool = True) -> bytes:
    body = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + (b"0\r\n\r\n" if end else b"")
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n" + body


def event(chunk: object) -> bytes:
    return f"data: {json.dumps(chunk)}\n\n".encode()


def delta(finish: str | None = None, **fields: object) -> dict[str, object]:
    return {
        "id": "c1",
        "model": "m",
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": fields, "finish_reason": finish}],
    }


def completion(content: str = "Paris", **message: object) -> dict[str, object]:
    return {
        "id": "c1",
        "model": "m",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": content, **message}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4},
    }


DONE = b"data: [DONE]\n\n"
GOOD_STREAM = (
    event(delta(role="assistant", content="")) + event(delta(content="Pa")) + event(delta(content="ris")) + event(delta("stop")) + DONE
)
