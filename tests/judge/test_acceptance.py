"""Identities and rates of acceptance counts: each with a count that breaks it, and one that only looks as if."""

from __future__ import annotations

import pytest

from pytest_mtp.core.facts import Acceptance
from pytest_mtp.judge.acceptance import (
    beyond_depth,
    broken_identities,
    conditional_rates,
    least_emitted,
    length_of_steps,
    passes_broken,
    position_rates,
    summed,
)

SOUND = Acceptance(drafted=9, accepted=4, rounds=3, per_position=(3, 1, 0))


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        (Acceptance(drafted=4, accepted=5), "accepted 5 > drafted 4"),
        (Acceptance(drafted=-4, accepted=0), "backwards"),
        (Acceptance(drafted=4, accepted=2, rounds=-1), "backwards"),
        (Acceptance(drafted=9, accepted=2, rounds=3, per_position=(3, -1)), "backwards"),
        (Acceptance(drafted=9, accepted=5, rounds=3, per_position=(3, 1)), "positions sum to 4"),
        (Acceptance(drafted=9, accepted=4, rounds=3, per_position=(1, 3)), "later position"),
        (Acceptance(drafted=9, accepted=4, rounds=3, per_position=(4,)), "4 times in 3 rounds"),
        (Acceptance(drafted=9, accepted=4, rounds=0), "in no round"),
    ],
    ids=["accepted", "drafted back", "rounds back", "position back", "sum", "order", "position 0", "no round"],
)
def test_each_identity_has_a_count_that_breaks_it(counts: Acceptance, words: str) -> None:
    (broken,) = broken_identities(counts)
    assert words in broken


@pytest.mark.parametrize(
    "counts",
    [
        SOUND,
        Acceptance(drafted=0, accepted=0, rounds=0),
        Acceptance(drafted=2, accepted=2, rounds=5),
        Acceptance(drafted=9, accepted=4),
        Acceptance(drafted=60, accepted=4, rounds=3, per_position=(3, 1), tree=True),
    ],
    ids=["sound", "nothing", "drafts taken back by a grammar", "no rounds told", "tree"],
)
def test_lawful_counts_break_none(counts: Acceptance) -> None:
    assert broken_identities(counts) == []


def test_rates_are_of_all_rounds_and_of_the_rounds_that_came_so_far() -> None:
    counts = Acceptance(drafted=100, accepted=60, rounds=40, per_position=(36, 18, 6, 0, 0))
    assert position_rates(counts) == (0.9, 0.45, 0.15, 0.0, 0.0)
    assert conditional_rates(counts) == (0.9, 0.5, pytest.approx(1 / 3), 0.0)
    assert counts.mean_length == 1 + sum(position_rates(counts))
    assert (position_rates(Acceptance(drafted=3, accepted=1)), conditional_rates(Acceptance(drafted=0, accepted=0))) == ((), ())


def test_drafts_beyond_the_depth_are_told_but_not_of_a_tree() -> None:
    assert "9 drafts in 3 rounds" in beyond_depth(SOUND, 2)
    assert beyond_depth(SOUND, 3) == ""
    assert beyond_depth(SOUND, None) == ""
    assert "beyond the configured depth of 1" in beyond_depth(Acceptance(drafted=3, accepted=3, rounds=3, per_position=(2, 1)), 1)
    assert beyond_depth(Acceptance(drafted=60, accepted=3, rounds=3, tree=True), 3) == ""


@pytest.mark.parametrize(
    ("counts", "requests", "depth", "least"),
    [
        (SOUND, 1, None, 4),
        (SOUND, 1, 3, 4),
        (SOUND, 3, 3, 0),
        (Acceptance(drafted=9, accepted=8), 1, 3, 5),
        (Acceptance(drafted=9, accepted=8), 1, None, None),
        (Acceptance(drafted=9, accepted=8, rounds=3, tree=True), 1, 3, None),
    ],
    ids=["depth from the positions", "depth told", "all may be cut", "no rounds", "no depth", "tree"],
)
def test_the_least_number_of_tokens(counts: Acceptance, requests: int, depth: int | None, least: int | None) -> None:
    assert least_emitted(counts, requests=requests, depth=depth) == least


@pytest.mark.parametrize(
    ("emitted", "words"),
    [(16, ""), (15, ""), (13, ""), (17, "17 tokens from 10 passes"), (12, ""), (11, "gave only 11 tokens")],
    ids=["with the prefill's token", "prefill counted as a pass", "two cut", "one too many", "three cut", "more cut than can be"],
)
def test_tokens_are_accepted_drafts_and_passes(emitted: int, words: str) -> None:
    """A + F = 5 + 10, one request, depth 3: 12 to 16 tokens are lawful."""
    broken = passes_broken(emitted, accepted=5, passes=10, requests=1, depth=3)
    assert words in broken
    assert bool(words) is bool(broken)
    assert passes_broken(3, accepted=5, passes=10, requests=1, depth=None) == ""


def test_the_length_of_steps_leaves_the_first_tokens_out() -> None:
    assert length_of_steps(52, passes=25, requests=2) == 2.0
    assert length_of_steps(52, passes=0, requests=2) is None


def test_a_sum_tells_what_all_its_parts_tell() -> None:
    one, two = SOUND, Acceptance(drafted=3, accepted=2, rounds=1, per_position=(1, 1), source="reply")
    both = summed([one, None, two])
    assert both == Acceptance(drafted=12, accepted=6, rounds=4, per_position=(4, 2, 0), source="")
    nothing = Acceptance(drafted=0, accepted=0)
    assert summed([one, nothing]) == Acceptance(drafted=9, accepted=4, per_position=(3, 1, 0))
    bare = Acceptance(drafted=3, accepted=2, tree=True, batch_wide=True)
    mixed = summed([one, bare])
    assert mixed is not None
    assert (mixed.per_position, mixed.rounds, mixed.tree, mixed.batch_wide) == ((), None, True, True)
    assert summed([None, None]) is None
