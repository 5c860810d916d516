"""When two JSON values are the same value."""

from __future__ import annotations

import functools
import math
from typing import Any

from pytest_mtp.judge.words.normal import canonical

REL = 1e-6
ABS_AT_ZERO = 1e-9
"""A tool may well take 2e-9 as a charge, so that a fixed tolerance would make 1e-9 equal to it."""


@functools.lru_cache(maxsize=4096)
def _normal(text: str) -> str:
    return canonical(text)


def same_scalar(spec: Any, got: Any, *, free: bool) -> bool:
    """Equal by the rules of one JSON type; numbers by value, a boolean never a number, text by its normal form if `free`."""
    if isinstance(spec, str):
        return isinstance(got, str) and (spec == got or (free and _normal(spec) == _normal(got)))
    if isinstance(spec, bool) or isinstance(got, bool) or spec is None or got is None:
        return spec is got
    if isinstance(spec, (int, float)) and isinstance(got, (int, float)):
        return close(spec, got) if isinstance(spec, float) else spec == got
    return False


def close(spec: float, got: float, rel: float = REL, abs_: float | None = None) -> bool:
    """|a - b| <= max(abs, rel * |accepted|). Infinities and NaN equal nothing; an integer too large for a float is compared exactly."""
    try:
        if not (math.isfinite(spec) and math.isfinite(got)):
            return False
        least = abs_ if abs_ is not None else (0.0 if spec else ABS_AT_ZERO)
        return abs(spec - got) <= max(least, rel * abs(spec))
    except OverflowError:
        return spec == got


def same_json(one: Any, other: Any, *, free: bool = False) -> bool:
    """Equal as JSON values: 5 and 5.0 are, 1 and true are not. `free` compares text by its normal form."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_json(value, other[key], free=free) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(same_json(a, b, free=free) for a, b in zip(one, other, strict=True))
    return same_scalar(one, other, free=free)
