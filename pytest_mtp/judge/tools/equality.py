"""When two JSON values are the same value."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pytest_mtp.judge.words.normal import canonical

REL, ABS = 1e-6, 1e-9


def same_scalar(spec: Any, got: Any, *, free: bool) -> bool:
    """Equal by the rules of one JSON type; numbers by value, a boolean never a number, text by its normal form if `free`."""
    if isinstance(spec, bool) or isinstance(got, bool) or spec is None or got is None:
        return spec is got
    if isinstance(spec, (int, float)) and isinstance(got, (int, float)):
        return close(spec, got) if isinstance(spec, float) else spec == got
    if isinstance(spec, str) and isinstance(got, str):
        return spec == got or (free and canonical(spec) == canonical(got))
    return False


def close(spec: float, got: float, rel: float = REL, abs_: float = ABS) -> bool:
    """|a - b| <= max(abs, rel * |accepted|). Infinities and NaN equal nothing; an integer too large for a float is compared exactly."""
    try:
        if not (math.isfinite(spec) and math.isfinite(got)):
            return False
        return abs(spec - got) <= max(abs_, rel * abs(spec))
    except OverflowError:
        return spec == got


def same_json(one: Any, other: Any, *, free: bool = False) -> bool:
    """Equal as JSON values: 5 and 5.0 are, 1 and true are not. `free` compares text by its normal form."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same_json(value, other[key], free=free) for key, value in one.items())
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(same_json(a, b, free=free) for a, b in zip(one, other, strict=True))
    return same_scalar(one, other, free=free)
