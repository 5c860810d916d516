"""Speeds of one stream, and how far they are from what the memory allows."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from pytest_mtp.checks import throughput
from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import Case, Source
from pytest_mtp.core.exchange import ChunkStamp, Exchange, Timeline
from pytest_mtp.core.facts import Acceptance
from pytest_mtp.core.reply import Usage
from pytest_mtp.core.verdict import Measure
from pytest_mtp.core.weights import Weights
from tests.checks.conftest import MemoryServer, reply

SEED = Weights(
    total_bytes=4 * 10**9,
    trunk_bytes=35 * 10**8,
    expert_bytes=0,
    embedding_bytes=10**8,
    output_bytes=10**8,
    head_bytes=36 * 10**7,
    other_bytes=0,
    parameters=4 * 10**9,
    active_bytes=36 * 10**8,
    draft_bytes=36 * 10**7,
    routed_bytes=0,
    experts=None,
    experts_per_token=None,
    kv_bytes_per_token=None,
    bits_per_weight=8.0,
)
MS = 10**6


class Streaming(MemoryServer):
    """41 tokens: one after 100 ms, the other forty within 1,000 ms more."""

    weights: Weights | None = SEED

    def ask(self, ask: Ask) -> Exchange:
        self.asked.append(ask)
        stamps = (
            ChunkStamp(at_ns=100 * MS, characters=3),
            ChunkStamp(at_ns=600 * MS, characters=90),
            ChunkStamp(at_ns=1100 * MS, characters=5),
        )
        line = Timeline(sent_ns=0, headers_ns=0, done_ns=1100 * MS, chunks=stamps)
        answer = dataclasses.replace(self.answer(ask), usage=Usage(prompt_tokens=10, completion_tokens=41, total_tokens=51))
        return Exchange(ask=ask, url="http://memory/v1", model="m", reply=answer, timeline=line)

    ask_alone = ask


def measured(server: MemoryServer, **params: Any) -> dict[str, Measure]:
    plain = {"prompts": {"prose": ["Tell a story."]}, "rounds": 2, "warmup": 1, **params}
    case = Case(id="speed", suite="s", source=Source(path="s.yaml", line=1), check="throughput", params=plain)
    verdict = throughput.run(case, server)  # type: ignore[arg-type]  # as much of a context as this check sees
    assert verdict.outcome == "PASS"
    return {measure.name: measure for measure in verdict.measures}


def test_speeds_are_per_request_and_the_warm_up_does_not_count() -> None:
    found = measured(Streaming(lambda _: reply("x")))
    assert {name: round(measure.value or 0, 2) for name, measure in found.items()} == {
        "user_e2e_tps": 37.27,
        "ttft_ms": 100.0,
        "tokens_per_chunk": 13.67,
    }
    assert {measure.n for measure in found.values()} == {2}


def test_a_server_without_drafts_is_held_against_the_plain_ceiling() -> None:
    """273 GB/s over 3.6 GB of active weights are about 76 tokens a second."""
    found = measured(Streaming(lambda _: reply("x")), bandwidth_gb_s=273)
    assert (found["decode_tps"].value, found["decode_ceiling_tps"].value) == (40, pytest.approx(75.83, abs=0.01))
    assert found["of_ceiling"].value == pytest.approx(100 * 40 / 75.833, abs=0.01)
    assert "speculating_ceiling_tps" not in found


@pytest.mark.parametrize("told_by", ["counters", "replies"])
def test_drafts_raise_the_ceiling_by_what_was_measured(told_by: str) -> None:
    """41 tokens a request with 20 of them accepted at depth 1, rounds only where counters tell them."""
    timings = {"extras": {"timings": {"draft_n": 25, "draft_n_accepted": 20}}} if told_by == "replies" else {}
    readings = [
        Acceptance(drafted=25, accepted=20, rounds=25, source="counters"),
        Acceptance(drafted=75, accepted=60, rounds=75, source="counters"),
    ]
    server = Streaming(lambda _: reply("x", **timings), readings if told_by == "counters" else ())
    found = measured(server, bandwidth_gb_s=273)
    length = 1 + 40 / 50 if told_by == "counters" else 82 / 42
    ceiling = length * 273e9 / (36 * 10**8 + 36 * 10**7)
    assert found["speculating_ceiling_tps"].value == pytest.approx(ceiling)
    assert found["of_ceiling"].value == pytest.approx(100 * 40 / ceiling)
    assert "with drafts" in found["of_ceiling"].note


def test_without_a_checkpoint_the_ceiling_is_said_to_be_unknown() -> None:
    server = Streaming(lambda _: reply("x"))
    server.weights = None
    found = measured(server, bandwidth_gb_s=273)
    assert (found["decode_ceiling_tps"].value, found["decode_ceiling_tps"].n) == (None, 0)
    assert "give --mtp-checkpoint" in found["decode_ceiling_tps"].note
    assert "of_ceiling" not in found


def test_more_than_the_ceiling_is_called_impossible() -> None:
    share = measured(Streaming(lambda _: reply("x")), bandwidth_gb_s=10)["of_ceiling"]
    assert (share.value or 0) > 100
    assert "the bandwidth is not this server's" in share.note
