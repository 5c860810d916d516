"""Servers that misbehave at their start, while they run, and at their end: one clear error, and nothing left of them."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import sys
import time
from pathlib import Path

import psutil
import pytest

from pytest_mtp.core.case import Source
from pytest_mtp.core.errors import InfraError, UsageError
from pytest_mtp.core.profile import Condition, Parameter, Profile, Words
from pytest_mtp.servers import launched
from pytest_mtp.servers.family import descendants
from pytest_mtp.servers.launch import launch, launch_profile
from pytest_mtp.servers.process import free_port
from pytest_mtp.servers.proof import refuse_the_old

TOY = Path(__file__).with_name("toy.py")


def toy_profile(**more):
    words = ("{python}", str(TOY), "{port}", "{alias}", "{mode}")
    parameters = {
        "mode": Parameter(kind="text", default="ok", help="how it behaves"),
        "depth": Parameter(kind="whole", default=1, lowest=1, help="no more than a word to it"),
        "speculation": Parameter(kind="flag", default=True, help="likewise"),
        "token": Parameter(kind="text", help="a secret"),
    }
    settings = {
        "command": (Words(words=words), Words(words=("{depth}",), when=(Condition(name="speculation"),))),
        "speculation_when": (Condition(name="speculation"),),
        "speculation_method": "toy",
        "speculation_depth": "{depth}",
        "stop_grace_s": 5.0,
        **more,
    }
    return Profile(name="toy", source=Source(path="toy.profile.yaml", line=1), parameters=parameters, **settings)


def family_of_the_test(folder):
    """Every process of any launch of this test."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get("LAUNCH_TEST") == str(folder) and process.status() != psutil.STATUS_ZOMBIE:
                yield process.pid


def gone(pids):
    pids = list(pids)
    for _ in range(1000):
        left = [pid for pid in pids if psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE]
        if not left:
            return True
        time.sleep(0.01)
    return False


@pytest.fixture
def start(tmp_path):
    servers = []

    def run(mode="ok", *, params=None, timeout_s=30, environment=(), **profile):
        params = {"mode": mode, **(params or {})}
        profile["environment"] = {"LAUNCH_TEST": str(tmp_path), **dict(environment)}
        servers.append(
            launch_profile(toy_profile(**profile), run_dir=tmp_path / "logs", params=params, timeout_s=timeout_s, folder=tmp_path)
        )
        return servers[-1]

    yield run
    for server in servers:
        server.stop()
    assert gone(family_of_the_test(tmp_path))


def failure(start, mode, **options):
    with pytest.raises(InfraError) as failed:
        start(mode, **options)
    assert failed.value.code == "INFRA.start"
    assert "\n" not in failed.value.problem
    return failed.value


def test_a_profile_is_started_and_known_by_its_alias(start):
    facts = start().facts
    assert (facts.engine, facts.launched) == ("generic", True)
    assert facts.model.startswith("toy-")
    assert facts.evidence[0] == "launched as toy"
    assert (facts.speculation.method, facts.speculation.depth) == ("toy", 1)
    assert facts.details["launch"] == "toy"
    assert facts.details["params"] == {"mode": "ok"}


def test_a_server_that_still_loads_is_asked_again(start):
    assert start("loads").alive()


def test_environment_and_folder_reach_the_program(start, tmp_path):
    server = start("environment", environment={"TOY_ALIAS": "{alias}", "TOY_BRACES": "{x}"})
    assert server.log_tail().splitlines()[0] == f"{{'TOY_ALIAS': '{server.facts.model}', 'TOY_BRACES': '{{x}}'}} {tmp_path}"


def test_the_cause_is_shown_and_not_the_shutdown_after_it(start):
    error = failure(start, "traceback")
    assert error.problem.endswith("ended with exit code 1 before it was ready; its log says: OSError: no such file: model.safetensors")
    assert "OSError: no such file" not in error.log_tail.rsplit("\n", 20)[-1]
    assert "The whole log: " in error.hint


def test_a_fatal_line_ends_the_wait_at_once(start):
    error = failure(start, "fatal-line", fatal=("FATAL: ",), telling=("^FATAL",), timeout_s=500)
    assert error.problem == "the toy server was ended: a line of its log is fatal: FATAL: no device; its log says: FATAL: no device"


def test_one_that_never_listens_is_given_up(start):
    assert (
        "was not ready after 0.5 s; its log says: it wrote nothing" in failure(start, "sleeps", start_timeout_s=0.5, timeout_s=900).problem
    )


def test_the_limit_of_the_profile_is_for_the_start_and_that_of_requests_for_requests(start):
    server = start("loads", start_timeout_s=300, timeout_s=0.9)
    assert server.alive()
    server = start("loads", params={"start_timeout_s": 200}, start_timeout_s=0.01)
    assert server.alive()


def test_one_that_listens_on_another_port_is_not_ready(start, monkeypatch):
    monkeypatch.setenv("OTHER_PORT", str(free_port()))
    assert "was not ready after 1 s" in failure(start, "other-port", start_timeout_s=1).problem


def test_more_memory_than_allowed_ends_the_start(start):
    error = failure(start, "hog", memory_limit_mib=200, start_timeout_s=120)
    assert "was ended: it used " in error.problem
    assert "MiB of memory, and its limit is 200 MiB" in error.problem
    assert "pytest-mtp ended the server: it used" in error.log_tail


def test_the_memory_of_children_counts(start):
    assert "its limit is 200 MiB" in failure(start, "hog-child", params={"memory_mib": 200}, start_timeout_s=120).problem


def test_one_that_grows_after_its_first_answer_is_ended(start):
    """Its first reply was fine; the probes that follow make it grow."""
    assert "its limit is 200 MiB" in failure(start, "hog-on-stream", memory_limit_mib=200).problem


def test_another_engine_than_expected_is_a_failed_start(start):
    error = failure(start, "ok", engine="llamacpp")
    assert "the toy server was to be llamacpp, and what answers is generic (/v1/models: owned_by is 'toy'" in error.problem


def test_an_engine_without_adapter_is_a_mistake_of_the_profile(start):
    with pytest.raises(UsageError, match=r"^toy\.profile\.yaml: no adapter for engine 'vlm' \(did you mean 'vllm'\?\)"):
        start(engine="vlm")


def test_a_module_that_is_not_installed_says_how_to_install_it(start):
    words = (Words(words=("{python}", "-m", "no_such_engine", "{port}")),)
    error = failure(start, "ok", command=words, program_missing="pip install no-such-engine")
    assert "No module named no_such_engine" in error.problem
    assert error.hint.startswith("pip install no-such-engine\n")


def test_a_port_that_a_client_holds_is_left_for_another(start, monkeypatch):
    """Nobody listens there, and it cannot be bound either."""
    import socket  # noqa: PLC0415  # here alone

    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        ports = iter([holder.getsockname()[1]])
        monkeypatch.setattr(launched, "free_port", lambda: next(ports, None) or free_port())
        assert start().alive()


def test_secrets_stay_out_of_facts_and_messages(start):
    words = (Words(words=("{python}", "-c", "import sys; sys.exit('error: key {token} is refused')", "{port}")),)
    error = failure(start, "ok", command=words, params={"token": "hf_very_secret"})
    assert "very_secret" not in f"{error} {error.log_tail}"
    assert "error: key *** is refused" in error.problem
    facts = start(params={"token": "hf_very_secret"}).facts
    assert facts.details["params"] == {"mode": "ok", "token": "***"}
    assert "very_secret" not in str(facts.to_dict())


def test_fifty_megabytes_of_log_are_kept_and_cost_no_memory(start):
    server = start("chatty", fatal=("never",), timeout_s=120)
    log = Path(server.facts.details["log"])
    assert log.stat().st_size > 50 * 2**20
    assert server.log_tail(2).count("all is well") == 160


def test_one_that_ignores_its_signals_is_killed(start):
    server = start("deaf", stop_grace_s=0.3)
    server.stop()
    assert server.exit_code() == -9
    assert "not now" in server.log_tail()


def test_signals_come_in_the_order_of_the_profile(start):
    server = start("interrupted", stop_signals=("TERM", "INT"), stop_grace_s=0.5)
    server.stop()
    assert server.exit_code() == 0
    assert server.log_tail().splitlines() == ["not now", "interrupted"]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, processes that left group and session are found by their mark alone")
@pytest.mark.parametrize("killed", ["nobody", "child", "leash"])
def test_nothing_of_a_family_stays(start, tmp_path, killed):
    server = start("forks", stop_grace_s=0.3)
    child = server._child
    family = {process.pid for process in descendants(child._leash.pid, child._mark) if process.status() != psutil.STATUS_ZOMBIE}
    assert len(family) == 4
    assert family < set(family_of_the_test(tmp_path))
    if killed != "nobody":
        os.kill(child.pid if killed == "child" else child._leash.pid, 9)
        assert server.ended_within(30)
    server.stop()
    assert gone(family)


def test_a_restart_is_proven(start):
    server = start()
    before = server.facts
    after = server.restart({"depth": 3})
    line = next(line for line in after.evidence if line.startswith("restarted: "))
    assert line.startswith(f"restarted: process {before.pid} -> {after.pid}, started ")
    assert line.endswith(", depth 1 -> 3")
    assert "restart: nothing of it is seen from outside, neither in what the server tells nor in its command line" in after.evidence
    assert "restart: depth 1 -> 3 is not told by the server itself" in after.evidence
    assert (after.speculation.depth, server.facts) == (3, after)
    again = server.restart({})
    assert any(line.endswith(", parameters as before") for line in again.evidence if line.startswith("restarted: "))
    assert not any("depth" in line for line in again.evidence if line.startswith("restart"))


def test_a_restart_with_wrong_parameters_leaves_the_server_running(start):
    server = start()
    before = server.facts
    with pytest.raises(UsageError, match="expected a whole number of at least 1, got 0"):
        server.restart({"depth": 0})
    assert server.alive()
    assert (server.facts, server.params) == (before, {"mode": "ok"})


def test_a_restart_after_a_crash_is_a_start(start):
    server = start()
    os.kill(server.facts.pid, 9)
    assert server.ended_within(30)
    assert server.restart({"depth": 2}).pid != 0
    assert server.alive()


def test_what_a_server_tells_of_a_restart_is_named(tmp_path):
    server = launch("fake", run_dir=tmp_path, params={"depth": 1}, timeout_s=60)
    try:
        deeper = server.restart({"depth": 3})
        off = server.restart({"speculation": False})
    finally:
        server.stop()
    assert any(line.startswith("restart: seen from outside: speculation.depth 1 -> 3") for line in deeper.evidence)
    assert any(line.startswith("restart: seen from outside: ") and "speculation.state unknown -> inactive" in line for line in off.evidence)


def test_a_server_that_is_the_old_one_is_no_restart(tmp_path):
    server = launch("fake", run_dir=tmp_path, timeout_s=60)
    try:
        with pytest.raises(InfraError, match=rf"the fake server was not restarted: process {server.facts.pid} is the old one"):
            refuse_the_old("fake", server.facts, server.facts)
        later = dataclasses.replace(server.facts, pid=1, details={**server.facts.details, "started_at": time.time() + 9})
        with pytest.raises(InfraError, match=rf"its former process {server.facts.pid} still runs"):
            refuse_the_old("fake", server.facts, later)
    finally:
        server.stop()
    refuse_the_old("fake", server.facts, later)
