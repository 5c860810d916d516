"""A server process of ours: started on a leash, watched, stopped with everything it started."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

import psutil

from pytest_mtp.core.errors import InfraError
from pytest_mtp.servers.family import MARK, descendants, sweep
from pytest_mtp.servers.server import tail
from pytest_mtp.servers.telling import telling_lines

GRACE_S = 5.0
LEASH_NAME = "pytest_mtp.servers.leash"
"""A word of the command line of each leash, which also quotes the command of the server."""
_LEASH = Path(__file__).with_name("leash.py")
_LEASH_START_S = 30.0
_MARGIN_S = 10.0
_NOTHING: Mapping[str, str] = {}


class ChildProcess:
    """Owned by the process that started it, and gone when that process is, see `leash`.

    Stop it from any thread; every method may be called after its end.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        log: Path,
        grace_s: float = GRACE_S,
        signals: Sequence[str] = ("TERM",),
        environment: Mapping[str, str] = _NOTHING,
        folder: Path | None = None,
    ) -> None:
        """Start it in `folder`, with stdout and stderr into `log`. Raise InfraError when the program cannot be run at all.

        `grace_s` is what it gets after each of the signals, before SIGKILL.
        """
        self.log = log
        self._patience_s = grace_s * len(signals) + _MARGIN_S
        self._mark, self._lock = secrets.token_hex(8), threading.Lock()
        self._known, self._ended, self._pid = threading.Event(), threading.Event(), 0
        self._exit: int | None = None
        sink = _opened(log)
        tether_read, self._tether = os.pipe()
        report_read, report_write = os.pipe()
        words = (str(tether_read), str(report_write), str(grace_s), ",".join(signals), self._mark)
        try:
            self._leash = subprocess.Popen(  # noqa: S603 (a command of ours, no shell)
                [sys.executable, "-I", "-S", str(_LEASH), LEASH_NAME, *words, *command],
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                pass_fds=(tether_read, report_write),
                start_new_session=True,
                cwd=folder,
                env={**os.environ, **_python_path(command), "PYTHONUNBUFFERED": "1", **environment, MARK: self._mark},
            )
        except OSError as error:
            os.close(report_read)
            os.close(self._tether)
            raise InfraError(f"the program could not be started: {error}", code="INFRA.start") from None
        finally:
            sink.close()
            os.close(tether_read)
            os.close(report_write)
        self._listener = threading.Thread(target=self._listen, args=(report_read,), name="mtp-leash", daemon=True)
        self._listener.start()
        self.pid = self._read_pid()
        self.started_at = _start_of(self.pid)

    def alive(self) -> bool:
        """The program runs."""
        return not self._ended.is_set() and self._leash.poll() is None

    def ended_within(self, seconds: float) -> bool:
        """Wait for its end. A dying program drops its connections a moment before its end can be seen."""
        return self._ended.wait(max(0.0, seconds))

    def exit_code(self) -> int | None:
        """Of the program, negative for a signal; None while it runs, or where nobody could tell."""
        if self._leash.poll() is not None:
            self._listener.join(_MARGIN_S)  # its last word may still be on its way
        return self._exit

    def log_tail(self, lines: int = 20) -> str:
        """The last lines it wrote."""
        return tail(self.log, lines)

    def family(self) -> list[psutil.Process]:
        """The program and all that it started and that still runs."""
        return descendants(self._leash.pid, self._mark)

    def end(self, reason: str) -> None:
        """SIGKILL to all of it, with the reason as a last line of the log."""
        with contextlib.suppress(OSError), self.log.open("a", encoding="utf-8") as log:
            log.write(f"\npytest-mtp ended the server: {reason}\n")
        for process in self.family():
            with contextlib.suppress(psutil.Error):
                process.kill()

    def stop(self) -> None:
        """Its signals to the group, SIGKILL to what is left after the last grace. Nothing of it runs afterwards."""
        with self._lock:
            if self._tether < 0:
                return
            with contextlib.suppress(OSError):  # the leash is gone
                os.write(self._tether, b".")
            os.close(self._tether)
            self._tether = -1
            try:
                self._leash.wait(self._patience_s)
            except subprocess.TimeoutExpired:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self._leash.pid, signal.SIGKILL)
                self._leash.wait()
        self._listener.join()

    def _listen(self, report: int) -> None:
        """All that the leash tells, to its end. A leash that ends without the program's code was killed: its work is ours then."""
        with os.fdopen(report, encoding="ascii", errors="replace") as told:
            for line in told:
                word, _, number = line.strip().partition(" ")
                if word == "pid":
                    self._pid = int(number)
                    self._known.set()
                elif word == "exit":
                    self._exit = int(number)
                    self._ended.set()
        self._ended.set()
        if self._exit is None:
            sweep(self._mark)
        self._known.set()

    def _read_pid(self) -> int:
        self._known.wait(_LEASH_START_S)
        if self._pid:
            return self._pid
        self.stop()
        told = telling_lines(self.log)[0]
        raise InfraError(f"the program could not be started: {told}", code="INFRA.start", log_tail=self.log_tail())


def free_port() -> int:
    """A port of 127.0.0.1 that was free a moment ago: who starts a server on it must be ready to try another."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


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


def _python_path(command: Sequence[str]) -> Mapping[str, str]:
    """A program that our own interpreter runs finds this package where we found it, installed or not.

    An installed one is found anyway, and its folder must not come before the standard library. Programs of other
    interpreters have nothing to look for here.
    """
    folder = Path(__file__).parents[2]
    if command[0] != sys.executable or folder.name in ("site-packages", "dist-packages"):
        return _NOTHING
    inherited = os.environ.get("PYTHONPATH", "")
    return {"PYTHONPATH": f"{folder}{os.pathsep}{inherited}" if inherited else str(folder)}
