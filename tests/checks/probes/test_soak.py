"""The soak against a server that holds out, and against what only time shows."""

from __future__ import annotations

import pytest

from pytest_mtp.checks.kinds import check_for
from pytest_mtp.checks.probes.soak import PROBE
from pytest_mtp.core.case import Case, Source
from pytest_mtp.core.exchange import Fault
from pytest_mtp.core.facts import Acceptance, Counters, Load
from pytest_mtp.core.reply import Reply, Usage

BUSY = Fault(kind="busy", code="INFRA.busy", message="429", status=429)
CRASH = Fault(kind="server_error", code="INFRA.5xx", message="500, the server failed", status=500)
GONE = Fault(kind="connect", code="INFRA.connect", message="refused")


def case(**params):
    return Case(id="c", suite="s", source=Source(path="s", line=1), check="soak", params={"width": 8, "requests": 36, **params})


def codes(verdict):
    return [found.code for found in verdict.findings]


def words_of(ask):
    return str(ask.messages[-1]["content"])


def said(text):
    return Reply(content=text, finish_reason="stop", usage=Usage(prompt_tokens=5, completion_tokens=4, total_tokens=9))


@pytest.fixture
def soaked(memory):
    """`rate(round)` is the acceptance of a round; `left` the requests that never end."""

    class Soaked(memory):
        left, rounds = 0, 0
        rate = staticmethod(lambda _round: 0.5)
        drafts = Acceptance(drafted=0, accepted=0)

        def burst(self, asks):
            self.rounds += 1
            drafted, accepted = self.drafts.drafted + 100, self.drafts.accepted + int(100 * self.rate(self.rounds))
            self.drafts = Acceptance(drafted=drafted, accepted=accepted)
            return [self.ask(ask) for ask in asks]

        def counters(self, client):
            assert client is self
            return Counters(acceptance=self.drafts)

        def load(self, client):
            assert client is self
            return Load(running=self.left, waiting=0)

    return Soaked


def test_a_server_that_holds_out(soaked):
    server = soaked(lambda ask: said(words_of(ask)))
    verdict = check_for("soak")(case(), server)
    assert (verdict.outcome, codes(verdict), verdict.exchanges, server.rounds) == ("PASS", [], 36, 4)
    assert {m.stratum: m.n for m in verdict.measures if m.stratum} == {
        "the load": 32,
        "health": 4,
        "acceptance over time": 1,
        "their places are free again": 1,
    }
    asked = server.asked[:8]
    assert {ask.stream for ask in asked} == {True, False}
    assert any(ask.tools for ask in asked)
    assert any(ask.response_format for ask in asked)
    assert any(ask.sampling.temperature for ask in asked)


@pytest.mark.parametrize(("requests", "sent"), [(1, 9), (9, 9), (10, 18)])
def test_it_costs_what_it_says(soaked, requests, sent):
    server, asked = soaked(lambda ask: said(words_of(ask))), case(requests=requests)
    assert check_for("soak")(asked, server).exchanges == sent
    assert PROBE.requests(asked) == sent
    assert sum(ask.sampling.max_tokens for ask in server.asked) <= PROBE.tokens(asked)


def test_minutes_end_it_after_the_round_that_is_under_way(soaked):
    server = soaked(lambda ask: said(words_of(ask)))
    assert check_for("soak")(case(minutes=1e-9), server).outcome in ("PASS", "INCONCLUSIVE")
    assert server.rounds <= 1


def test_honest_refusals_are_no_fault(soaked):
    turn = iter(range(999))
    verdict = check_for("soak")(case(), soaked(lambda ask: BUSY if ask.stream and next(turn) % 2 else said(words_of(ask))))
    assert (verdict.outcome, codes(verdict)) == ("PASS", [])


def after(count, change):
    turn = iter(range(999))
    return lambda ask: change(ask) if next(turn) >= count else said(words_of(ask))


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        pytest.param(after(20, lambda ask: CRASH if ask.stream else said("x")), "PROTO.overload", "500, the server failed", id="errors"),
        pytest.param(after(20, lambda _ask: GONE), "PROTO.overload", "one token is not to be had", id="it dies"),
        pytest.param(after(20, lambda _ask: said("the word is zq3d3a2d00")), "PROTO.crossed", "of another request", id="crossed"),
    ],
)
def test_what_time_brings(soaked, monkeypatch, answer, code, words):
    monkeypatch.setattr("pytest_mtp.checks.probes.soak.secret_word", lambda place: f"zq3d3a2d0{place}")
    verdict = check_for("soak")(case(), soaked(answer))
    assert verdict.outcome == "FAIL"
    assert any(found.code == code and words in found.title for found in verdict.findings)


def test_a_dead_server_ends_it(soaked):
    server = soaked(after(12, lambda _ask: GONE))
    check_for("soak")(case(), server)
    assert server.rounds == 2


@pytest.mark.parametrize(
    ("rate", "found"),
    [
        pytest.param(lambda n: 0.6 if n == 1 else 0.5, [], id="steady"),
        pytest.param(lambda n: 0.8 / n, ["SPEC.decay"], id="decay"),
        pytest.param(lambda _n: 0.0, [], id="never any"),
    ],
)
def test_acceptance_over_time(soaked, rate, found):
    server = soaked(lambda ask: said(words_of(ask)))
    server.rate = rate
    assert codes(check_for("soak")(case(), server)) == found


def test_places_that_stay_taken(soaked, monkeypatch):
    monkeypatch.setattr("pytest_mtp.checks.probes.soak._SETTLE_S", 0.01)
    server = soaked(lambda ask: said(words_of(ask)))
    server.left = 2
    verdict = check_for("soak")(case(), server)
    assert (verdict.outcome, codes(verdict)) == ("FAIL", ["PROTO.disconnect"])
