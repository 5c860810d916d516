"""`leash.py NAME TETHER REPORT GRACE SIGNALS MARK COMMAND ...`: a server that cannot outlive who started it.

NAME is for whoever reads a list of processes. Runs COMMAND as a child in its own process group. TETHER is the read end of a
pipe whose write end the controller holds: a byte asks for the end, and however the controller ends, `kill -9` included, the
kernel closes it. REPORT is the write end of another pipe that gets `pid N` and later `exit CODE` (negative: the signal, as
in subprocess). SIGNALS are names with commas between them; the group gets one after the other, GRACE seconds apart, then
KILL. MARK stands in the environment of the command and of all that it starts: on Linux those that left the group are found
by it, or as children of this process, to whom the kernel gives orphans.

Imports the standard library alone, and is run by its path in isolated mode, so that it costs little and works for any program.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_SWEEPS = 100  # a family that forks faster than it is killed


def main(arguments: Sequence[str]) -> None:
    """Run the command until it or the controller ends; what is left of its family goes with it."""
    tether, report, grace_s = int(arguments[1]), int(arguments[2]), float(arguments[3])
    signals = [signal.Signals[f"SIG{name}"] for name in arguments[4].split(",")]
    mark, command = arguments[5], list(arguments[6:])
    if os.getpgrp() != os.getpid():
        os.setpgid(0, 0)  # never end the group of a stranger
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    for number in {*signals, signal.SIGTERM, signal.SIGINT, signal.SIGHUP}:
        signal.signal(number, lambda *_: None)  # the group gets it: the command ends, and its end is awaited here
    own = os.getpid()
    try:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=lambda: _die_with(own))  # noqa: S603, PLW1509 (single thread still)
    except OSError as error:
        sys.stderr.write(f"cannot start {command[0]}: {error.strerror}\n")
        _tell(report, "exit 127")
        os._exit(127)
    _tell(report, f"pid {child.pid}")
    ended = threading.Event()
    threading.Thread(target=_end_with_controller, args=(tether, grace_s, signals, mark, ended), daemon=True).start()
    code = _await(child.pid)
    ended.set()
    _tell(report, f"exit {code}")
    _sweep(mark)
    os.killpg(0, signal.SIGKILL)  # where there is no /proc, the group is all that is known; and this process


def _await(pid: int) -> int:
    """The exit code of the command; orphans that end meanwhile are reaped."""
    while True:
        ended, status = os.waitpid(-1, 0)
        if ended == pid:
            return os.waitstatus_to_exitcode(status)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value)


def _die_with(parent: int) -> None:
    """On Linux the kernel ends the command when this process is killed. Safe: the main thread forks and lives to the end."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it was killed before that
        os._exit(1)


def _end_with_controller(tether: int, grace_s: float, signals: Sequence[int], mark: str, ended: threading.Event) -> None:
    os.read(tether, 1)
    for number in signals:
        os.killpg(0, number)
        if ended.wait(grace_s):
            return
    _sweep(mark)
    if not ended.wait(1):
        os.killpg(0, signal.SIGKILL)


def _sweep(mark: str) -> None:
    """Whatever left the group goes too; again until nobody is found, since a family may fork meanwhile."""
    for _ in range(_SWEEPS):
        family = set(_family(mark))
        if not family:
            return
        for pid in family:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def _family(mark: str) -> Iterator[int]:
    """Descendants of this process, and processes with the mark; nobody where there is no /proc."""
    parents, marked = {}, set()
    wanted, own = mark.encode(), os.getpid()
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():  # noqa: PTH112, PTH208 (pathlib costs 10 ms)
        if not name.isdigit():
            continue
        with contextlib.suppress(OSError, ValueError, IndexError):  # it ended meanwhile
            with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123 (likewise)
                state, parent = file.read().rpartition(b")")[2].split()[:2]
            if state in (b"Z", b"X"):
                continue
            parents[int(name)] = int(parent)
            with open(f"/proc/{name}/environ", "rb") as file:  # noqa: PTH123 (likewise)
                if wanted in file.read():
                    marked.add(int(name))
    for pid in parents:
        line = pid
        while line in parents and line != own and line not in marked:
            line = parents[line]
        if pid != own and (line == own or line in marked):
            yield pid


def _tell(report: int, line: str) -> None:
    with contextlib.suppress(OSError):  # the controller is gone
        os.write(report, f"{line}\n".encode())


if __name__ == "__main__":
    main(sys.argv[1:])
