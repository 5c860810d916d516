"""Twenty starts and stops in a row, and SIGKILL at random moments: no orphan, no port clash, no lost log."""

from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from pytest_mtp.core.errors import InfraError
from pytest_mtp.servers.launch import launch
from pytest_mtp.servers.launched import LaunchedServer, Plan
from pytest_mtp.servers.listening import listeners

ROOT = Path(__file__).parents[2]
TOY = Path(__file__).with_name("toy.py")
CYCLES = 20

CONTROLLER = """
import sys, time
from pathlib import Path
sys.path.insert(0, {root!r})
from pytest_mtp.servers.launched import LaunchedServer, Plan
command = lambda port, alias: [sys.executable, {toy!r}, str(port), alias, {mode!r}]
print("go", flush=True)
server = LaunchedServer("toy", lambda _: Plan(command=command, stop_grace_s=0.2), run_dir=Path({logs!r}), params={{}}, timeout_s=60)
print("up", server.facts.endpoint.root, flush=True)
time.sleep(600)
"""


def family(mark):
    """Every living process with this test's mark in its environment."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get("ENDURANCE") == mark and process.status() != psutil.STATUS_ZOMBIE:
                yield process


def whole(log):
    """The numbered lines of a log from its beginning, none missing; the last may be cut by the kill."""
    numbers = [int(number) for number in re.findall(r"^line (\d+)$", log.read_text(), flags=re.MULTILINE)]
    return numbers == list(range(len(numbers)))


@pytest.fixture
def mark(tmp_path, monkeypatch):
    monkeypatch.setenv("ENDURANCE", str(tmp_path))
    yield str(tmp_path)
    for process in family(str(tmp_path)):
        if process.pid != os.getpid():
            process.kill()


def toy(logs, mode="talks"):
    plan = Plan(command=lambda port, alias: [sys.executable, str(TOY), str(port), alias, mode], stop_grace_s=0.2)
    return LaunchedServer("toy", lambda _: plan, run_dir=logs, params={}, timeout_s=60)


def others(mark):
    return [process for process in family(mark) if process.pid != os.getpid()]


@pytest.mark.parametrize("kind", ["toy", "fake"])
def test_twenty_starts_and_stops_in_a_row(tmp_path, mark, kind):
    logs = tmp_path / "logs"
    for _ in range(CYCLES):
        server = toy(logs) if kind == "toy" else launch("fake", run_dir=logs, timeout_s=60)
        port, pid = int(server.facts.endpoint.root.rpartition(":")[2]), server.facts.pid
        assert listeners(("127.0.0.1",), port).pids == (pid,)
        server.stop()
        assert not listeners(("127.0.0.1",), port).sockets
        assert others(mark) == []
    assert len(list(logs.glob("*.log"))) == CYCLES
    if kind == "toy":
        assert all(whole(log) for log in logs.glob("*.log"))


def test_twenty_restarts_stay_on_their_port(tmp_path, mark):
    server = toy(tmp_path)
    roots, pids = {server.facts.endpoint.root}, {server.facts.pid}
    try:
        for _ in range(CYCLES):
            facts = server.restart({})
            roots.add(facts.endpoint.root)
            pids.add(facts.pid)
            assert len([process for process in others(mark) if str(TOY) in process.cmdline()[1:2]]) == 1
    finally:
        server.stop()
    assert len(pids) == CYCLES + 1
    assert len(roots) <= 2  # somebody may have taken the port between two starts
    assert others(mark) == []


def test_ten_at_once_do_not_meet(tmp_path, mark):
    servers, problems = [], []

    def start():
        try:
            servers.append(toy(tmp_path))
        except InfraError as error:
            problems.append(error)

    threads = [threading.Thread(target=start) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    try:
        assert problems == []
        assert len({server.facts.endpoint.root for server in servers}) == 10
        for server in servers:
            port = int(server.facts.endpoint.root.rpartition(":")[2])
            assert listeners(("127.0.0.1",), port).pids == (server.facts.pid,)
    finally:
        for server in servers:
            server.stop()
    assert others(mark) == []


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's parent-death signal is Linux's")
@pytest.mark.parametrize("victim", ["child", "leash"])
def test_sigkill_at_random_moments(tmp_path, mark, victim):
    """Of the server or its leash, from the first moment of the start on: it is up, or one error says why not."""
    dice = random.Random(f"{victim} 4")
    ended_before, ended_after, codes = 0, 0, set()
    for cycle in range(CYCLES):
        logs = tmp_path / str(cycle)
        delay = dice.uniform(0, 0.5)
        killer = threading.Thread(target=kill_later, args=(mark, victim, delay))
        killer.start()
        try:
            server = toy(logs)
        except InfraError as error:
            killer.join()
            ended_before += 1
            codes.add(error.code)
        else:
            killer.join()
            ended_after += 1
            assert server.ended_within(30)
            server.stop()
        assert nobody_but_us(mark)
        assert all(whole(log) for log in logs.glob("*.log"))
    assert ended_before + ended_after == CYCLES
    assert codes <= {"INFRA.start"}


def kill_later(mark, victim, delay):
    time.sleep(delay)
    for _ in range(3000):
        for process in others(mark):
            with contextlib.suppress(psutil.Error):
                words = process.cmdline()
                leash = "pytest_mtp.servers.leash" in words
                if (victim == "leash" and leash) or (victim == "child" and not leash and str(TOY) in words[1:2]):
                    process.kill()
                    return
        time.sleep(0.005)


def nobody_but_us(mark):
    for _ in range(1500):
        if not others(mark):
            return True
        time.sleep(0.02)
    return False


def test_a_controller_killed_at_random_moments_leaves_nothing_but_its_log(tmp_path, mark):
    dice = random.Random("controller 4")
    up = 0
    for cycle in range(CYCLES):
        logs = tmp_path / str(cycle)
        mode = "talks" if cycle % 2 else "forks"
        program = CONTROLLER.format(root=str(ROOT), toy=str(TOY), logs=str(logs), mode=mode)
        controller = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
        assert controller.stdout.readline() == "go\n"
        time.sleep(dice.uniform(0, 0.8))
        controller.send_signal(signal.SIGKILL)
        up += "up" in controller.communicate()[0]
        assert nobody_but_us(mark)
        assert all(whole(log) for log in logs.glob("*.log"))
        assert not up or logs.is_dir()
