"""Intervals keep what they promise: checked by seeded simulation and against known values."""

from __future__ import annotations

import random

import pytest

from pytest_mtp.judge.statistics import clopper_pearson, quantile, ratio_interval, upper_bound


def test_no_disagreement_in_thirty_is_below_nine_and_a_half_percent() -> None:
    assert upper_bound(0, 30) == pytest.approx(0.0950, abs=5e-5)


def test_upper_bound_agrees_with_the_one_sided_exact_interval() -> None:
    assert upper_bound(3, 20) == pytest.approx(clopper_pearson(3, 20, level=0.90).high)
    assert upper_bound(5, 5) == 1.0


def test_exact_interval_of_a_published_example() -> None:
    interval = clopper_pearson(8, 10)
    assert (interval.low, interval.high) == (pytest.approx(0.4439, abs=1e-4), pytest.approx(0.9748, abs=1e-4))


def test_an_impossible_count_is_refused() -> None:
    with pytest.raises(ValueError, match="11 successes in 10 trials"):
        clopper_pearson(11, 10)


def acceptance_of_a_prompt(random_: random.Random) -> tuple[int, int]:
    """40 drafts whose acceptance belongs to the prompt: prompts differ far more than the tokens of one."""
    p = random_.betavariate(6, 3)
    return sum(random_.random() < p for _ in range(40)), 40


def test_clustered_interval_covers_while_the_independent_token_formula_does_not() -> None:
    """1,000 runs of 24 prompts; truth 2/3. Nominal 95 %."""
    random_ = random.Random(20260101)
    truth, clustered, naive = 6 / 9, 0, 0
    for _ in range(1000):
        rows = [acceptance_of_a_prompt(random_) for _ in range(24)]
        interval = ratio_interval([a for a, _ in rows], [d for _, d in rows])
        assert interval is not None
        clustered += interval.low <= truth <= interval.high
        rate = sum(a for a, _ in rows) / 960
        half = 1.96 * (rate * (1 - rate) / 960) ** 0.5
        naive += rate - half <= truth <= rate + half
    assert 930 <= clustered <= 970
    assert naive < 700


def test_two_prompts_are_too_few_for_an_interval() -> None:
    assert ratio_interval([1, 2], [4, 4]) is None


@pytest.mark.parametrize(("share", "expected"), [(0.0, 1.0), (0.5, 2.5), (1.0, 4.0)])
def test_quantiles_interpolate(share: float, expected: float) -> None:
    assert quantile([4, 1, 3, 2], share) == expected
