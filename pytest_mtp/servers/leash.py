"""`python -m pytest_mtp.servers.leash TETHER REPORT GRACE COMMAND ...`: a server that cannot outlive who started it.

Runs COMMAND as a child in its own process group. TETHER is the read end of a pipe whose write end the controller holds
and never writes to: however the controller ends, `kill -9` included, the kernel closes it, and the whole group is ended.
REPORT is the write end of another pipe that gets `pid N` and later `exit CODE` (negative: the signal, as in subprocess).
GRACE is the time in seconds between SIGTERM and SIGKILL.

Imports the standard library alone, so that it costs little and works for any program.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence

_PR_SET_PDEATHSIG = 1


def main(arguments: Sequence[str]) -> None:
    """Run the command until it or the controller ends; what is left of the group goes with it."""
    tether, report, grace_s = int(arguments[0]), int(arguments[1]), float(arguments[2])
    command = list(arguments[3:])
    if os.getpgrp() != os.getpid():
        os.setpgid(0, 0)  # never end the group of a stranger
    signal.signal(signal.SIGTERM, lambda *_: None)  # the group gets it: the command ends, and its end is awaited here
    try:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=_die_with_parent)  # noqa: S603, PLW1509 (single thread still)
    except OSError as error:
        sys.stderr.write(f"cannot start {command[0]}: {error.strerror}\n")
        _tell(report, "exit 127")
        os._exit(127)
    _tell(report, f"pid {child.pid}")
    threading.Thread(target=_end_with_controller, args=(tether, grace_s, child), daemon=True).start()
    _tell(report, f"exit {child.wait()}")
    os.killpg(0, signal.SIGKILL)  # grandchildren that stayed behind, and this process


def _die_with_parent() -> None:
    """On Linux the kernel ends the command when this process is killed. Safe: the main thread forks and lives to the end."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _end_with_controller(tether: int, grace_s: float, child: subprocess.Popen[bytes]) -> None:
    while os.read(tether, 1):
        pass
    os.killpg(0, signal.SIGTERM)
    try:
        child.wait(grace_s)
    except subprocess.TimeoutExpired:
        os.killpg(0, signal.SIGKILL)


def _tell(report: int, line: str) -> None:
    with contextlib.suppress(OSError):  # the controller is gone
        os.write(report, f"{line}\n".encode())


if __name__ == "__main__":
    main(sys.argv[1:])
