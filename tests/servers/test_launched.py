"""Launching: ready means that our own process has answered, and nothing runs after a failure or a stop."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import psutil
import pytest

from pytest_mtp.core.errors import InfraError, UsageError
from pytest_mtp.core.facts import ServerFacts, SpecDecode
from pytest_mtp.servers import launch as launching
from pytest_mtp.servers import launched
from pytest_mtp.servers.launch import launch, launch_names, register_launch
from pytest_mtp.servers.launched import LaunchedServer, Plan
from pytest_mtp.servers.process import ChildProcess
from pytest_mtp.servers.server import connect

TOY = Path(__file__).with_name("toy.py")


@pytest.fixture(autouse=True)
def children(monkeypatch):
    """Every child that a test starts; none may run at its end."""
    started = []

    class Watched(ChildProcess):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            started.append(self)

    monkeypatch.setattr(launched, "ChildProcess", Watched)
    yield started
    left = [child for child in started if child.alive()]
    for child in left:
        child.stop()
    assert not left


@pytest.fixture
def toy(tmp_path):
    def run(mode="ok", *, params=None, timeout_s=30, **plan):
        def planner(given):
            configured = SpecDecode(method="mtp", depth=given.get("depth", 1), evidence=("launched so",))
            words = Plan(command=lambda port, alias: [sys.executable, str(TOY), str(port), alias, mode], configured=configured)
            return dataclasses.replace(words, **plan)

        servers.append(LaunchedServer("toy", planner, run_dir=tmp_path, params=params or {}, timeout_s=timeout_s))
        return servers[-1]

    servers = []
    yield run
    for server in servers:
        server.stop()


def test_a_launched_server_is_known_by_its_alias(toy, children):
    server = toy()
    facts = server.facts
    assert facts.launched
    assert facts.pid == children[0].pid
    assert facts.model.startswith("toy-")
    assert facts.evidence[0] == "launched as toy"
    assert facts.endpoint.root.startswith("http://127.0.0.1:")
    assert (facts.engine, server.engine.name) == ("generic", "generic")
    assert server.alive()


def test_parameters_of_speculation_are_configuration_and_no_proof(toy):
    spec = toy(params={"depth": 2}).facts.speculation
    assert (spec.state, spec.method, spec.depth, spec.evidence) == ("unknown", "mtp", 2, ("launched so",))


def test_its_facts_survive_the_way_to_another_process(toy):
    server = toy()
    facts = ServerFacts.from_dict(server.facts.to_dict())
    bound = connect(facts, api_key=None, timeout_s=5)
    try:
        assert bound.facts == facts
        assert bound.alive()
        assert bound.log_tail() == server.log_tail()
        server.stop()
        assert not bound.alive()
    finally:
        bound.client.close()


def test_another_process_under_the_same_id_is_not_taken_for_it(toy):
    server = toy()
    older = dataclasses.replace(server.facts, details={**server.facts.details, "started_at": 1.0})
    bound = connect(older, api_key=None, timeout_s=5)
    assert not bound.alive()
    bound.client.close()


def test_stop_ends_the_process(toy):
    server = toy()
    server.stop()
    assert not server.alive()
    assert not psutil.pid_exists(server.facts.pid)


def test_a_restart_is_another_process_with_other_parameters_on_the_same_port(toy):
    server = toy(params={"depth": 1})
    before = server.facts
    after = server.restart({"depth": 3})
    assert after.pid != before.pid
    assert after.details["started_at"] > before.details["started_at"]
    assert after.endpoint == before.endpoint
    assert after.details["log"] != before.details["log"]
    assert (after.speculation.depth, after.details["params"]) == (3, {"depth": 3})
    assert after == server.facts
    assert server.alive()
    assert not psutil.pid_exists(before.pid)


@pytest.mark.parametrize(
    ("mode", "says", "tail"),
    [
        pytest.param("dies", "ended with exit code 1 before it was ready; its log says: error: out of memory", "loading model", id="dies"),
        pytest.param(
            "dies-on-chat", "ended with exit code 5 before it was ready; its log says: RuntimeError: kernel", "kernel", id="dies-on-chat"
        ),
        pytest.param("breaks-on-chat", "gave no answer: 500, the server failed: no weights", "", id="breaks-on-chat"),
    ],
)
def test_a_server_that_does_not_come_up_is_an_error_of_the_start(toy, mode, says, tail):
    with pytest.raises(InfraError) as failed:
        toy(mode)
    assert failed.value.code == "INFRA.start"
    assert says in failed.value.problem
    assert "\n" not in failed.value.problem
    assert tail in failed.value.log_tail


def test_a_server_that_is_never_ready_is_given_up(toy):
    with pytest.raises(InfraError, match=r"was not ready after 0.3 s; its log says: it wrote nothing") as failed:
        toy("sleeps", timeout_s=0.3)
    assert failed.value.code == "INFRA.start"


def test_a_program_that_is_missing_is_an_error_of_the_start(toy):
    with pytest.raises(InfraError, match="cannot start /no/such/engine"):
        toy(command=lambda *_: ["/no/such/engine"])


def test_a_stranger_on_the_port_is_not_our_server(kit, toy, monkeypatch, children):
    stranger = kit.serve({"GET /v1/models": kit.models("m"), "POST /v1/chat/completions": kit.answers})
    real = launched.free_port
    ports = iter([stranger.port])
    monkeypatch.setattr(launched, "free_port", lambda: next(ports, None) or real())
    server = toy()
    assert server.facts.endpoint.root != stranger.url
    assert len(children) == 2
    assert "POST /v1/chat/completions" not in stranger.asked


def test_a_stranger_who_answers_while_ours_still_loads_is_not_our_server(kit, toy, monkeypatch):
    stranger = kit.serve({"GET /v1/models": kit.models("m"), "POST /v1/chat/completions": kit.answers})
    monkeypatch.setattr(launched, "free_port", lambda: stranger.port)
    with pytest.raises(InfraError, match=f"another program answers on port {stranger.port}"):
        toy("sleeps", timeout_s=0.5)
    assert "POST /v1/chat/completions" not in stranger.asked


def test_a_port_that_was_asked_for_and_is_taken_is_a_mistake_of_use(kit, toy):
    stranger = kit.serve({})
    with pytest.raises(UsageError, match=f"port {stranger.port} for the toy server is taken"):
        toy(port=stranger.port)


def test_when_all_ports_are_taken_it_says_so(kit, toy, monkeypatch):
    stranger = kit.serve({})
    monkeypatch.setattr(launched, "free_port", lambda: stranger.port)
    with pytest.raises(InfraError, match="5 ports in turn were taken"):
        toy()


def test_the_fake_engine_is_launched_by_name_with_its_parameters(tmp_path):
    server = launch("fake", run_dir=tmp_path, params={"depth": 2, "dialects": ["no-metrics"], "alias": "steady"}, timeout_s=60)
    try:
        assert (server.facts.engine, server.facts.model) == ("fake", "steady")
        assert server.facts.speculation.depth == 2
        assert server.facts.capabilities.metrics is False
    finally:
        server.stop()


def test_a_fault_that_the_fake_engine_does_not_know_comes_back_in_its_words(tmp_path):
    with pytest.raises(InfraError, match=r"exit code 2 .*no fault 'nonsense'"):
        launch("fake", run_dir=tmp_path, params={"faults": ["nonsense"]}, timeout_s=60)


def test_a_registered_kind_of_server_is_launched_by_name(tmp_path, monkeypatch):
    monkeypatch.setattr(launching, "_PLANNERS", dict(launching._PLANNERS))
    register_launch("toy", lambda _: Plan(command=lambda port, alias: [sys.executable, str(TOY), str(port), alias, "ok"]))
    assert "toy" in launch_names()
    server = launch("toy", run_dir=tmp_path, timeout_s=30)
    server.stop()
    assert server.facts.details["launch"] == "toy"
