"""Active, inactive, dead or unknown: by counters that moved with our own requests, never by a flag."""

from __future__ import annotations

import dataclasses

import pytest

from pytest_mtp.checks.speculation import Meter, drafts_by_lookup, evidence_of_speculation, ledger, restless
from pytest_mtp.core.ask import Ask, Sampling
from pytest_mtp.core.facts import Acceptance, Counters, SpecDecode, SpecState
from pytest_mtp.judge.ledger import Ledger
from tests.checks.conftest import MemoryServer, reply
from tests.checks.simulated import Simulated

CLAIMED = SpecDecode(method="draft-mtp", depth=3, evidence=("/slots: speculative",))
LOOKUP = dataclasses.replace(CLAIMED, method="ngram-simple")
PLAIN = SpecDecode()
ASK = Ask(messages=({"role": "user", "content": "Why?"},), sampling=Sampling(max_tokens=40))


def counts(drafted: int, accepted: int, **more: object) -> Acceptance:
    return Acceptance.from_dict({"drafted": drafted, "accepted": accepted, "source": "/metrics", **more})


def book(moved: Counters | None = None, own: Acceptance | None = None, *, emitted: int | None = 80, requests: int = 2) -> Ledger:
    return Ledger(requests=requests, emitted=emitted, replies=(own,) * requests, moved=moved, depth=3)


def drafts(drafted: int, accepted: int, tokens: int | None = 80) -> Counters:
    return Counters(acceptance=counts(drafted, accepted), generated_tokens=tokens, source="/metrics")


def steps(verify: int, tokens: int = 80) -> Counters:
    return Counters(generated_tokens=tokens, verify_steps=verify, source="/metrics")


@pytest.mark.parametrize(
    ("configured", "seen", "state", "words"),
    [
        pytest.param(CLAIMED, book(drafts(90, 60)), "active", "/metrics: 90 drafted, 60 accepted", id="drafts are accepted"),
        pytest.param(CLAIMED, book(drafts(90, 0)), "dead", "90 drafted, 0 accepted", id="nothing is ever accepted"),
        pytest.param(CLAIMED, book(drafts(0, 0)), "dead", "0 drafted", id="claimed, and never drafts"),
        pytest.param(PLAIN, book(drafts(0, 0)), "inactive", "0 drafted", id="not claimed, and never drafts"),
        pytest.param(PLAIN, book(drafts(90, 60)), "active", "90 drafted", id="drafts though nobody said so"),
        pytest.param(CLAIMED, book(drafts(8, 0)), "unknown", "too few to call", id="too few drafts to tell"),
        pytest.param(CLAIMED, book(None), "unknown", "neither counters nor replies", id="a claim without counters is no proof"),
        pytest.param(CLAIMED, book(drafts(0, 0), requests=0, emitted=0), "unknown", "no request of ours", id="nothing was answered"),
        pytest.param(CLAIMED, book(drafts(0, 0, 4), emitted=4), "unknown", "too few to be drafted", id="replies too short"),
        pytest.param(LOOKUP, book(drafts(0, 0)), "unknown", "only where the text repeats", id="lookup found nothing to repeat"),
        pytest.param(LOOKUP, book(drafts(60, 0)), "unknown", "only where the text repeats", id="lookup repeated the wrong thing"),
        pytest.param(LOOKUP, book(drafts(60, 9)), "active", "60 drafted", id="lookup"),
        pytest.param(PLAIN, book(None, counts(45, 20)), "active", "90 drafted, 40 accepted in our replies", id="replies alone"),
        pytest.param(CLAIMED, book(None, counts(0, 0)), "dead", "0 drafted", id="replies say that nothing was drafted"),
        pytest.param(CLAIMED, book(drafts(90, 60, 99)), "unknown", "19 of the tokens generated meanwhile are not ours", id="foreign"),
        pytest.param(CLAIMED, book(drafts(90, 60, 99), counts(20, 0)), "dead", "not ours", id="foreign drafts prove nothing of ours"),
        pytest.param(CLAIMED, book(drafts(90, 60, 99), counts(20, 9)), "active", "not ours", id="foreign, and replies tell"),
        pytest.param(CLAIMED, book(drafts(0, 0, 500)), "dead", "420 of the tokens", id="others were not drafted either"),
        pytest.param(CLAIMED, book(drafts(90, 60, None), counts(20, 9)), "active", "50 of the drafts", id="foreign drafts alone"),
        pytest.param(CLAIMED, book(drafts(-5, 0)), "unknown", "started anew", id="restarted"),
        pytest.param(CLAIMED, book(drafts(-5, 0), counts(20, 9)), "active", "went backwards", id="restarted, and replies tell"),
        pytest.param(CLAIMED, book(drafts(0, 0, 0)), "unknown", "did not see all", id="counters of another replica"),
        pytest.param(CLAIMED, book(drafts(9, 4, 20)), "active", "miss 60 of our 80 tokens", id="counters of one replica"),
        pytest.param(CLAIMED, book(drafts(90, 60), counts(5, 1)), "active", "two sources contradict each other", id="conflict"),
        pytest.param(CLAIMED, book(steps(39)), "active", "39 verify steps during our requests, 2.00 tokens a step", id="steps alone"),
        pytest.param(CLAIMED, book(steps(78)), "dead", "1.00 tokens a step", id="no step ever gave two"),
        pytest.param(CLAIMED, book(steps(0)), "dead", "0 verify steps", id="no step was verified"),
        pytest.param(PLAIN, book(steps(0)), "inactive", "0 verify steps", id="not claimed, and nothing verified"),
        pytest.param(CLAIMED, book(steps(39, 99)), "unknown", "not ours", id="steps of others"),
    ],
)
def test_state(configured: SpecDecode, seen: Ledger, state: SpecState, words: str) -> None:
    found = evidence_of_speculation(configured, seen)
    assert found.state == state
    assert words in "\n".join(found.evidence)
    proof, claims = found.evidence[: -len(configured.evidence) or None], found.evidence[len(found.evidence) - len(configured.evidence) :]
    assert proof
    assert claims == configured.evidence


def test_the_reason_for_not_knowing_comes_first() -> None:
    assert (
        evidence_of_speculation(CLAIMED, book(drafts(90, 60, 99))).evidence[0]
        == "requests of others moved the counters, and replies tell of no drafts"
    )


def test_signs_stand_between_proof_and_claims_and_change_no_state() -> None:
    found = evidence_of_speculation(CLAIMED, book(None), signs=("weak evidence: a stream with 2.00 tokens a chunk",))
    assert found.state == "unknown"
    assert found.evidence[1:] == ("weak evidence: a stream with 2.00 tokens a chunk", "/slots: speculative")


def test_replies_tell_where_counters_do_not() -> None:
    server = MemoryServer(lambda _: reply("x", extras={"timings": {"draft_n": 9, "draft_n_accepted": 4}}))
    exchanges = [server.ask(Ask(messages=()))] * 2
    found = evidence_of_speculation(PLAIN, ledger(server, exchanges, None))
    assert found.state == "active"
    assert found.acceptance is not None
    assert (found.acceptance.drafted, found.acceptance.accepted) == (18, 8)


@pytest.mark.parametrize("others", [0, 2])
@pytest.mark.parametrize(
    ("rate", "tells", "state"),
    [
        (0.6, {"drafts", "tokens", "replies"}, "active"),
        (0.0, {"drafts", "tokens", "replies"}, "dead"),
        (0.6, {"drafts", "tokens"}, "active"),
        (0.6, {"tokens", "steps"}, "active"),
        (0.0, {"tokens", "steps"}, "dead"),
        (0.6, {"replies"}, "active"),
        (0.6, {"tokens"}, "unknown"),
        (0.6, set(), "unknown"),
    ],
    ids=lambda value: "+".join(sorted(value)) if isinstance(value, set) else str(value),
)
def test_a_server_that_speculates(rate: float, tells: set[str], state: SpecState, others: int) -> None:
    """Whatever it tells; with others beside us, only what its replies tell counts."""
    server = Simulated(rate=rate, tells=frozenset(tells), others=others, seed=5)
    before = server.counters(server)
    exchanges = [server.ask(ASK) for _ in range(12)]
    after = server.counters(server)
    found = evidence_of_speculation(server.facts.speculation, ledger(server, exchanges, after.since(before) if after and before else None))
    assert found.state == (state if not others or "replies" in tells else "unknown")


def test_counters_that_come_late_are_read_again() -> None:
    server = Simulated(tells=frozenset({"drafts", "tokens"}))
    meter = Meter(server)
    exchanges = [server.ask(ASK)]
    server.lag = 3
    moved = meter.moved(exchanges)
    assert moved is not None
    assert moved.generated_tokens == server.own.tokens


def test_counters_that_never_catch_up_are_not_waited_for_again() -> None:
    class Late(Simulated):
        readings_taken = 0

        def counters(self, client: object) -> Counters | None:
            self.lag, self.readings_taken = self.whole.tokens // 2, self.readings_taken + 1
            return super().counters(client)

    server = Late(tells=frozenset({"drafts", "tokens"}))
    meter = Meter(server)
    taken = []
    for _ in range(3):
        meter.moved([server.ask(ASK)])
        taken.append(server.readings_taken)
    assert taken == [6, 7, 8]


def test_lookup_methods_are_known_by_name() -> None:
    assert [name for name in ("mtp", "ngram", "prompt_lookup", "suffix", "eagle3", None) if drafts_by_lookup(name)] == [
        "ngram",
        "prompt_lookup",
        "suffix",
    ]


@pytest.mark.parametrize(
    "seen",
    [
        pytest.param(book(drafts(60, 90)), id="more accepted than drafted"),
        pytest.param(book(None, counts(10, 100)), id="so say the replies"),
        pytest.param(
            book(Counters(acceptance=counts(10, 6, rounds=5, per_position=[6]), generated_tokens=80)), id="a position above 100 %"
        ),
    ],
)
def test_counts_that_contradict_themselves_prove_nothing(seen: Ledger) -> None:
    found = evidence_of_speculation(CLAIMED, seen)
    assert found.state == "unknown"
    assert "contradict themselves" in found.evidence[0]


def test_counters_that_move_by_themselves_are_not_ours() -> None:
    still, moving = MemoryServer(lambda _: reply("x")), MemoryServer(lambda _: reply("x"))
    still.readings = [counts(5, 3), counts(5, 3)]
    moving.readings = [counts(5, 3), counts(15, 9)]
    assert not restless(still)
    assert restless(moving)
