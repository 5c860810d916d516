"""transformers serve with a tiny GLM-4.5: no counters, no logprobs, no [DONE], and a head that a request or its folder turns on."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pytest_mtp.core.ask import Ask, Sampling
from pytest_mtp.core.exchange import Exchange
from pytest_mtp.core.reply import Reply
from pytest_mtp.core.run import RunReport
from pytest_mtp.judge.chunks import stream_signs, tokens_per_chunk
from pytest_mtp.profiles.load import load_profile
from pytest_mtp.servers.launch import launch_profile
from pytest_mtp.servers.launched import LaunchedServer

pytestmark = pytest.mark.engine

Gate = Callable[..., tuple[int, str, RunReport]]

BUILD = Path(__file__).parents[2] / "lanes" / "checkpoints" / "tiny_glm4moe_mtp.py"
PLAIN = Ask(messages=({"role": "user", "content": "Name three colors."},), sampling=Sampling(max_tokens=16))
MTP = dataclasses.replace(PLAIN, extra_body={"generation_config": '{"use_mtp": true}'})
SUITE = """\
schema_version: 1
suite: degraded
cases:
  - {id: words, ask: Name three colors., stream: both, sampling: {max_tokens: 16}, expect: {length: {min_words: 1}}}
  - {id: alive, check: acceptance, with: {max_tokens: 16, prompts: {prose: [What is rain?]}}}
"""


def checkpoint(folder: Path, *, use_mtp: bool) -> Path:
    """A head that is never wrong; `use_mtp` turns it on for every request that says nothing else."""
    done = subprocess.run([sys.executable, str(BUILD), str(folder), "exact"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    path = folder / "generation_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **({"use_mtp": True} if use_mtp else {})}))
    return folder


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, lane: Callable[[str], Path]) -> Iterator[LaunchedServer]:
    """Speculates by the folder's own `generation_config.json`."""
    model = checkpoint(tmp_path_factory.mktemp("model"), use_mtp=True)
    params = {"model": str(model), "python": str(lane("transformers")), "device": "cpu", "threads": 1}
    launched = launch_profile(load_profile("transformers"), run_dir=tmp_path_factory.mktemp("run"), params=params, timeout_s=180)
    yield launched
    launched.stop()


def asked(server: LaunchedServer, ask: Ask | None, *, stream: bool = False) -> tuple[Exchange, Reply]:
    assert ask is not None
    exchange = server.client.ask(dataclasses.replace(ask, stream=stream))
    assert exchange.reply is not None, exchange.fault
    return exchange, exchange.reply


def test_it_is_known_and_says_what_it_does_not_offer(server: LaunchedServer) -> None:
    facts = server.facts
    assert (facts.engine, facts.model) == ("transformers", facts.endpoint.model)
    assert (facts.speculation.state, facts.speculation.method) == ("unknown", None)
    assert (facts.capabilities.logprobs, facts.capabilities.metrics, facts.capabilities.usage_in_stream) == (False, False, True)
    assert "draft counts" in {line.split(":")[0] for line in facts.not_offered}
    assert facts.process is not None
    assert (facts.process.pid, facts.process.model_path, facts.process.sequences) == (facts.pid, facts.model, 1)


def test_a_folder_or_a_request_turns_speculation_on_and_a_request_turns_it_off(server: LaunchedServer) -> None:
    """Seen by the events of a stream, one a verify step: the first from the prefill, each later one with its draft."""
    engine = server.engine
    plain, plain_reply = asked(server, engine.unspeculated(PLAIN), stream=True)
    assert tokens_per_chunk(plain) == 1
    assert (plain_reply.finish_reason, [note.code for note in plain_reply.notes]) == ("length", ["PROTO.done"])
    assert plain_reply.usage is not None
    assert plain_reply.usage.completion_tokens == 16
    twin, twin_reply = asked(server, PLAIN)
    for ask in (PLAIN, MTP):
        streamed, reply = asked(server, ask, stream=True)
        assert reply.text == twin_reply.text == plain_reply.text
        assert (tokens_per_chunk(streamed, twin) or 0) > 1.5
        assert "as under speculation" in stream_signs(streamed, twin)
    plain_off, _ = asked(server, engine.unspeculated(MTP), stream=True)
    assert tokens_per_chunk(plain_off) == 1


def test_a_stream_under_speculation_counts_verify_steps_as_tokens(server: LaunchedServer) -> None:
    """A fault of 5.24.0, as `not_offered` says. When this fails it was mended, and that line is wrong."""
    streamed, reply = asked(server, MTP, stream=True)
    events = sum(1 for chunk in streamed.timeline.chunks if chunk.characters)
    assert reply.usage is not None
    assert (reply.usage.completion_tokens, reply.finish_reason) == (events, "stop")
    assert events < 16


def test_fields_are_ignored_or_refused_and_neither_breaks_it(server: LaunchedServer) -> None:
    _, reply = asked(server, dataclasses.replace(PLAIN, top_logprobs=1))
    assert (reply.logprobs, reply.token_ids) == ((), ())
    refused = server.client.ask(dataclasses.replace(PLAIN, sampling=Sampling(max_tokens=4, min_p=0.1)))
    assert refused.fault is not None
    assert (refused.fault.code, refused.fault.status) == ("PROTO.refused", 422)
    assert "min_p" in refused.fault.message
    broken = server.client.ask(dataclasses.replace(PLAIN, sampling=Sampling(max_tokens=0)))
    assert broken.fault is not None
    assert (broken.fault.code, broken.fault.status) == ("INFRA.5xx", 500)
    inside = server.client.ask(dataclasses.replace(PLAIN, sampling=Sampling(max_tokens=0), stream=True))
    assert inside.fault is not None
    assert "max_new_tokens" in inside.fault.message
    assert asked(server, PLAIN)[1].finish_reason == "length"


def test_the_gate_is_open_for_what_such_a_server_can_show(gate: Gate, server: LaunchedServer, tmp_path: Path) -> None:
    """Degraded, with reasons: acceptance is skipped, a missing [DONE] is worth knowing, and the signs of a stream are called weak."""
    tmp_path.joinpath("p.mtp.yaml").write_text(SUITE)
    code, text, report = gate(tmp_path, "-rs", "--mtp-server", server.facts.endpoint.root, "p.mtp.yaml")
    assert code == 0, text
    assert "gate: open" in text
    assert "speculation cannot be seen on this server" in " ".join(text.split())
    (told,) = report.servers
    assert (told.engine, told.speculation.state) == ("transformers", "unknown")
    assert any("as under speculation" in line for line in told.speculation.evidence)
    assert told.not_offered == server.facts.not_offered
    notes = [finding for case in report.cases for finding in case.verdict.findings if finding.code == "PROTO.done"]
    assert {finding.severity for finding in notes} == {"note"}
    assert report.control is not None
    assert (report.control.usable, report.control.disagree_text, report.control.disagree_tokens) == (True, 0, None)


def test_the_gate_finds_what_streams_get_wrong_under_speculation(gate: Gate, server: LaunchedServer, tmp_path: Path) -> None:
    """Real faults of 5.24.0: a stream ends for the reason `stop` where the whole reply says `length`, and counts steps for tokens."""
    tmp_path.joinpath("p.mtp.yaml").write_text(
        "schema_version: 1\nsuite: p\ncases:\n  - {id: parity, check: stream_parity, severity: regression, with: {max_tokens: 8}}\n"
    )
    code, text, report = gate(tmp_path, "--mtp-server", server.facts.endpoint.root, "p.mtp.yaml")
    assert code == 1, text
    assert {blocking.code for blocking in report.gate.blocking} == {"PROTO.stream_diff", "PROTO.usage"}
    assert "the finish reason differs: unstreamed 'length', streamed 'stop'" in " ".join(text.split())
