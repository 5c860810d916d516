"""mlx-vlm's real server with a native multi-token-prediction head whose acceptance is known by construction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_mtp.core.ask import Ask, Sampling
from pytest_mtp.core.run import RunReport
from pytest_mtp.profiles.load import load_profile
from pytest_mtp.servers.attach import attach
from pytest_mtp.servers.launch import launch_profile
from pytest_mtp.servers.launched import LaunchedServer

pytestmark = pytest.mark.engine

SUITE = """
schema_version: 1
suite: p
cases:
  - id: drafts
    check: acceptance
    with: {max_tokens: 48, prompts: {words: [Why is the sky blue?, Name a river.]}}
  - {id: speaks, ask: Name a river., sampling: {max_tokens: 16}, expect: {length: {min_words: 16}}}
"""
FALLING = ("exact", "exact:0.02", "exact:0.05", "random")
BOUNDS = {"exact": (1.0, 1.0), "exact:0.02": (0.3, 0.8), "exact:0.05": (0.05, 0.45), "random": (0.0, 0.0)}


@dataclass(frozen=True, kw_only=True)
class Run:
    code: int
    text: str
    report: RunReport

    @property
    def acceptance_rate(self) -> float:
        (value,) = [m.value for case in self.report.cases for m in case.verdict.measures if m.name == "acceptance_rate"]
        assert value is not None
        return value


@pytest.fixture(scope="module")
def run(
    tmp_path_factory: pytest.TempPathFactory, gate: Callable[..., tuple[int, str, RunReport]], lane: Callable[[str], Path],
    checkpoint: Callable[..., Path],
) -> Callable[..., Run]:  # fmt: skip
    """`run("exact:0.02")` is the gate on that checkpoint, run once."""
    done: dict[tuple[str, str], Run] = {}

    def once(mode: str, more: str = "") -> Run:
        if (mode, more) not in done:
            folder = tmp_path_factory.mktemp("gate")
            folder.joinpath("p.mtp.yaml").write_text(SUITE)
            model = checkpoint("tiny_qwen35_mtp", mode)
            code, text, report = gate(folder, "--mtp-launch", f"mlx-vlm?model={model}&python={lane('mlx-vlm')}{more}", "p.mtp.yaml")
            done[mode, more] = Run(code=code, text=text, report=report)
        return done[mode, more]

    return once


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, lane: Callable[[str], Path], checkpoint: Callable[..., Path]
) -> Iterator[LaunchedServer]:  # fmt: skip
    params = {"model": str(checkpoint("tiny_qwen35_mtp", "exact:0.02")), "python": str(lane("mlx-vlm"))}
    started = launch_profile(load_profile("mlx-vlm"), run_dir=tmp_path_factory.mktemp("server"), params=params, timeout_s=120)
    yield started
    started.stop()


def test_the_server_is_known_and_what_it_does_not_offer_is_said(run: Callable[..., Run]) -> None:
    (server,) = run("exact").report.servers
    assert (server.engine, server.engine_version) == ("mlx-vlm", "0.7.10")
    assert server.context_length == 4096
    assert server.capabilities.request_acceptance is True
    assert server.capabilities.logprobs is False
    assert {line.split(":")[0] for line in server.not_offered} >= {"logprobs under speculation", "response_format under speculation"}
    assert server.process is not None
    assert server.process.drafter_path == server.process.model_path


def test_a_head_that_is_never_wrong_reads_100_percent(run: Callable[..., Run]) -> None:
    done = run("exact")
    assert done.code == 0, done.text
    assert done.acceptance_rate == 1.0
    (server,) = done.report.servers
    assert server.speculation.state == "active"
    assert server.speculation.acceptance is not None
    assert server.speculation.acceptance.drafted >= 200
    assert server.speculation.acceptance.mean_length == pytest.approx(3, abs=0.05)  # two drafts and the step's own token


def test_acceptance_falls_as_the_head_gets_noisier(run: Callable[..., Run]) -> None:
    rates = {mode: run(mode).acceptance_rate for mode in FALLING}
    for mode, (least, most) in BOUNDS.items():
        assert least <= rates[mode] <= most, rates
    assert list(rates.values()) == sorted(set(rates.values()), reverse=True)


def test_a_head_that_knows_nothing_is_dead_and_closes_the_gate(run: Callable[..., Run]) -> None:
    done = run("random")
    assert done.code == 1, done.text
    (server,) = done.report.servers
    assert server.speculation.state == "dead"
    assert {blocking.code for blocking in done.report.gate.blocking} == {"SPEC.dead"}
    assert "0 accepted" in done.text


def test_a_drafter_that_the_server_silently_does_without_is_dead(run: Callable[..., Run], checkpoint: Callable[..., Path]) -> None:
    """One of another width is left out with a line in the log; the server's settings go on naming it."""
    narrow = checkpoint("tiny_qwen35_mtp", "exact", "48")
    done = run("exact", f"&drafter={narrow}")
    assert done.code == 1, done.text
    (server,) = done.report.servers
    assert server.details["draft_model"] == str(narrow)
    assert server.speculation.state == "dead"
    assert any("refused while loading" in line for line in server.speculation.evidence)


@pytest.mark.parametrize("max_tokens", [1, 2, 3, 4, 7, 16, 33])
@pytest.mark.parametrize("stream", [False, True], ids=["unary", "stream"])
def test_each_reply_counts_its_drafts_to_the_token(server: LaunchedServer, max_tokens: int, stream: bool) -> None:
    """Every token comes from the prompt, from a verify step or from an accepted draft; two drafts a step at most."""
    ask = Ask(messages=({"role": "user", "content": "Name a river."},), sampling=Sampling(max_tokens=max_tokens), stream=stream)
    exchange = server.client.ask(ask)
    assert exchange.reply is not None, exchange.fault
    told = exchange.reply.extras["timings"]
    assert isinstance(told, dict)
    counted = server.engine.acceptance_of(exchange.reply)
    assert counted is not None
    assert counted.batch_wide
    assert counted.rounds is not None
    assert told["predicted_n"] == max_tokens
    assert max_tokens - counted.rounds - counted.accepted in (0, 1), counted
    assert counted.accepted <= counted.drafted <= 2 * counted.rounds, counted
    assert (counted.drafted > 0) is (max_tokens > 1)


def test_without_speculation_the_words_are_the_same(run: Callable[..., Run]) -> None:
    off, on = run("exact", "&speculation=off"), run("exact")
    assert off.report.servers[0].speculation.state == "inactive"
    assert off.report.servers[0].capabilities.logprobs is True
    assert on.report.control is not None
    assert off.report.control is not None
    assert on.report.control.answers == off.report.control.answers
    assert on.report.control.disagree_text == off.report.control.disagree_text == 0


def test_attached_by_url_it_is_the_same(server: LaunchedServer) -> None:
    attached = attach(server.facts.endpoint.root, model=None, api_key_env=None, api_key=None, timeout_s=60)
    attached.client.close()
    assert (attached.facts.engine, attached.facts.model) == ("mlx-vlm", server.facts.model)
    assert attached.facts.speculation.method == "mtp"


def test_structured_output_is_refused_while_it_drafts(server: LaunchedServer) -> None:
    """As `not_offered` says; once it is served, that line has to go."""
    ask = Ask(messages=({"role": "user", "content": "Hi"},), sampling=Sampling(max_tokens=4), response_format={"type": "json_object"})
    fault = server.client.ask(ask).fault
    assert fault is not None
    assert "not supported with speculative decoding" in fault.message
