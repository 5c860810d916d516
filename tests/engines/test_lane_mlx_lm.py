"""mlx-lm's real server, which tells nothing of its drafts and has a fault that only repeating a request shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
  - {id: speaks, ask: Name a river., sampling: {max_tokens: 16}, expect: {length: {min_words: 16}}}
  - id: drafts
    check: acceptance
    with: {max_tokens: 16, prompts: {words: [Why is the sky blue?]}}
  - {id: cache, check: prefix_cache, with: {words: 40, prefixes: 6, max_tokens: 8}}
"""
NOISE = "0.05"
"""Of the draft model: few of its drafts are right, so that most requests end on a token of the target's own."""

Ran = tuple[int, str, RunReport]


@pytest.fixture(scope="module")
def run(
    tmp_path_factory: pytest.TempPathFactory, gate: Callable[..., Ran], lane: Callable[[str], Path], checkpoint: Callable[..., Path]
) -> Callable[..., Ran]:
    """`run(drafter=True)` is the gate with a draft model, run once."""
    done: dict[bool, Ran] = {}

    def once(*, drafter: bool) -> Ran:
        if drafter not in done:
            folder, pair = tmp_path_factory.mktemp("gate"), checkpoint("tiny_llama_pair", NOISE)
            folder.joinpath("p.mtp.yaml").write_text(SUITE)
            words = f"mlx-lm?model={pair / 'target'}&python={lane('mlx-lm')}" + (f"&drafter={pair / 'draft'}" if drafter else "")
            done[drafter] = gate(folder, "-rs", "--mtp-launch", words, "p.mtp.yaml")
        return done[drafter]

    return once


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, lane: Callable[[str], Path], checkpoint: Callable[..., Path]
) -> Iterator[LaunchedServer]:  # fmt: skip
    pair = checkpoint("tiny_llama_pair", NOISE)
    params = {"model": str(pair / "target"), "drafter": str(pair / "draft"), "python": str(lane("mlx-lm"))}
    started = launch_profile(load_profile("mlx-lm"), run_dir=tmp_path_factory.mktemp("server"), params=params, timeout_s=120)
    yield started
    started.stop()


@pytest.mark.parametrize("drafter", [False, True], ids=["plain", "with-a-draft-model"])
def test_the_suite_runs_and_the_report_says_that_drafts_cannot_be_seen(run: Callable[..., Ran], drafter: bool) -> None:
    _, text, report = run(drafter=drafter)
    (server,) = report.servers
    assert (server.engine, server.engine_version, server.model) == ("mlx-lm", "0.32.2", "default_model")
    assert server.speculation.state == "unknown" or not drafter
    assert server.speculation.state != "active"
    assert server.speculation.acceptance is None
    named = {line.split(":")[0] for line in server.not_offered}
    assert named >= {"draft counts", "configuration of speculation", "logprobs in streams", "tool_choice", "response_format"}
    assert [case.verdict.outcome for case in report.cases if case.node_id.endswith("speaks")] == ["PASS"]
    said = " ".join(text.split())
    assert "speculation cannot be seen on this server: neither counters nor replies tell of drafts" in said


def test_its_process_says_whether_there_is_a_draft_model(run: Callable[..., Ran]) -> None:
    (plain,), (drafting,) = run(drafter=False)[2].servers, run(drafter=True)[2].servers
    assert plain.process is not None
    assert plain.process.speculation is not None
    assert (plain.process.speculation.state, plain.process.drafter_path) == ("inactive", None)
    assert drafting.process is not None
    assert drafting.process.speculation is not None
    assert (drafting.process.speculation.state, drafting.process.speculation.depth, drafting.process.sequences) == ("unknown", 3, 1)
    assert (drafting.process.drafter_path or "").endswith("/draft")


def test_a_draft_model_corrupts_its_prefix_cache_and_that_closes_the_gate(run: Callable[..., Ran]) -> None:
    """A real fault of 0.32.2: a request with drafts leaves a cache that lacks a token, and later ones build on it."""
    plain_code, plain_text, plain = run(drafter=False)
    assert plain_code == 0, plain_text
    assert {case.verdict.outcome for case in plain.cases} == {"PASS"}
    code, text, drafting = run(drafter=True)
    assert code == 1, text
    assert {(blocking.code, blocking.node_id.rpartition("::")[2]) for blocking in drafting.gate.blocking} == {("CTRL.cache", "cache")}
    assert "CTRL.cache: with a cache hit" in " ".join(text.split())


def test_the_control_sees_that_it_disagrees_with_itself_at_temperature_0(run: Callable[..., Ran]) -> None:
    plain, drafting = run(drafter=False)[2].control, run(drafter=True)[2].control
    assert plain is not None
    assert drafting is not None
    assert plain.disagree_text == 0
    assert drafting.disagree_text >= 1
    assert "CTRL.unstable" in {finding.code for finding in drafting.findings}
    assert "CTRL.unstable" not in {finding.code for finding in plain.findings}


def test_attached_without_a_name_it_is_asked_for_what_it_was_started_with(server: LaunchedServer) -> None:
    attached = attach(server.facts.endpoint.root, model=None, api_key_env=None, api_key=None, timeout_s=60)
    attached.client.close()
    assert (attached.facts.engine, attached.facts.model) == ("mlx-lm", "default_model")
    assert attached.facts.process is not None
    assert attached.facts.process.model_path == server.params["model"]


@pytest.mark.parametrize("stream", [False, True], ids=["unary", "stream"])
def test_logprobs_and_ids_come_unstreamed_alone(server: LaunchedServer, stream: bool) -> None:
    ask = Ask(messages=({"role": "user", "content": "Name a river."},), sampling=Sampling(max_tokens=4), top_logprobs=2, stream=stream)
    reply = server.client.ask(ask).reply
    assert reply is not None
    assert reply.usage is not None
    assert reply.usage.completion_tokens == 4
    assert len([token for token in reply.logprobs if token.token_id is not None and len(token.top) == 2]) == (0 if stream else 4)


def test_the_probe_of_logprobs_finds_that_they_name_other_tokens(
    tmp_path: Path, server: LaunchedServer, gate: Callable[..., Ran]
) -> None:  # fmt: skip
    """Another real fault of 0.32.2: with three alternatives or more, an unsorted first stands for the chosen token."""
    tmp_path.joinpath("p.mtp.yaml").write_text("schema_version: 1\nsuite: p\ncases:\n  - {id: logprobs, check: logprobs}\n")
    code, text, report = gate(tmp_path, "--mtp-server", server.facts.endpoint.root, "p.mtp.yaml")
    assert code == 1, text
    assert {blocking.code for blocking in report.gate.blocking} == {"PROTO.logprobs"}
    assert "chosen at temperature 0" in " ".join(text.split())


def test_one_request_can_do_without_drafts(server: LaunchedServer) -> None:
    ask = server.engine.unspeculated(Ask(messages=({"role": "user", "content": "Name a river."},), sampling=Sampling(max_tokens=8)))
    assert ask is not None
    reply = server.client.ask(ask).reply
    assert reply is not None
    assert reply.usage is not None
    assert reply.usage.completion_tokens == 8
