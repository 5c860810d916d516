"""The outside of a sandbox: starts the interpreter, asks over one socket, reads its output, ends it whatever it does."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import selectors
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from pytest_mtp.core.record import Json

LAYERS = ("namespaces", "landlock")
_CHILD = Path(__file__).parent / "inner" / "child.py"
_START_S = 30.0
_FRAME_AT_MOST = 16 << 20
_OUTPUT_KEPT, _OUTPUT_AT_MOST = 64 << 10, 64 << 20


class SandboxEndedError(Exception):
    """The other side ended, or ran out of time or output. `outcome` is that of a ProgramResult."""

    def __init__(self, outcome: str, message: str) -> None:
        """`message` is for the title of a finding."""
        self.outcome, self.message = outcome, message
        super().__init__(message)


class Sandbox:
    """One interpreter behind walls. Use as a context manager; leaving it kills everything that it started.

    `wall_s` is shared by all questions and starts with the first. `layers` are the walls that may be tried. Raises
    SandboxEndedError, `unavailable` when it cannot start.
    """

    def __init__(
        self,
        server: str,
        *,
        wall_s: float,
        memory_mb: int,
        layers: Sequence[str] = LAYERS,
        orders: Mapping[str, Json] | None = None,
    ) -> None:
        """`server` is the file in `inner/` whose Server answers; `orders` are for it."""
        self._orders = {**(orders or {}), "server": server, "wall_s": wall_s, "memory_mb": memory_mb, "layers": list(layers)}
        self._wall_s = wall_s
        self._deadline: float | None = None
        self._output = bytearray()
        self._seen = 0
        self._inner = 0
        self.isolation: tuple[str, ...] = ()

    def __enter__(self) -> Self:
        """Start and wait for the walls."""
        if os.name != "posix":
            raise SandboxEndedError("unavailable", "programs are only run on POSIX systems")
        self._room = tempfile.mkdtemp(prefix="pytest-mtp-")
        ours, theirs = socket.socketpair()
        self._socket = ours
        command = [sys.executable, "-I", "-S", "-B", "-X", "utf8", "-u", str(_CHILD), str(theirs.fileno())]
        library_path = {key: os.environ[key] for key in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH") if key in os.environ}
        try:
            self._process = subprocess.Popen(  # noqa: S603  # our own interpreter with our own file
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd=self._room,
                env=library_path,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        except OSError as error:
            self._remove()
            raise SandboxEndedError("unavailable", f"the sandbox cannot be started: {error}") from error
        finally:
            theirs.close()
        try:
            deadline = time.monotonic() + _START_S
            self._inner = int(self._exchange({"room": os.path.realpath(self._room), **self._orders}, deadline).get("pid", 0))
            ready = self._frame(deadline)
        except SandboxEndedError as error:
            self.close()
            raise SandboxEndedError("unavailable", f"the sandbox does not start: {error.message}: {self.output()[-300:]}") from error
        self.isolation = tuple(map(str, ready.get("isolation", ())))
        return self

    def __exit__(self, *_: object) -> None:
        """Kill, and remove the room."""
        self.close()

    def ask(self, **question: Json) -> dict[str, Any]:
        """One answer. `error` in it means that the program failed at that question."""
        if self._deadline is None:
            self._deadline = time.monotonic() + self._wall_s
        return self._exchange(question, self._deadline)

    def output(self) -> str:
        """What the program printed so far, its beginning."""
        return self._output.decode("utf-8", "replace")

    def close(self) -> None:
        """End every process of the sandbox. Safe to call twice."""
        for group in filter(None, (self._inner, self._process.pid)):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGKILL)
        self._process.wait()
        self._remove()

    def _remove(self) -> None:
        self._socket.close()
        if getattr(self, "_process", None) and self._process.stdout:
            self._process.stdout.close()
        shutil.rmtree(self._room, ignore_errors=True)

    def _exchange(self, question: Mapping[str, Json], deadline: float) -> dict[str, Any]:
        nonce = secrets.token_hex(16)
        body = json.dumps({**question, "nonce": nonce}).encode()
        try:
            self._socket.settimeout(max(0.05, deadline - time.monotonic()))
            self._socket.sendall(struct.pack(">I", len(body)) + body)
        except TimeoutError as error:
            raise SandboxEndedError("timeout", f"no end within {self._wall_s:g} s") from error
        except OSError as error:
            raise SandboxEndedError("exception", self._how_it_ended()) from error
        answer = self._frame(deadline)
        if answer.get("nonce") != nonce:
            raise SandboxEndedError("exception", "the program interferes with its judge")
        return answer

    def _frame(self, deadline: float) -> dict[str, Any]:
        head = self._read(4, deadline)
        size = struct.unpack(">I", head)[0]
        if size > _FRAME_AT_MOST:
            raise SandboxEndedError("exception", "the program interferes with its judge")
        try:
            frame = json.loads(self._read(size, deadline))
        except (ValueError, RecursionError) as error:
            raise SandboxEndedError("exception", "the program interferes with its judge") from error
        return frame if isinstance(frame, dict) else {}

    def _read(self, size: int, deadline: float) -> bytes:
        """Bytes of the socket, while the output is drained: a full pipe would stop the program."""
        found = bytearray()
        assert self._process.stdout is not None  # it was asked for
        with selectors.DefaultSelector() as selector:
            selector.register(self._socket, selectors.EVENT_READ)
            with contextlib.suppress(ValueError):
                selector.register(self._process.stdout, selectors.EVENT_READ)
            while len(found) < size:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise SandboxEndedError("timeout", f"no end within {self._wall_s:g} s")
                for key, _ in selector.select(left):
                    if key.fileobj is self._socket:
                        part = self._receive(size - len(found))
                        if not part:
                            raise SandboxEndedError("exception", self._how_it_ended())
                        found += part
                    elif not self._drain():
                        selector.unregister(key.fileobj)
        return bytes(found)

    def _receive(self, size: int) -> bytes:
        try:
            return self._socket.recv(min(size, 1 << 16))
        except OSError:
            return b""

    def _drain(self) -> bool:
        assert self._process.stdout is not None  # it was asked for
        part = os.read(self._process.stdout.fileno(), 1 << 16)
        self._seen += len(part)
        self._output += part[: max(0, _OUTPUT_KEPT - len(self._output))]
        if self._seen > _OUTPUT_AT_MOST:
            raise SandboxEndedError("limit", f"it prints without end: more than {_OUTPUT_AT_MOST >> 20} MiB")
        return bool(part)

    def _how_it_ended(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=2)
        tail = self.output().strip().splitlines()
        return "the process ended before its judge was done" + (f"; its last words: {tail[-1][:100]!r}" if tail else "")
