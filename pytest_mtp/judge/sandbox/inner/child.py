"""Entry of the sandbox: takes its orders over one socket, confines itself, and serves until the socket ends.

Run as `python -I -S -B child.py FD`. An outer process waits for the inner one, so that the end of either ends both.
"""

# os.path is loaded by then; pathlib is not, and every program would pay for it.
# ruff: noqa: PTH100, PTH118, PTH120

from __future__ import annotations

import ctypes
import importlib.machinery
import importlib.util
import json
import os
import signal
import socket
import struct
import sys
from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__))
_MOST = 16 * 1024 * 1024


class Channel:
    """Frames of JSON, four bytes of length before each. An answer repeats the nonce of its question."""

    def __init__(self, descriptor: int) -> None:
        """`descriptor` is inherited and stays out of every namespace that a program can name."""
        self._socket = socket.socket(fileno=descriptor)

    def take(self) -> dict[str, Any] | None:
        """The next frame, None when the other side has ended."""
        head = self._read(4)
        body = self._read(struct.unpack(">I", head)[0]) if head else b""
        return json.loads(body) if body else None

    def give(self, frame: dict[str, Any]) -> None:
        """Send one frame; one that is too long becomes an error of its own."""
        body = json.dumps(frame).encode()
        if len(body) > _MOST:
            body = json.dumps({"nonce": frame.get("nonce"), "error": "limit", "message": "the value is too large to send"}).encode()
        self._socket.sendall(struct.pack(">I", len(body)) + body)

    def _read(self, size: int) -> bytes:
        parts = b""
        while len(parts) < size:
            part = self._socket.recv(min(65536, size - len(parts)))
            if not part:
                return b""
            parts += part
        return parts

    def close(self) -> None:
        """Close this end."""
        self._socket.close()


def _sibling(name: str) -> Any:
    """A module beside this file, by path: there is no package around here."""
    loader = importlib.machinery.SourceFileLoader(f"sandbox_{name}", os.path.join(_HERE, f"{name}.py"))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None  # a loader was given
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def main() -> None:
    """Orders first, then confinement, then questions."""
    channel = Channel(int(sys.argv[1]))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG: the end of the test run is our end
    orders = channel.take()
    if orders is None:
        return
    confinement = _sibling("confinement")
    confinement.landlock = _sibling("landlock")
    server = _sibling(orders["server"]).Server(orders)  # before the walls, since it may have to import what they hide
    walls = confinement.Walls(orders)
    walls.unshare()
    told, tell = os.pipe()
    inner = os.fork()
    if inner:
        channel.give({"nonce": orders["nonce"], "pid": inner})
        channel.close()
        os.write(tell, b".")
        os.waitpid(inner, 0)
        walls.sweep()
        os._exit(0)
    os.read(told, 1)  # the pid, as the outside sees it, goes first
    os.close(told)
    os.close(tell)
    held = walls.enter()
    born = os.getpid()
    channel.give({"nonce": orders["nonce"], "isolation": held})
    while True:
        question = channel.take()
        if question is None or os.getpid() != born:  # a fork of the program has no say
            os._exit(0)
        answer = server.answer(question)
        if os.getpid() != born:
            os._exit(0)
        answer["nonce"] = question["nonce"]
        channel.give(answer)


if __name__ == "__main__":
    main()
