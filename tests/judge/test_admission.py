"""The two numbers of admission: over simulated engines with noise, and from bursts written by hand."""

from __future__ import annotations

import dataclasses
import heapq
import random
from collections.abc import Sequence

import pytest

from pytest_mtp.core.facts import Endpoint, Load, ProcessFacts, ServerFacts
from pytest_mtp.judge.admission import Admission, Bound, Burst, Step, Stream, conclude, next_burst
from pytest_mtp.judge.coupling import coupling_findings, coupling_measures

QUIET = {"lag": 0.0005, "late": 0.0, "stall": 0.0, "short": 0.0}
USUAL = {"lag": 0.002, "late": 0.02, "stall": 0.01, "short": 0.2}
NOISY = {"lag": 0.01, "late": 0.15, "stall": 0.03, "short": 0.4}
ROUNDS = 40


def engine_of(rng: random.Random, width: int, slots: int, *, lag: float, late: float, stall: float, short: float) -> Burst:
    """First come, first served, `slots` at a time; 32 tokens in steps of 1 to 3, a fifth of a second and more a reply.

    `lag`: mean delay of delivery in seconds; `late`: share of stamps that come 20 to 100 ms late on top; `stall`: chance that a step
    takes 50 to 300 ms longer; `short`: share of replies that end early.
    """
    free = [0.0] * slots
    streams = []
    for arrival in sorted(rng.uniform(0, 0.004) for _ in range(width)):
        begin = max(heapq.heappop(free), arrival)
        tokens = rng.randint(4, 32) if rng.random() < short else 32
        first = end = begin + 0.02 * rng.lognormvariate(0, 0.4)
        made = 1
        while made < tokens:
            end += 0.015 * rng.lognormvariate(0, 0.3) + (rng.uniform(0.05, 0.3) if rng.random() < stall else 0)
            made += rng.choice((1, 1, 2, 3))
        heapq.heappush(free, end)
        seen = [at + rng.expovariate(1 / lag) + (rng.uniform(0.02, 0.1) if rng.random() < late else 0) for at in (first, end)]
        streams.append(Stream(sent_s=arrival, first_s=seen[0], last_s=max(seen), done_s=max(seen) + 0.001))
    return Burst(streams=tuple(streams))


def look(slots: int, seed: int, **noise: float) -> Bound:
    rng, bursts = random.Random(seed), list[Burst]()
    while (step := next_burst(bursts, most=16, requests=48)) is not None:
        bursts.append(dataclasses.replace(engine_of(rng, step.width, slots, **noise), door_only=step.door_only))
    runs = conclude(bursts).runs
    assert runs is not None
    return runs


@pytest.mark.parametrize("slots", [1, 2, 3, 4, 6, 8, 12, 16, 32])
def test_on_a_quiet_machine_the_engine_is_read_exactly_as_far_as_the_bursts_reach(slots: int) -> None:
    for seed in range(ROUNDS):
        runs = look(slots, seed, **QUIET)
        if slots <= 8:
            assert (runs.least, runs.exact) == (slots, True)
        else:
            assert not runs.exact
            assert 12 <= runs.least <= min(slots, 16)


@pytest.mark.parametrize(("noise", "missed"), [(USUAL, 0.05), (NOISY, 0.15)], ids=["usual", "noisy"])
def test_noise_hides_a_number_more_often_than_it_makes_one_up(noise: dict[str, float], missed: float) -> None:
    """Over 9 engines, 40 bursts each: exact and wrong, or a lower bound that is too high, in at most 1 of 100."""
    seen = [(slots, look(slots, 1000 * slots + seed, **noise)) for slots in (1, 2, 3, 4, 6, 8, 12, 16, 32) for seed in range(ROUNDS)]
    wrong = [(slots, runs) for slots, runs in seen if (runs.exact and runs.least != slots) or runs.least > slots]
    unsettled = [runs for slots, runs in seen if slots <= 8 and not runs.exact]
    assert len(wrong) <= len(seen) // 100, wrong
    assert len(unsettled) <= missed * 6 * ROUNDS


def served(*spans: tuple[float, float], loads: Sequence[tuple[int, int]] = ()) -> Burst:
    streams = tuple(Stream(sent_s=0.0, first_s=first, last_s=last, done_s=last) for first, last in spans)
    return Burst(streams=streams, loads=tuple(Load(running=running, waiting=waiting) for running, waiting in loads))


def door(let_in: int, turned_away: int, *, status: int = 429) -> Burst:
    inside = tuple(Stream(sent_s=0.0, first_s=0.1, last_s=1.0, done_s=1.0, by="uvicorn") for _ in range(let_in))
    outside = tuple(Stream(sent_s=0.0, done_s=0.01, status=status, by="nginx") for _ in range(turned_away))
    return Burst(streams=(*inside, *outside))


ONE, TWO = served((0.1, 1.0)), served((0.1, 1.0), (1.1, 2.0))
FOUR = served(*((n + 0.1, n + 1.0) for n in range(4)))


def test_the_order_of_bursts_for_a_queue_of_one() -> None:
    assert next_burst([], most=16, requests=48) == Step(width=1)
    assert next_burst([ONE], most=16, requests=48) == Step(width=2)
    assert next_burst([ONE, TWO], most=16, requests=48) == Step(width=4)
    assert next_burst([ONE, TWO, FOUR], most=16, requests=48) == Step(width=8, door_only=True)
    assert next_burst([ONE, TWO, FOUR], most=4, requests=48) is None
    assert next_burst([ONE, TWO], most=2, requests=48) == Step(width=2)
    assert next_burst([ONE, TWO, TWO], most=2, requests=48) is None


def test_no_more_requests_than_allowed() -> None:
    assert next_burst([ONE, TWO], most=16, requests=7) == Step(width=4)
    assert next_burst([ONE, TWO], most=16, requests=6) is None


def test_a_door_is_confirmed_by_what_it_let_in() -> None:
    assert next_burst([door(1, 0), door(2, 0), door(3, 1)], most=16, requests=48) == Step(width=3)
    assert next_burst([door(1, 0), door(2, 0), door(3, 1), door(3, 0)], most=16, requests=48) is None
    seen = conclude([door(1, 0), door(2, 0), door(3, 1), door(3, 0)])
    assert seen.admitted == Bound(least=3, exact=True, evidence=("3 of 4 sent at once were let in, 1 got 429",))
    assert seen.runs is not None
    assert (seen.runs.least, seen.runs.exact) == (3, False)


@pytest.mark.parametrize(
    "bursts",
    [
        [door(1, 0), door(2, 0), door(3, 1), door(2, 1)],  # what was let in before is not now
        [door(1, 0), door(2, 0), door(0, 4)],
        [door(1, 0), door(2, 0), door(4, 0), door(3, 5)],
    ],
)
def test_a_limit_over_time_is_not_taken_for_a_width(bursts: list[Burst]) -> None:
    seen = conclude(bursts)
    assert "a limit over time, or foreign traffic" in seen.limited
    assert seen.admitted is not None
    assert not seen.admitted.exact


def test_dropped_connections_are_no_width() -> None:
    seen = conclude([door(1, 0), door(2, 0), door(4, 0), door(6, 2, status=0), door(6, 0)])
    assert "6 of 8 sent at once were let in, 2 got a dropped connection: it takes few new connections at a time" in seen.limited
    assert seen.admitted is not None
    assert (seen.admitted.least, seen.admitted.exact) == (6, False)
    (finding,) = coupling_findings([door(6, 2, status=0)], seen, facts(sequences=8, concurrency=8), wanted=None)
    assert finding.severity == "note"
    assert "Retry-After" not in finding.detail


def test_one_let_in_after_another_left_does_not_widen_the_door() -> None:
    late = Stream(sent_s=1.5, first_s=1.6, last_s=2.0, done_s=2.0)
    assert Burst(streams=(*door(2, 1).streams, late)).admitted == 2


def test_without_refusals_the_door_has_a_lower_bound() -> None:
    assert conclude([ONE, TWO, FOUR]).admitted == Bound(least=4, exact=False, evidence=("all of 4 sent at once were let in",))


def test_one_burst_alone_settles_nothing_and_the_gauges_are_a_second_witness() -> None:
    assert conclude([ONE, TWO]).runs == Bound(
        least=1, exact=False, evidence=("streams: generated at the same time: 1", "streams: 1 ran while another waited, in one burst")
    )
    watched = dataclasses.replace(TWO, loads=(Load(running=1, waiting=1), Load(running=1, waiting=1), Load(running=1, waiting=0)))
    runs = conclude([ONE, watched]).runs
    assert runs is not None
    assert (runs.least, runs.exact) == (1, True)


def test_gauges_that_contradict_the_streams_settle_nothing() -> None:
    watched = dataclasses.replace(FOUR, loads=(Load(running=3, waiting=1),) * 2)
    runs = conclude([ONE, TWO, watched]).runs
    assert runs is not None
    assert not runs.exact


def test_replies_in_one_piece_tell_nothing() -> None:
    assert conclude([served((1.0, 1.0)), served((1.0, 1.0), (2.0, 2.001))]).runs is None
    assert conclude([Burst(streams=(Stream(sent_s=0.0, done_s=1.0),))]).runs is None
    gauged = served((1.0, 1.0), (2.0, 2.0), loads=[(1, 1), (1, 1)])
    runs = conclude([served((1.0, 1.0)), gauged, gauged]).runs
    assert runs is not None
    assert (runs.least, runs.exact) == (1, True)


def facts(*, sequences: int | None = None, concurrency: int | None = 4, engine: str = "vllm") -> ServerFacts:
    endpoint = Endpoint(root="http://h", api_root="http://h/v1", model="m")
    return ServerFacts(endpoint=endpoint, engine=engine, model="m", sequences=sequences, concurrency=concurrency)


def bound(least: int, *, exact: bool = True) -> Bound:
    return Bound(least=least, exact=exact)


@pytest.mark.parametrize(
    ("admission", "told", "wanted", "expected"),
    [
        pytest.param(Admission(admitted=bound(4), runs=bound(4, exact=False)), facts(sequences=4), None, [], id="honest"),
        pytest.param(Admission(admitted=bound(2), runs=bound(2, exact=False)), facts(), None, [], id="nobody promised"),
        pytest.param(
            Admission(admitted=bound(16, exact=False), runs=bound(8, exact=False)), facts(sequences=64), None, [], id="not reached"
        ),
        pytest.param(
            Admission(admitted=bound(1), runs=bound(1, exact=False)),
            facts(sequences=4),
            None,
            [("regression", "no more than 1 at once are let in, where the server tells of 4: the others get 429")],
            id="turned away below what is told",
        ),
        pytest.param(
            Admission(admitted=bound(4), runs=bound(4, exact=False)),
            facts(sequences=4),
            8,
            [("regression", "no more than 4 at once are let in, where this case asks for 8: the others get 429")],
            id="turned away below what is wanted",
        ),
        pytest.param(
            Admission(admitted=bound(4), runs=bound(1)),
            facts(sequences=1, concurrency=1),
            None,
            [("note", "the front door admits 4 requests at once, and the engine runs 1: 3 of 4 wait")],
            id="four before one",
        ),
        pytest.param(
            Admission(admitted=None, runs=bound(1), limited="first this, then that"),
            facts(concurrency=1),
            None,
            [("note", "not by their number: first this, then that")],
            id="a limit over time",
        ),
        pytest.param(
            Admission(admitted=bound(4), runs=bound(3)),
            facts(sequences=4, concurrency=4),
            None,
            [("note", "3: 1 of 4 wait"), ("note", "was seen to run 3 requests at once, and the server tells 4")],
            id="fewer than told",
        ),
    ],
)
def test_what_is_made_of_the_numbers(admission: Admission, told: ServerFacts, wanted: int | None, expected: list[tuple[str, str]]) -> None:
    found = coupling_findings([door(1, 1)], admission, told, wanted=wanted)
    assert [finding.severity for finding in found] == [severity for severity, _ in expected]
    for finding, (_, words) in zip(found, expected, strict=True):
        assert finding.code == "PERF.admission"
        assert words in finding.title
        assert "vLLM --max-num-seqs" in finding.detail
        assert "turned away by nginx, served by uvicorn" in finding.detail
        assert "no Retry-After" in finding.detail


def test_the_command_line_tells_where_the_server_does_not() -> None:
    process = ProcessFacts(pid=1, started_at=0.0, command=(), sequences=2)
    told = dataclasses.replace(facts(concurrency=2), process=process)
    assert coupling_findings([FOUR], Admission(admitted=bound(4, exact=False), runs=bound(2)), told, wanted=None) == ()
    (finding,) = coupling_findings([FOUR], Admission(admitted=bound(4, exact=False), runs=bound(3)), told, wanted=None)
    assert finding.title == "the engine was seen to run 3 requests at once, and its command line tells 2"


def test_requests_that_only_wait_are_a_note_where_we_send_more() -> None:
    (finding,) = coupling_findings([FOUR], Admission(admitted=bound(4, exact=False), runs=bound(1)), facts(engine="odd"), wanted=None)
    assert finding.severity == "note"
    assert "4 requests are sent to this server at once, and its engine runs 1" in finding.title
    assert "SGLang --max-running-requests; llama.cpp -np/--parallel" in finding.detail


def test_measures_say_what_was_not_reached() -> None:
    exact, open_ended = coupling_measures([ONE], Admission(admitted=bound(3), runs=None), why_no_more="the end")
    assert (exact.name, exact.value, exact.note) == ("requests_admitted", 3.0, "exactly")
    assert (open_ended.value, open_ended.note) == (None, "not told by streams or gauges")
    lower, _ = coupling_measures([ONE], Admission(admitted=bound(3, exact=False), runs=None), why_no_more="the end")
    assert lower.note == "at least: the end"
