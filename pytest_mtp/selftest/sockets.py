"""What the fake and the proxy share of sockets."""

from __future__ import annotations

import json
import select
import socket
import sys
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def cut(connection: socket.socket) -> None:
    """End a connection for reading and writing, whoever is using it."""
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # the other side was first


def hung_up(connection: socket.socket) -> bool:
    """Whether the other side has closed it."""
    readable, _, _ = select.select([connection], [], [], 0)
    if not readable:
        return False
    try:
        return connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def encode(payload: Mapping[str, Any]) -> bytes:
    """JSON in UTF-8; lone surrogates, which UTF-8 cannot carry, stay escaped."""
    try:
        return json.dumps(payload, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(payload).encode()


class Loopback(ThreadingHTTPServer):
    """A thread a connection. Knows its open connections, so that it can end them."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def __init__(self, port: int, handler: type[BaseHTTPRequestHandler]) -> None:
        """Listen at once on the loopback interface."""
        self._open: set[socket.socket] = set()
        self._guard = threading.Lock()
        super().__init__(("127.0.0.1", port), handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Remember the connection."""
        with self._guard:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Forget the connection."""
        with self._guard:
            self._open.discard(request)
        super().shutdown_request(request)

    def close_all(self) -> None:
        """End every connection, then stop listening."""
        with self._guard:
            connections = list(self._open)
        for connection in connections:
            cut(connection)
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no news; anything else is a fault of ours and goes to stderr."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)
