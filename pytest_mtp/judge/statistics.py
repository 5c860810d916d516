"""Exact intervals for counts and cluster-robust intervals for ratios."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pytest_mtp.core.verdict import Interval


def clopper_pearson(successes: int, trials: int, *, level: float = 0.95) -> Interval:
    """Exact two-sided interval of a binomial proportion (Clopper and Pearson 1934), from beta quantiles.

    The trials are the independent replicates: cases, or repeats of one case, never tokens.
    """
    if not 0 <= successes <= trials or trials < 1:
        raise ValueError(f"{successes} successes in {trials} trials is not a count")
    from scipy.stats import beta  # noqa: PLC0415  # scipy costs half a second, and most runs do not come here

    tail = (1 - level) / 2
    low = 0.0 if successes == 0 else float(beta.ppf(tail, successes, trials - successes + 1))
    high = 1.0 if successes == trials else float(beta.ppf(1 - tail, successes + 1, trials - successes))
    return Interval(low=low, high=high, level=level, method="clopper-pearson")


def upper_bound(successes: int, trials: int, *, level: float = 0.95) -> float:
    """One-sided exact upper bound: with 0 of n it is 1 - (1 - level)^(1/n), so 0 of 30 gives 9.5 %."""
    if successes == trials:
        return 1.0
    if successes == 0:
        return float(1 - (1 - level) ** (1 / trials))
    from scipy.stats import beta  # noqa: PLC0415  # as above

    return float(beta.ppf(level, successes + 1, trials - successes))


def ratio_interval(numerators: Sequence[float], denominators: Sequence[float], *, level: float = 0.95) -> Interval | None:
    """Interval of sum(numerators) / sum(denominators), clustered by item; None below three items.

    Linearised ratio estimator (Cochran 1977, 6.3): se = sqrt(P/(P-1) * sum((a_p - R d_p)^2)) / sum(d), with P - 1
    degrees of freedom. The unit is the prompt, since the tokens of one prompt are far from independent.
    """
    pairs = [(a, d) for a, d in zip(numerators, denominators, strict=True) if d > 0]
    total = sum(d for _, d in pairs)
    if len(pairs) < 3 or total <= 0:
        return None
    from scipy.stats import t  # noqa: PLC0415  # as above

    count = len(pairs)
    ratio = sum(a for a, _ in pairs) / total
    error = math.sqrt(count / (count - 1) * sum((a - ratio * d) ** 2 for a, d in pairs)) / total
    half = float(t.ppf(0.5 + level / 2, count - 1)) * error
    return Interval(low=ratio - half, high=ratio + half, level=level, method="ratio-clustered-t")


def quantile(values: Sequence[float], share: float) -> float:
    """The `share` quantile by linear interpolation between order statistics (Hyndman and Fan's type 7)."""
    if not values:
        raise ValueError("no values")
    ordered = sorted(values)
    position = share * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)
