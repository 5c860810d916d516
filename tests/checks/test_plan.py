"""The plan of a budget: worth, costs, order and repeats."""

from __future__ import annotations

import dataclasses
import random

import pytest

from pytest_mtp.checks.budget import CONTROL_REQUESTS, THOROUGH_LOOKS, Budget, read_budget
from pytest_mtp.checks.cost import NO_LIMIT_TOKENS, USUAL_TOKENS, Cost, Pace, cost_of, pace_of
from pytest_mtp.checks.kinds import BUILT_IN, PROBES
from pytest_mtp.checks.plan import AGAIN, fitting, looks, plan
from pytest_mtp.checks.worth import FAULTS, seen_by
from pytest_mtp.core.ask import Ask, Sampling
from pytest_mtp.core.case import Case, Expect, Source
from pytest_mtp.core.exchange import Exchange, Timeline
from pytest_mtp.core.reply import Reply, Usage
from pytest_mtp.judge.statistics import upper_bound
from pytest_mtp.suites.load import load_suite
from pytest_mtp.suites.shipped import shipped

STANDARD = Budget(words="standard")


def a_case(name: str, *, check: str | None = None, repeats: int = 1, max_tokens: int | None = 32) -> Case:
    ask = None if check else Ask(messages=({"role": "user", "content": "x"},), sampling=Sampling(max_tokens=max_tokens))
    expect = () if check else (Expect(kind="contains", spec="y"),)
    return Case(id=name, suite="s", source=Source(path="s", line=1), ask=ask, expect=expect, check=check, repeats=repeats)


def pairs(*cases: Case) -> list[tuple[str, Case]]:
    return [(case.id, case) for case in cases]


def built_in() -> list[tuple[str, Case]]:
    files = dict.fromkeys(path for group in ("standard", "probes") for path in shipped(group))
    return [(f"{case.suite}::{case.id}", case) for path in files for case in load_suite(path).cases]


def test_every_kind_has_a_cost_and_a_worth() -> None:
    cases = dict.fromkeys(case.kind for _, case in built_in())
    assert set(cases) <= set(BUILT_IN)
    for _, case in (*built_in(), *pairs(*(a_case(kind, check=kind) for kind in PROBES))):
        assert cost_of(case).requests >= (case.kind != "identity")
        assert seen_by(case)
        assert set(seen_by(case)) <= set(FAULTS)


def test_a_plugins_check_is_planned_last_and_never_dropped() -> None:
    order = plan(pairs(a_case("mine", check="mine"), a_case("golden")), STANDARD)
    assert [each.node_id for each in order] == ["golden", "mine"]
    assert cost_of(a_case("mine", check="mine", repeats=3)).requests == 3
    assert all(each.fits for each in order)


def test_worth_a_request_falls_as_checks_are_covered() -> None:
    cases = pairs(*(a_case(f"g{i}") for i in range(9)), a_case("natural", check="natural_stop"), a_case("probe", check="stops"))
    order = [each.node_id for each in plan(cases, STANDARD)]
    assert order[0] == "g0"
    assert order[-1] != "probe"
    assert [name for name in order if name.startswith("g")] == [f"g{i}" for i in range(9)]  # equals keep their order


def test_a_case_that_does_not_fit_does_not_stop_a_cheaper_one() -> None:
    cases = pairs(a_case("stops", check="stops"), *(a_case(f"g{i}") for i in range(3)))
    order = plan(cases, Budget(words="x", requests=CONTROL_REQUESTS + 3))
    assert {each.node_id: each.fits for each in order} == {"stops": False, "g0": True, "g1": True, "g2": True}


@pytest.mark.parametrize("seed", range(5))
def test_never_more_than_the_budget_and_never_room_left_for_one_that_was_left_out(seed: int) -> None:
    dice = random.Random(seed)
    cases = built_in()
    dice.shuffle(cases)
    room = dice.randrange(1, 400)
    order = plan(cases, Budget(words="x", requests=CONTROL_REQUESTS + room))
    spent = sum(each.cost.requests for each in order if each.fits)
    assert spent <= room
    assert all(each.cost.requests > room - spent for each in order if not each.fits)
    assert sorted(each.node_id for each in order) == sorted(node_id for node_id, _ in cases)


def test_greedy_order_is_the_plain_one() -> None:
    """The heap against the definition: at each step the case of the highest worth a request, the first of equals."""
    cases = built_in()
    left, covered, expected = list(range(len(cases))), dict.fromkeys(FAULTS, 0), []
    costs, sees = [cost_of(case).requests for _, case in cases], [seen_by(case) for _, case in cases]
    while left:
        best = max(left, key=lambda at: (sum(FAULTS[c] * AGAIN ** covered[c] for c in sees[at]) / max(1, costs[at]), -at))
        expected.append(cases[best][0])
        left.remove(best)
        for check in sees[best]:
            covered[check] += 1
    assert [each.node_id for each in plan(cases, STANDARD)] == expected


def test_quick_sees_most_of_what_the_battery_sees() -> None:
    order = plan(built_in(), read_budget("quick"))
    every = {check for each in order for check in seen_by(each.case)}
    quick = {check for each in order if each.fits for check in seen_by(each.case)}
    assert sum(each.cost.requests for each in order if each.fits) <= 100
    assert sum(FAULTS[check] for check in quick) > 0.6 * sum(FAULTS[check] for check in every)
    assert all(each.case.repeats == 1 for each in order)


def test_costs() -> None:
    assert cost_of(a_case("g", repeats=2)) == Cost(requests=2, tokens=64, likely_tokens=64)
    assert cost_of(a_case("g", max_tokens=None)) == Cost(requests=1, tokens=NO_LIMIT_TOKENS, likely_tokens=USUAL_TOKENS)
    streamed = dataclasses.replace(a_case("g"), modes=("unary", "stream"))
    assert cost_of(streamed).requests == 2
    assert cost_of(a_case("c", check="choices", repeats=4)).requests == 4 * cost_of(a_case("c", check="choices")).requests
    measured = dataclasses.replace(a_case("t", check="throughput"), params={"rounds": 2, "warmup": 1, "prompts": {"code": ["a", "b"]}})
    assert cost_of(measured) == Cost(requests=6, tokens=384, likely_tokens=384)


def exchange(seconds: float, tokens: int | None) -> Exchange:
    usage = None if tokens is None else Usage(prompt_tokens=3, completion_tokens=tokens)
    ask = Ask(messages=(), sampling=Sampling(max_tokens=40))
    timeline = Timeline(sent_ns=10**9, done_ns=10**9 + int(seconds * 1e9))
    return Exchange(ask=ask, url="", model="m", reply=Reply(content="x", usage=usage), timeline=timeline)


def test_the_pace_is_that_of_the_control() -> None:
    pace = pace_of([exchange(0.1, 1), exchange(1.9, 39)])
    assert (pace.request_s, pace.token_s) == pytest.approx((0.1, 0.05))
    assert pace.seconds(Cost(requests=2, tokens=99, likely_tokens=10)) == pytest.approx(0.7)
    assert pace_of([exchange(2.0, None)]).token_s == pytest.approx(0.05)
    assert pace_of([]) == Pace(request_s=0.0, token_s=0.0)


def test_repeats_are_raised_as_far_as_the_time_allows() -> None:
    order = plan(pairs(a_case("cheap", check="choices"), a_case("dear", check="overload"), a_case("golden")), STANDARD)
    pace = Pace(request_s=1.0, token_s=0.0)
    once = {each.node_id: each.cost.requests for each in order}
    assert looks(order, pace, wanted=29, seconds=1e9) == {"cheap": 29, "dear": 29}
    some = looks(order, pace, wanted=29, seconds=100)
    assert some["cheap"] == 29
    assert 1 <= some["dear"] < 29
    assert once["golden"] + sum(count * once[name] for name, count in some.items()) <= 100
    assert once["golden"] + some["cheap"] * once["cheap"] + (some["dear"] + 1) * once["dear"] > 100
    assert looks(order, pace, wanted=29, seconds=0) == {"cheap": 1, "dear": 1}
    asked = plan(pairs(a_case("cheap", check="choices", repeats=40)), STANDARD)
    assert looks(asked, pace, wanted=29, seconds=1e9) == {"cheap": 40}


def test_as_many_looks_as_exclude_one_fault_in_ten() -> None:
    assert upper_bound(0, THOROUGH_LOOKS, level=0.95) < 0.1 < upper_bound(0, THOROUGH_LOOKS - 1, level=0.95)


def test_what_fits_into_a_time() -> None:
    order = plan(pairs(*(a_case(f"g{i}") for i in range(4)), a_case("dear", check="overload")), STANDARD)
    fits = {each.node_id: each.fits for each in fitting(order, Pace(request_s=1.0, token_s=0.0), seconds=3.5)}
    assert [name for name, yes in fits.items() if yes] == ["g0", "g1", "g2"]


def test_budgets_as_they_are_written() -> None:
    assert read_budget("5m").seconds == 300
    assert read_budget("90s").seconds == 90
    assert read_budget("1.5h").seconds == 5400
    assert read_budget("2000req").requests == 2000
    assert read_budget("thorough").looks == 29


def test_long_prompts_take_time_too() -> None:
    ladder = dataclasses.replace(a_case("l", check="context_ladder"), params={"rungs": [1000, 9000]})
    cost = cost_of(ladder)
    assert cost.likely_tokens == cost.tokens + 1600
