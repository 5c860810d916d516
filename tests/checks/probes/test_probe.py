"""From trials to a verdict: what was not reached proves nothing, and a clean run says what it could have missed."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pytest_mtp.checks.probes.probe import Sight, concluded, finding
from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import Case, Source
from pytest_mtp.core.errors import NotOffered
from pytest_mtp.core.exchange import Exchange, Timeline
from pytest_mtp.core.reply import Reply, Usage
from pytest_mtp.core.verdict import Outcome

CASE = Case(id="c", suite="s", source=Source(path="s", line=1))
HARM = finding("TOOL.leak", "markup in the text")
NOTE = finding("PROTO.param", "ignored")
NO_ANSWER = finding("INFRA.timeout", "no answer")

CLEAN, NOTED = Sight(condition="a"), Sight(condition="a", findings=(NOTE,))
BROKEN, BLOCKED = Sight(condition="a", findings=(HARM,)), Sight(condition="b", findings=(NO_ANSWER,))
FAR = Sight(condition="b", unreached="no cache hit was seen")


def exchange(tokens: int | None = 4) -> Exchange:
    usage = None if tokens is None else Usage(completion_tokens=tokens)
    return Exchange(ask=Ask(messages=()), url="u", model="m", reply=Reply(content="x", usage=usage), timeline=Timeline(sent_ns=0))


@pytest.mark.parametrize(
    ("sights", "outcome"),
    [
        pytest.param([CLEAN, NOTED], "PASS", id="notes harm nobody"),
        pytest.param([CLEAN, FAR], "PASS", id="one condition of two"),
        pytest.param([FAR], "INCONCLUSIVE", id="no condition at all"),
        pytest.param([], "INCONCLUSIVE", id="nothing tried"),
        pytest.param([CLEAN, BROKEN], "FAIL", id="one broken trial"),
        pytest.param([CLEAN, BLOCKED], "BLOCKED", id="an answer is missing"),
        pytest.param([BROKEN, BLOCKED], "FAIL", id="harm outranks a missing answer"),
    ],
)
def test_one_verdict(sights: Sequence[Sight], outcome: Outcome) -> None:
    verdict = concluded(CASE, sights, [])
    assert verdict.outcome == outcome
    assert bool(verdict.reason) is (outcome != "PASS")


def test_a_condition_that_was_not_reached_is_named() -> None:
    verdict = concluded(CASE, [FAR], [])
    assert verdict.reason == "b: no cache hit was seen"
    (measure,) = [m for m in verdict.measures if m.name == "excludable_fault_rate"]
    assert (measure.value, measure.n, measure.note) == (None, 0, "not reached: no cache hit was seen")


def test_clean_trials_say_which_rate_they_exclude() -> None:
    (measure,) = [m for m in concluded(CASE, [CLEAN] * 30, []).measures if m.name == "excludable_fault_rate"]
    assert measure.value == pytest.approx(1 - 0.05 ** (1 / 30))
    assert measure.n == 30


def test_no_rate_is_excluded_where_a_fault_was_seen() -> None:
    (measure,) = [m for m in concluded(CASE, [CLEAN, BROKEN], []).measures if m.name == "excludable_fault_rate"]
    assert (measure.value, measure.note) == (None, "1 of 2 trials show a fault")


def test_a_harmless_trial_that_came_first_hides_no_harm() -> None:
    mild = Sight(condition="a", findings=(finding("TOOL.leak", "a doubt", severity="note"),))
    verdict = concluded(CASE, [mild, BROKEN, mild], [])
    assert verdict.outcome == "FAIL"
    (found,) = verdict.findings
    assert (found.title, found.severity, found.evidence["trials"]) == (HARM.title, HARM.severity, "3 of 3 trials")


def test_the_same_finding_stands_once_with_its_trials_and_place() -> None:
    (found,) = concluded(CASE, [BROKEN, BROKEN, CLEAN], []).findings
    assert (found.where, found.evidence["trials"]) == ("a", "2 of 3 trials")


def test_the_culprit_is_the_exchange_of_the_gravest_finding() -> None:
    first, second = exchange(), exchange()
    sights = [Sight(condition="a", findings=(NOTE,), culprit=first), Sight(condition="a", findings=(HARM,), culprit=second)]
    assert concluded(CASE, sights, [first, second]).culprit == 1


@pytest.mark.parametrize(("tokens", "spent"), [([3, 4], 7.0), ([3, None], None)], ids=["counted", "one reply does not count"])
def test_costs_are_counted_by_usage_alone(tokens: list[int | None], spent: float | None) -> None:
    measures = {m.name: m.value for m in concluded(CASE, [CLEAN], [exchange(n) for n in tokens]).measures}
    assert (measures["probe_requests"], measures["probe_tokens"]) == (2.0, spent)


def test_an_open_refusal_of_every_condition_is_skipped_and_not_accused() -> None:
    with pytest.raises(NotOffered, match="a: refused: no logprobs here"):
        concluded(CASE, [Sight(condition="a", not_offered="refused: no logprobs here")], [])


def test_a_refusal_beside_a_clean_condition_is_told() -> None:
    verdict = concluded(CASE, [CLEAN, Sight(condition="b", not_offered="refused")], [])
    assert verdict.outcome == "PASS"
    assert {m.stratum: m.note for m in verdict.measures if m.stratum}["b"] == "not reached: refused"
