"""A child process that is stopped with all it started, and does not outlive its controller however that ends."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from pytest_mtp.core.errors import InfraError
from pytest_mtp.servers.process import ChildProcess, free_port

ROOT = str(Path(__file__).parents[2])

FAMILY = """
import os, signal, subprocess, sys, time
if sys.argv[1:] == ["stubborn"]:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(600)"
grandchild = subprocess.Popen([sys.executable, "-c", deaf], stdout=subprocess.PIPE)
grandchild.stdout.readline()
print("family", os.getpid(), grandchild.pid, flush=True)
time.sleep(600)
"""

CONTROLLER = """
import sys, time
from pathlib import Path
from pytest_mtp.servers.process import ChildProcess
child = ChildProcess([sys.executable, "-c", sys.argv[2], *sys.argv[3:]], log=Path(sys.argv[1]), grace_s=0.2)
print(child.pid, child._leash.pid, flush=True)
time.sleep(600)
"""


def python(program, *arguments):
    return [sys.executable, "-c", program, *arguments]


def gone(pid):
    """No such process, or only its entry, waiting for a parent that never asks."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def wait_until(condition):
    """Poll, with a limit that no healthy run comes near."""
    for _ in range(3000):
        if condition():
            return True
        time.sleep(0.01)
    return False


def family_of(log):
    """Process ids of the program and its child, once both are up."""
    assert wait_until(lambda: "family" in log.read_text())
    return [int(word) for word in log.read_text().split("family", 1)[1].split()[:2]]


@pytest.fixture
def start(tmp_path):
    started = []

    def run(command, grace_s=30):
        started.append(ChildProcess(command, log=tmp_path / "logs" / "child.log", grace_s=grace_s))
        return started[-1]

    yield run
    for child in started:
        child.stop()


def test_it_runs_in_its_own_session_with_its_output_in_the_log(start):
    child = start(python("import os, sys; print('out', os.getsid(0)); print('err', file=sys.stderr)"))
    assert wait_until(lambda: not child.alive())
    out, err = child.log.read_text().splitlines()
    assert int(out.split()[1]) not in (os.getsid(0), 0)
    assert err == "err"
    assert child.log_tail(1) == "err"


def test_its_pid_is_the_program_s_and_its_start_is_known(start):
    child = start(python("import os, time; print(os.getpid(), flush=True); time.sleep(600)"))
    assert wait_until(lambda: child.log.read_text().strip() == str(child.pid))
    assert child.alive()
    assert child.exit_code() is None
    assert child.started_at == psutil.Process(child.pid).create_time()


@pytest.mark.parametrize(
    ("program", "code"),
    [("raise SystemExit(3)", 3), ("import os; os.kill(os.getpid(), 9)", -9), ("import os; os.abort()", -6)],
    ids=["exit", "killed", "abort"],
)
def test_its_end_is_noticed_and_told(start, program, code):
    child = start(python(program))
    assert wait_until(lambda: not child.alive())
    assert child.exit_code() == code


def test_stop_ends_it_by_sigterm(start):
    told = "import signal, sys\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(7))\nprint('up', flush=True)\nsignal.pause()"
    child = start(python(told))
    assert wait_until(lambda: "up" in child.log.read_text())
    child.stop()
    assert child.exit_code() == 7
    assert not child.alive()


def test_stop_ends_the_deaf_and_their_children(start):
    child = start(python(FAMILY, "stubborn"), grace_s=0.1)
    family = family_of(child.log)
    child.stop()
    assert wait_until(lambda: all(gone(pid) for pid in family))
    assert not child.alive()


def test_children_that_a_program_leaves_behind_end_with_it(start):
    child = start(python(FAMILY))
    program, grandchild = family_of(child.log)
    os.kill(program, signal.SIGKILL)
    assert wait_until(lambda: gone(grandchild))
    assert not child.alive()


def test_stop_may_come_twice(start):
    child = start(python("import time; time.sleep(600)"))
    child.stop()
    child.stop()
    assert not child.alive()


def test_a_program_that_is_not_there_is_an_error_of_the_start(tmp_path):
    with pytest.raises(InfraError, match="cannot start /no/such/program: No such file") as failed:
        ChildProcess(["/no/such/program"], log=tmp_path / "log")
    assert failed.value.code == "INFRA.start"


def test_a_log_that_cannot_be_written_is_an_error_of_the_start(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InfraError, match="cannot be written") as failed:
        ChildProcess(["true"], log=tmp_path / "file" / "child.log")
    assert failed.value.code == "INFRA.start"


@pytest.mark.parametrize("manner", ["obedient", "stubborn"])
def test_a_killed_controller_leaves_nothing_behind(tmp_path, manner):
    log = tmp_path / "child.log"
    controller = subprocess.Popen(
        python(CONTROLLER, str(log), FAMILY, manner), stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": ROOT}
    )
    try:
        pids = [int(word) for word in controller.stdout.readline().split()]
        family = family_of(log)
        assert family[0] == pids[0]
        assert not any(gone(pid) for pid in (*pids, *family))
    finally:
        os.kill(controller.pid, signal.SIGKILL)
        controller.wait()
        controller.stdout.close()
    assert wait_until(lambda: all(gone(pid) for pid in (*pids, *family)))


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's parent-death signal is Linux's")
def test_a_killed_leash_takes_the_program_with_it(start):
    child = start(python("import time; time.sleep(600)"))
    os.kill(child._leash.pid, signal.SIGKILL)
    assert wait_until(lambda: gone(child.pid))
    assert not child.alive()


def test_a_free_port_can_be_bound():
    with socket.create_server(("127.0.0.1", free_port())) as server:
        assert server.getsockname()[1]


def test_an_end_can_be_waited_for(start):
    child = start(python("import sys; sys.stdin.read(); print('over')"))
    assert child.ended_within(60)
    assert (child.exit_code(), child.log_tail()) == (0, "over")


def test_a_wait_for_an_end_that_does_not_come_is_bounded(start):
    assert not start(python("import time; time.sleep(600)")).ended_within(0.05)
