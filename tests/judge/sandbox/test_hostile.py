"""Hostile programs: each ends in a verdict that is not a pass, and nothing gets out."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from pytest_mtp.judge.program import Program
from pytest_mtp.judge.sandbox.python import run_python

HOSTILE = sorted((Path(__file__).parent / "hostile").glob("*.hostile"))
ASSERTS = ("assert add(1, 2) == 3", "assert add(2, 2) == 4")
KERNEL_ONLY = {"leaves_the_namespaces", "ptrace_the_parent", "ctypes_calls", "kills_everybody", "fork_bomb", "fork_bomb_that_catches"}
FENCED = (
    "reads_files",
    "writes_files",
    "connects_out",
    "subprocess_shell",
    "os_system",
    "kills_the_parent",
    "reads_the_environment_of_others",
)
SECRET = "sk-hostile-4711"


@pytest.fixture(scope="module")
def walls() -> tuple[str, ...]:
    return run_python(Program(language="python", source="", asserts=("assert True",))).isolation


@pytest.fixture
def listener() -> Iterator[tuple[socket.socket, socket.socket, int]]:
    """A stream and a datagram socket on the same port, that nobody may reach."""
    with socket.socket() as stream, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagram:
        stream.bind(("127.0.0.1", 0))
        stream.listen()
        port = stream.getsockname()[1]
        datagram.bind(("127.0.0.1", port))
        stream.setblocking(False)
        datagram.setblocking(False)
        yield stream, datagram, port


def released(path: Path, room: Path, port: int) -> str:
    """The program with the names of things it must not reach."""
    secret = room / "secret"
    secret.write_text(SECRET)
    names = {"MARK": str(room / "mark"), "SECRET": str(secret), "PARENT": str(os.getpid()), "PORT": str(port), "ROOM": str(room)}
    source = path.read_text()
    for name, value in names.items():
        source = source.replace(name, value)
    return source


def orphans() -> list[int]:
    """Processes of a sandbox that nobody waits for."""
    found = []
    for process in psutil.process_iter(["cmdline", "ppid", "status"]):
        command = " ".join(process.info["cmdline"] or ())
        if "sandbox/inner/child.py" in command and process.info["ppid"] == 1 and process.info["status"] != psutil.STATUS_ZOMBIE:
            found.append(process.pid)
    return found


def stay_behind() -> list[int]:
    """Orphans that do not end: those of a sandbox beside this one, in another process of the tests, are about to."""
    deadline = time.monotonic() + 20
    while (left := orphans()) and time.monotonic() < deadline:
        time.sleep(0.1)
    return left


def test_there_are_enough_of_them() -> None:
    assert len(HOSTILE) >= 30


@pytest.mark.parametrize("path", HOSTILE, ids=lambda path: path.stem)
def test_a_hostile_program_ends_in_a_verdict_and_reaches_nothing(
    path: Path,
    walls: tuple[str, ...],
    tmp_path: Path,
    listener: tuple[socket.socket, socket.socket, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if path.stem in KERNEL_ONLY and "pid-namespace" not in walls:
        pytest.skip("this kernel offers no namespaces here, and the program would meet a fence alone")
    monkeypatch.setenv("HOSTILE_API_KEY", SECRET)
    stream, datagram, port = listener
    source = released(path, tmp_path, port)
    result = run_python(Program(language="python", source=source, asserts=ASSERTS, wall_s=0.5, memory_mb=256))
    assert result.outcome in {"wrong", "syntax", "exception", "timeout", "limit"}, result
    assert SECRET not in result.output + result.message
    assert not (tmp_path / "mark").exists()
    assert not [
        place for place in ("/tmp/escaped", "/var/tmp/escaped", "/etc/escaped", tmp_path.parent / "escaped") if Path(place).exists()
    ]
    for reached in (stream.accept, lambda: datagram.recv(100)):
        with pytest.raises(BlockingIOError):
            reached()
    assert stay_behind() == []


@pytest.mark.parametrize("name", FENCED)
def test_without_the_kernel_the_audit_hook_still_says_no(
    name: str, tmp_path: Path, listener: tuple[socket.socket, socket.socket, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOSTILE_API_KEY", SECRET)
    stream, _, port = listener
    source = released(Path(__file__).parent / "hostile" / f"{name}.hostile", tmp_path, port)
    result = run_python(Program(language="python", source=source, asserts=ASSERTS, wall_s=2.0, memory_mb=256), layers=())
    assert result.outcome in {"wrong", "exception"}
    assert "audit-hook" in result.isolation
    assert SECRET not in result.output + result.message
    assert not (tmp_path / "mark").exists()
    with pytest.raises(BlockingIOError):
        stream.accept()


@pytest.mark.parametrize("asserts", [("assert add(1, 2)",), ("for _ in range(2):\n    assert add(1, 2)",)], ids=["truth", "statement"])
@pytest.mark.parametrize("name", ["answers_in_its_place_by_frames", "patches_the_judge_through_gc"])
def test_a_program_that_answers_for_itself_is_found_out_by_questions_with_known_answers(name: str, asserts: tuple[str, ...]) -> None:
    source = (Path(__file__).parent / "hostile" / f"{name}.hostile").read_text()
    result = run_python(Program(language="python", source=source, asserts=asserts, wall_s=5.0))
    assert (result.outcome, result.message) == ("exception", "the program interferes with its judge")
