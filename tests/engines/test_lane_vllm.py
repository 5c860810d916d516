"""vLLM on this machine's processor: launched by its profile with the demo's head at two depths and without, and killed.

One server at a time, in float32: at temperature 0 and one request at a time every count is the same in every run. A start
takes about 40 s, so the tests of one configuration stand together.
"""

from __future__ import annotations

import dataclasses
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import psutil
import pytest

from pytest_mtp.core.ask import Ask, Sampling
from pytest_mtp.core.errors import InfraError
from pytest_mtp.core.facts import Acceptance, ServerFacts
from pytest_mtp.core.record import Json
from pytest_mtp.core.reply import Reply
from pytest_mtp.core.run import RunReport
from pytest_mtp.judge.acceptance import broken_identities
from pytest_mtp.profiles.load import load_profile
from pytest_mtp.servers.demo.hf import hf_folder
from pytest_mtp.servers.launch import launch_profile
from pytest_mtp.servers.launched import LaunchedServer

pytestmark = pytest.mark.engine

ON_THE_PROCESSOR = {"VLLM_TARGET_DEVICE": "cpu", "VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}

CODE = (
    "Write a Python function that returns the largest of three numbers.",
    "Write a Python function that reverses the words of a sentence.",
    "Write a JavaScript function that removes duplicates from an array.",
    "Write an SQL query that lists the customers without an order.",
)
PROSE = (
    "Why does the moon change its shape?",
    "Write a short story about a clockmaker and his cat.",
    "Explain how bread is baked.",
    "Give me four tips for growing tomatoes.",
)

# Position 0 was measured at 0.78 on 32 prompts of code and 0.58 on 32 of prose that the head had not seen. The bounds are for
# four other prompts of each: wide enough for these, too narrow for a head that is served wrongly.
FIRST = {"code": (0.62, 0.97), "prose": (0.42, 0.76)}

Gate = Callable[..., tuple[int, str, RunReport]]


@pytest.fixture(scope="module")
def vllm(lane: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., LaunchedServer]]:
    """The one server, started or restarted where it does not run with these parameters."""
    common: Mapping[str, Json] = {
        "model": str(hf_folder()),
        "python": str(lane("vllm")),
        "dtype": "float32",
        "enforce_eager": True,
        "max_model_len": 2048,
        "max_num_seqs": 4,
        "tool_call_parser": "hermes",
        "request_metrics": "summary",
    }
    running: list[LaunchedServer] = []

    def at(**params: Json) -> LaunchedServer:
        wanted = {**common, **params}
        if not running:
            folder = tmp_path_factory.mktemp("vllm")
            running.append(launch_profile(load_profile("vllm"), run_dir=folder, params=wanted, timeout_s=120))
        (server,) = running
        if dict(server.params) != wanted or not server.alive():
            server.restart(wanted)
        return server

    with pytest.MonkeyPatch.context() as patch:
        for name, value in ON_THE_PROCESSOR.items():
            patch.setenv(name, value)
        yield at
        for server in running:
            server.stop()


def deep(vllm: Callable[..., LaunchedServer]) -> LaunchedServer:
    return vllm(speculation=True, depth=3)


def shallow(vllm: Callable[..., LaunchedServer]) -> LaunchedServer:
    return vllm(speculation=True, depth=1)


def without(vllm: Callable[..., LaunchedServer]) -> LaunchedServer:
    return vllm(speculation=False, depth=1)


def answer(server: LaunchedServer, question: str, *, stream: bool = False) -> Reply:
    ask = Ask(messages=({"role": "user", "content": question},), sampling=Sampling(max_tokens=32), stream=stream)
    exchange = server.client.ask(server.engine.instrumented(ask))
    assert exchange.reply is not None, exchange.fault
    return exchange.reply


def counted(server: LaunchedServer) -> Acceptance:
    counters = server.engine.counters(server.client)
    assert counters is not None
    assert counters.acceptance is not None
    return counters.acceptance


WEATHER = {
    "name": "get_weather",
    "description": "The weather of a city",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
FRANCE = {
    "id": "france",
    "ask": "What is the capital of France?",
    "severity": "critical",
    "stream": "both",
    "expect": {"contains": "Paris"},
}
CALL = {
    "id": "call",
    "ask": "Call get_weather for Paris",
    "severity": "critical",
    "stream": "both",
    "tools": [{"type": "function", "function": WEATHER}],
    "expect": {"calls": [{"name": "get_weather", "arguments": {"city": "Paris"}}]},
}
ALIVE = {"id": "alive", "check": "acceptance", "with": {"max_tokens": 48, "prompts": {"code": CODE, "prose": PROSE}}}


def suite(folder: Path, *cases: Mapping[str, object]) -> str:
    """JSON is YAML."""
    folder.mkdir(exist_ok=True)
    path = folder / "p.mtp.yaml"
    path.write_text(json.dumps({"schema_version": 1, "suite": "p", "cases": cases}))
    return str(path)


def first_positions(report: RunReport) -> Mapping[str, float]:
    rows = (row for case in report.cases for row in case.verdict.measures if row.name == "acceptance_at_position_0")
    return {row.stratum: row.value for row in rows if row.value is not None}


def test_depth_three_is_proven_by_counters_and_replies(vllm: Callable[..., LaunchedServer], gate: Gate, tmp_path: Path) -> None:
    server = deep(vllm)
    facts = server.facts
    assert (facts.engine, facts.engine_version, facts.context_length) == ("vllm", "0.32.0", 2048)
    assert (facts.speculation.state, facts.speculation.method, facts.speculation.depth) == ("unknown", "mtp", 3)
    assert facts.process is not None
    assert (facts.process.sequences, facts.process.model_path) == (4, str(hf_folder()))
    code, text, report = gate(tmp_path, "--mtp-server", facts.endpoint.root, suite(tmp_path, FRANCE, CALL, ALIVE))
    assert code == 0, text
    assert report.servers[0].speculation.state == "active"
    assert report.control is not None
    assert report.control.step_checked >= 12
    assert report.control.step_material == 0
    rates = first_positions(report)
    assert set(rates) == {"code", "prose"}
    assert all(low < rates[kind] < high for kind, (low, high) in FIRST.items()), rates
    assert rates["prose"] < rates["code"]


def test_at_depth_three_every_count_agrees_and_repeats(vllm: Callable[..., LaunchedServer]) -> None:
    server = deep(vllm)
    seen = []
    for stream in (False, True):
        before = counted(server)
        reply = answer(server, CODE[0], stream=stream)
        moved, own = counted(server).since(before), server.engine.acceptance_of(reply)
        assert own is not None
        assert dataclasses.replace(own, source=moved.source) == moved
        assert reply.usage is not None
        assert len(reply.token_ids) == reply.usage.completion_tokens
        assert not broken_identities(moved)
        seen.append(moved)
    assert seen[0] == seen[1]
    assert seen[0].drafted == 3 * (seen[0].rounds or 0)
    first, second, third = seen[0].per_position
    assert first >= second >= third > 0


def test_without_speculation_it_is_inactive_and_answers_the_same(vllm: Callable[..., LaunchedServer], gate: Gate, tmp_path: Path) -> None:
    drafted = {question: answer(deep(vllm), question).token_ids for question in (*CODE[:2], *PROSE[:2])}
    server = without(vllm)
    assert server.facts.speculation.state == "inactive"
    assert server.facts.capabilities.request_acceptance is None
    code, text, report = gate(tmp_path, "--mtp-server", server.facts.endpoint.root, suite(tmp_path, FRANCE))
    assert code == 0, text
    assert report.servers[0].speculation.state == "inactive"
    assert {question: answer(server, question).token_ids for question in drafted} == drafted


def test_a_restart_with_another_depth_is_proven(vllm: Callable[..., LaunchedServer], gate: Gate, tmp_path: Path) -> None:
    before, after = without(vllm).facts, shallow(vllm).facts
    assert identity(after) > identity(before)
    assert not psutil.pid_exists(before.pid or 0)
    assert (before.speculation.state, after.speculation.state, after.speculation.depth) == ("inactive", "unknown", 1)
    assert counted(shallow(vllm)).per_position != ()
    code, text, report = gate(tmp_path, "--mtp-server", after.endpoint.root, suite(tmp_path, FRANCE, CALL, ALIVE))
    assert code == 0, text
    assert report.servers[0].speculation.state == "active"
    rates = first_positions(report)
    assert all(low < rates[kind] < high for kind, (low, high) in FIRST.items()), rates
    assert not [row for case in report.cases for row in case.verdict.measures if row.name == "acceptance_at_position_1"]


def identity(facts: ServerFacts) -> tuple[object, ...]:
    """Later servers have later ones."""
    assert facts.process is not None
    assert facts.process.pid == facts.pid
    return (facts.process.started_at, facts.pid)


def test_an_engine_killed_in_a_stream_is_blocked_and_never_a_wrong_answer(
    vllm: Callable[..., LaunchedServer], gate: Gate, tmp_path: Path
) -> None:
    """vLLM then sends an error object inside its 200, and [DONE]. The long prompt tells when the case's own stream has begun."""
    server = shallow(vllm)
    wall = " ".join(f"Stone {number} of the wall is grey and lies beside the river." for number in range(40))
    story = {
        "id": "story",
        "ask": f"{wall} Write a long story about this wall.",
        "stream": True,
        "sampling": {"max_tokens": 900},
        "extra_body": {"ignore_eos": True},
        "expect": {"length": {"min_words": 1}},
    }
    killed: list[int] = []
    killer = threading.Thread(target=kill_at_long_prompt, args=(server, killed))
    killer.start()
    code, text, report = gate(tmp_path, "--mtp-server", server.facts.endpoint.root, suite(tmp_path, story))
    killer.join()
    assert killed, text
    (case,) = report.cases
    assert case.verdict.outcome == "BLOCKED", text
    assert {finding.code for finding in case.verdict.findings} == {"INFRA.5xx"}
    assert "EngineCore" in case.verdict.reason
    assert (code, report.gate.verdict) == (69, "blocked")
    assert server.ended_within(30)


def kill_at_long_prompt(server: LaunchedServer, killed: list[int]) -> None:
    """Kill the process that computes once a prompt of several hundred tokens has been read."""
    last = None
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not killed:
        time.sleep(0.1)
        counters = server.engine.counters(server.client)
        now = counters.prompt_tokens if counters else None
        if last is not None and now is not None and now - last > 400:
            assert server.facts.pid is not None
            for child in psutil.Process(server.facts.pid).children(recursive=True):
                if "VLLM::Worker" in child.cmdline()[:1]:
                    child.kill()
                    killed.append(child.pid)
        last = now


def test_a_start_that_dies_of_its_first_draft_says_why(vllm: Callable[..., LaunchedServer]) -> None:
    """Synthetic acceptance is not made for the processor: the engine ends at the first token that was drafted."""
    with pytest.raises(InfraError, match="Synthetic acceptance not supported with CPU sampling") as failed:
        vllm(speculation=True, depth=3, synth_rates=[0.7, 0.5, 0.3])
    assert failed.value.code == "INFRA.start"
