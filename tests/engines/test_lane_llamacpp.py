"""llama.cpp with every kind of drafting that runs here: launched by its profile, and read by its adapter."""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from scipy.stats import binom

from pytest_mtp.core.ask import Ask, Sampling
from pytest_mtp.core.errors import InfraError
from pytest_mtp.core.facts import Acceptance
from pytest_mtp.core.record import Json
from pytest_mtp.core.reply import Reply
from pytest_mtp.core.run import RunReport
from pytest_mtp.judge.acceptance import broken_identities
from pytest_mtp.profiles.load import load_profile
from pytest_mtp.servers.demo.assemble import assemble
from pytest_mtp.servers.launch import launch_profile
from pytest_mtp.servers.launched import LaunchedServer
from pytest_mtp.servers.process import ChildProcess, free_port
from pytest_mtp.servers.server import listens

pytestmark = pytest.mark.engine

QUESTIONS = ("Why is the sky blue?", "Write a Python function that adds two numbers.", "Count from 1 to 20.")
REPEATED = "Repeat this line five times: the quick brown fox jumps over the lazy dog."


class Launcher:
    """One server at a time: two cores are enough for one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._server: LaunchedServer | None = None

    def __call__(self, **params: Json) -> LaunchedServer:
        self.stop()
        self._server = launch_profile(
            load_profile("llamacpp"), run_dir=self._folder, params={"model": str(assemble()), "n_ctx": 4096, **params}, timeout_s=120
        )
        return self._server

    def stop(self) -> None:
        if self._server is not None:
            self._server.stop()


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Launcher]:
    launcher = Launcher(tmp_path_factory.mktemp("llamacpp"))
    yield launcher
    launcher.stop()


def spent(
    server: LaunchedServer, *words: str, max_tokens: int = 24, stream: bool = False, ignore_eos: bool = False
) -> tuple[list[Reply], Acceptance]:
    """The replies, and how far the server's counters moved meanwhile."""
    before = server.engine.counters(server.client)
    replies = []
    for each in words:
        extra: dict[str, Json] = {"ignore_eos": True} if ignore_eos else {}
        ask = Ask(messages=({"role": "user", "content": each},), sampling=Sampling(max_tokens=max_tokens), stream=stream, extra_body=extra)
        reply = server.client.ask(ask).reply
        assert reply is not None
        replies.append(reply)
    after = server.engine.counters(server.client)
    assert before is not None
    assert after is not None
    moved = after.since(before).acceptance
    assert moved is not None
    return replies, moved


def drafts(server: LaunchedServer, replies: list[Reply]) -> tuple[int, int]:
    """Drafted and accepted, as the replies themselves say."""
    counts = [server.engine.acceptance_of(reply) for reply in replies]
    return sum(each.drafted for each in counts if each), sum(each.accepted for each in counts if each)


def test_a_restart_changes_the_depth_and_proves_itself(start: Launcher) -> None:
    """Depth 1, 2, 3 and off, in one server's life: the text never changes, the drafts do."""
    server = start(depth=1)
    texts, rates, born = [], [], [server.facts.details["started_at"]]
    for depth in (1, 2, 3):
        if depth > 1:
            before = server.facts
            facts = server.restart({"depth": depth})
            born.append(facts.details["started_at"])
            assert facts.pid != before.pid
            assert not psutil.pid_exists(before.pid or 0)
            (line,) = [line for line in facts.evidence if line.startswith("restarted: ")]
            assert f"process {before.pid} -> {facts.pid}" in line
            assert f"depth {depth - 1} -> {depth}" in line
        replies, moved = spent(server, *QUESTIONS)
        texts.append([reply.text for reply in replies])
        rates.append(moved.rate or 0.0)
        assert (server.facts.speculation.method, server.facts.speculation.depth) == ("draft-mtp", depth)
        assert drafts(server, replies) == (moved.drafted, moved.accepted)
        assert broken_identities(moved) == []
        assert len(moved.per_position) == depth
        assert min(moved.per_position) > 0
        assert moved.rounds is not None
        assert (depth - 1) * moved.rounds < moved.drafted <= depth * moved.rounds
    facts = server.restart({"speculation": False})
    replies, moved = spent(server, *QUESTIONS)
    assert facts.speculation.state == "inactive"
    assert facts.process is not None
    assert facts.process.speculation is not None
    assert facts.process.speculation.state == "inactive"
    assert (moved.drafted, moved.rounds, moved.per_position) == (0, 0, ())
    assert [server.engine.acceptance_of(reply) for reply in replies] == [None] * len(replies)
    assert all(text == [reply.text for reply in replies] for text in texts)
    assert rates == sorted(rates, reverse=True)  # later positions are harder, so a deeper draft is accepted at a lower rate
    assert born == sorted(set(born))


def test_a_model_that_drafts_for_itself_is_always_right(start: Launcher) -> None:
    server = start(method="draft-simple", drafter=str(assemble()), depth=3)
    replies, moved = spent(server, *QUESTIONS)
    assert moved.drafted == moved.accepted > 40
    assert drafts(server, replies) == (moved.drafted, moved.accepted)
    assert broken_identities(moved) == []
    assert moved.mean_length is not None
    assert 3 < moved.mean_length <= 4
    process = server.facts.process
    assert process is not None
    assert process.drafter_path == process.model_path == str(assemble())
    assert process.pid == server.facts.pid


def test_drafting_that_cannot_begin_is_a_failed_start(start: Launcher, tmp_path: Path) -> None:
    """llama.cpp itself goes on and serves without drafts, with the flag set: that is what nobody notices for months."""
    with pytest.raises(InfraError, match="failed to initialize speculative decoding context: draft-simple requires a draft context"):
        start(method="draft-simple")
    no_model = tmp_path / "drafter.gguf"
    no_model.write_text("no model")
    with pytest.raises(InfraError, match="invalid magic characters"):
        start(method="draft-simple", drafter=str(no_model))


def test_a_server_that_was_told_to_draft_and_does_not_closes_the_gate(
    gate: Callable[..., tuple[int, str, RunReport]], start: Launcher, tmp_path: Path
) -> None:
    """Nobody's profile watched its log: its command line says one thing, its counters another."""
    start.stop()
    port = free_port()
    words = ["--model", str(assemble()), "--port", str(port), "--spec-type", "draft-simple", "--metrics"]
    child = ChildProcess([sys.executable, "-m", "pytest_mtp.servers.llamacpp.child", *words], log=tmp_path / "log")
    try:
        tmp_path.joinpath("p.mtp.yaml").write_text("schema_version: 1\nsuite: p\ncases:\n  - {id: who, check: identity}\n")
        while child.alive() and not listens("127.0.0.1", port):
            time.sleep(0.05)
        code, text, report = gate(tmp_path, "--mtp-server", f"http://127.0.0.1:{port}", "p.mtp.yaml")
    finally:
        child.stop()
    assert code == 1, text
    assert report.servers[0].speculation.state == "inactive"
    (blocking,) = report.gate.blocking
    assert blocking.code == "ID.process"
    assert "asks for speculation (draft-simple), and the server does not speculate" in " ".join(text.split())


@pytest.mark.parametrize("method", ["ngram-simple", "ngram-mod"])
def test_ngrams_draft_where_the_text_repeats_itself(start: Launcher, method: str) -> None:
    server = start(method=method, depth=4, lookup=3)
    replies, moved = spent(server, REPEATED, max_tokens=64)
    assert 0 < moved.accepted <= moved.drafted
    assert drafts(server, replies) == (moved.drafted, moved.accepted)
    assert broken_identities(moved) == []
    assert len(moved.per_position) <= 4
    assert server.facts.process is not None
    assert server.facts.process.speculation is not None
    assert (server.facts.process.speculation.method, server.facts.process.speculation.depth) == (method, 4)


def test_a_kind_that_drafts_nothing_says_zero_and_not_nothing(start: Launcher) -> None:
    """The fields are absent from such a reply; `/slots` tells that it speculates all the same."""
    server = start(method="ngram-cache")
    (reply,), moved = spent(server, QUESTIONS[0])
    counted = server.engine.acceptance_of(reply)
    assert "draft_n" not in str(reply.extras)
    assert counted is not None
    assert (counted.drafted, counted.accepted, moved.drafted) == (0, 0, 0)
    assert "absent" in counted.source
    assert server.facts.speculation.state == "unknown"


def test_synthetic_acceptance_is_read_back_as_it_was_set(start: Launcher) -> None:
    """The instrument test: rates that somebody set must be the rates that we read.

    Each round draws its acceptance anew, whatever the tokens are, so the rounds whose draft i was accepted are a binomial count
    of rate i. It must lie where such a count lies with probability 1 - 1e-6; a draft that the budget cut short may have been
    meant or not. With 120 rounds that is +- 0.22 at a rate of 0.5, and a chance of 3e-6 that a right reading fails.
    """
    rates = (0.7, 0.5, 0.3)
    server = start(synth_rates=list(rates))
    replies, moved = spent(server, *QUESTIONS, max_tokens=100, ignore_eos=True)
    assert moved.rounds is not None
    assert moved.rounds >= 100
    cut = 3 * moved.rounds - moved.drafted
    assert cut <= 3 * len(QUESTIONS)
    for rate, accepted in zip(rates, moved.per_position, strict=True):
        assert binom.ppf(5e-7, moved.rounds - cut, rate) <= accepted <= binom.isf(5e-7, moved.rounds, rate)
    assert broken_identities(moved) == []
    assert drafts(server, replies) == (moved.drafted, moved.accepted)
    assert server.facts.process is not None
    assert server.facts.process.speculation is not None
    assert any("wrong on purpose" in line for line in server.facts.process.speculation.evidence)


def test_tokens_of_a_verify_step_come_without_logprobs(start: Launcher) -> None:
    """As `not_offered` says; a token of a step without drafts keeps its own."""
    server = start(depth=1)
    assert any(line.startswith("logprobs under speculation: ") for line in server.facts.not_offered)
    ask = Ask(messages=({"role": "user", "content": QUESTIONS[0]},), sampling=Sampling(max_tokens=12), top_logprobs=2)
    reply = server.client.ask(ask).reply
    assert reply is not None
    assert len(reply.logprobs) == 12
    assert [len(token.top) for token in reply.logprobs[:2]] == [2, 0]
    assert all(token.logprob == 0 for token in reply.logprobs if not token.top)
    one = server.client.ask(dataclasses.replace(ask, sampling=Sampling(max_tokens=1))).reply
    assert one is not None
    assert one.logprobs == reply.logprobs[:1]


def test_the_gate_launches_it_by_name_and_measures_acceptance(gate: Callable[..., tuple[int, str, RunReport]], tmp_path: Path) -> None:
    tmp_path.joinpath("p.mtp.yaml").write_text(
        "schema_version: 1\nsuite: p\ncases:\n"
        "  - {id: alive, check: acceptance, with: {max_tokens: 24, prompts: {code: [Write a loop in C.], prose: [What is rain?]}}}\n"
    )
    code, text, report = gate(tmp_path, "--mtp-launch", f"llamacpp?model={assemble()}&depth=2", "p.mtp.yaml")
    assert code == 0, text
    (server,) = report.servers
    assert (server.engine, server.speculation.state, server.speculation.method, server.speculation.depth) == (
        "llamacpp",
        "active",
        "draft-mtp",
        2,
    )
    assert server.process is not None
    assert server.process.model_path == str(assemble())
    assert len(server.not_offered) == 3
    measures = {(m.name, m.stratum): m.value for case in report.cases for m in case.verdict.measures}
    first, second = (measures[f"acceptance_at_position_{place}", "code"] for place in (0, 1))
    assert first is not None
    assert second is not None
    assert 0 < second <= first <= 1
    assert measures["mean_acceptance_length", "code"] == pytest.approx(1 + first + second)
