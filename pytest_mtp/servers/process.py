"""A server process of ours: started on a leash, watched, stopped with everything it started."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import psutil

from pytest_mtp.core.errors import InfraError
from pytest_mtp.servers.server import tail

GRACE_S = 5.0
_LEASH_START_S = 30.0
_TELLING = re.compile(
    r"error|exception|fail|assert|abort|cannot|can't|unable|not found|no such|denied|killed|out of memory|invalid", re.IGNORECASE
)


class ChildProcess:
    """Owned by the process that started it, and gone when that process is, see `leash`.

    Stop it from any thread; every method may be called after its end.
    """

    def __init__(self, command: Sequence[str], *, log: Path, grace_s: float = GRACE_S) -> None:
        """Start it, with stdout and stderr into `log`. Raise InfraError when the program cannot be run at all.

        `grace_s` is what it gets between SIGTERM and SIGKILL.
        """
        self.log, self._grace_s = log, grace_s
        sink = _opened(log)
        tether_read, self._tether = os.pipe()
        self._report, report_write = os.pipe()
        leash = [sys.executable, "-m", "pytest_mtp.servers.leash", str(tether_read), str(report_write), str(grace_s), *command]
        with sink:
            self._leash = subprocess.Popen(  # noqa: S603 (a command of ours, no shell)
                leash,
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                pass_fds=(tether_read, report_write),
                start_new_session=True,
                env={**os.environ, "PYTHONPATH": _import_path(), "PYTHONUNBUFFERED": "1"},
            )
        os.close(tether_read)
        os.close(report_write)
        self._told, self._lock = "", threading.Lock()
        self.pid = self._read_pid()
        self.started_at = _start_of(self.pid)

    def alive(self) -> bool:
        """The program runs."""
        return self._leash.poll() is None and "exit " not in self._hear(0)

    def ended_within(self, seconds: float) -> bool:
        """Wait for its end. A dying program drops its connections a moment before its end can be seen."""
        deadline = time.monotonic() + seconds
        while self.alive():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            self._hear(left)
        return True

    def exit_code(self) -> int | None:
        """Of the program, negative for a signal; None while it runs, or where nobody could tell."""
        found = re.search(r"^exit (-?\d+)$", self._hear(0), flags=re.MULTILINE)
        return int(found[1]) if found else None

    def log_tail(self, lines: int = 20) -> str:
        """The last lines it wrote."""
        return tail(self.log, lines)

    def stop(self) -> None:
        """SIGTERM to the group, SIGKILL to what is left after the grace. Nothing of it runs afterwards."""
        if self._leash.poll() is None:
            self._signal(signal.SIGTERM)
            try:
                self._leash.wait(self._grace_s)
            except subprocess.TimeoutExpired:
                self._signal(signal.SIGKILL)
                self._leash.wait()
        self._hear(0)
        with self._lock:
            if self._tether >= 0:
                os.close(self._tether)
                os.close(self._report)
                self._tether = self._report = -1

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):  # it ended meanwhile
            os.killpg(self._leash.pid, number)

    def _hear(self, wait_s: float) -> str:
        """All that the leash has told, after waiting for its next word."""
        with self._lock:
            if self._report >= 0 and select.select([self._report], [], [], wait_s)[0]:
                self._told += os.read(self._report, 4096).decode()
            return self._told

    def _read_pid(self) -> int:
        found = re.search(r"^pid (\d+)$", self._hear(_LEASH_START_S), flags=re.MULTILINE)
        if found:
            return int(found[1])
        self.stop()
        raise InfraError(f"the program could not be started: {telling_line(self.log)}", code="INFRA.start", log_tail=self.log_tail())


def free_port() -> int:
    """A port of 127.0.0.1 that was free a moment ago: who starts a server on it must be ready to try another."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def telling_line(log: Path) -> str:
    """The last line of a log that speaks of trouble, else its last line."""
    lines = [line.strip() for line in tail(log, 200).splitlines() if line.strip()]
    speaking = [line for line in lines if _TELLING.search(line)]
    return (speaking or lines or ["it wrote nothing"])[-1][:300]


def _opened(log: Path) -> BinaryIO:
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        return log.open("ab")
    except OSError as error:
        raise InfraError(f"the log {log} cannot be written: {error.strerror}", code="INFRA.start") from None


def _start_of(pid: int) -> float:
    try:
        started: float = psutil.Process(pid).create_time()
    except psutil.Error:  # it ended at once
        return 0.0
    return started


def _import_path() -> str:
    """The child finds this package where we found it, installed or not.

    An installed one is found anyway, and its folder must not come before the standard library.
    """
    inherited = os.environ.get("PYTHONPATH", "")
    folder = Path(__file__).parents[2]
    if folder.name in ("site-packages", "dist-packages"):
        return inherited
    return f"{folder}{os.pathsep}{inherited}" if inherited else str(folder)
