"""Active, inactive, dead or unknown: by counters that moved, never by a flag."""

from __future__ import annotations

import pytest

from pytest_mtp.checks.speculation import broken_identities, evidence_of_speculation
from pytest_mtp.core.ask import Ask
from pytest_mtp.core.facts import Acceptance, SpecDecode, SpecState
from tests.checks.conftest import MemoryServer, reply

CLAIMED = SpecDecode(method="draft-mtp", depth=3, evidence=("/slots: speculative",))
PLAIN = SpecDecode()


def counts(drafted: int, accepted: int) -> Acceptance:
    return Acceptance(drafted=drafted, accepted=accepted, source="/metrics")


@pytest.mark.parametrize(
    ("configured", "delta", "state"),
    [
        pytest.param(CLAIMED, counts(90, 60), "active", id="drafts are accepted"),
        pytest.param(CLAIMED, counts(90, 0), "dead", id="nothing is ever accepted"),
        pytest.param(CLAIMED, counts(0, 0), "dead", id="claimed, and never drafts"),
        pytest.param(PLAIN, counts(0, 0), "inactive", id="not claimed, and never drafts"),
        pytest.param(PLAIN, counts(90, 60), "active", id="drafts though nobody said so"),
        pytest.param(CLAIMED, counts(8, 0), "unknown", id="too few drafts to tell"),
        pytest.param(CLAIMED, None, "unknown", id="a claim without counters is no proof"),
    ],
)
def test_state(configured: SpecDecode, delta: Acceptance | None, state: SpecState) -> None:
    server = MemoryServer(lambda _: reply("x"))
    found = evidence_of_speculation(configured, server, [], delta)
    assert found.state == state
    proof, claims = found.evidence[: -len(configured.evidence) or None], found.evidence[len(found.evidence) - len(configured.evidence) :]
    assert proof
    assert claims == configured.evidence


def test_replies_tell_where_counters_do_not() -> None:
    server = MemoryServer(lambda _: reply("x", extras={"timings": {"draft_n": 9, "draft_n_accepted": 4}}))
    exchanges = [server.ask(Ask(messages=()))] * 2
    found = evidence_of_speculation(PLAIN, server, exchanges, None)
    assert found.state == "active"
    assert found.acceptance is not None
    assert (found.acceptance.drafted, found.acceptance.accepted) == (18, 8)


@pytest.mark.parametrize(
    ("broken", "word"),
    [
        (Acceptance(drafted=4, accepted=5), "accepted 5 > drafted 4"),
        (Acceptance(drafted=-4, accepted=0), "backwards"),
        (Acceptance(drafted=9, accepted=5, rounds=3, per_position=(3, 1)), "positions sum to 4"),
        (Acceptance(drafted=9, accepted=4, rounds=3, per_position=(1, 3)), "later position"),
        (Acceptance(drafted=9, accepted=4, rounds=3, per_position=(4,)), "4 times in 3 rounds"),
    ],
    ids=["more accepted than drafted", "backwards", "sum", "order", "rounds"],
)
def test_identities_are_exact(broken: Acceptance, word: str) -> None:
    assert any(word in line for line in broken_identities(broken))


def test_sound_counts_break_nothing() -> None:
    sound = Acceptance(drafted=9, accepted=4, rounds=3, per_position=(3, 1))
    assert broken_identities(sound, emitted_tokens=8) == []
    assert broken_identities(sound, emitted_tokens=3) == ["4 accepted drafts in 3 emitted tokens"]
