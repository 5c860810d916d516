"""Small words for connections, shared by the fake and the proxy."""

from __future__ import annotations

import json
import select
import socket
from collections.abc import Mapping
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
