"""The accepted number of a case: its spec, read once, and when another number equals it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from pytest_mtp.core.errors import UsageError, nearest
from pytest_mtp.core.record import Json
from pytest_mtp.judge.numbers.scales import scale_named
from pytest_mtp.judge.numbers.scan import scan

_KEYS = ("value", "rel", "abs", "sig_digits", "unit", "percent", "loose", "decimal_comma")
DEFAULT_REL, DEFAULT_ABS = Fraction(1, 10**6), Fraction(1, 10**9)


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedNumber:
    """`exact` where nothing was said and the value is an integer. `percent`: True asks in percent, `ratio` takes 25 % as 0.25."""

    value: Fraction
    exact: bool
    rel: Fraction = DEFAULT_REL
    abs: Fraction = DEFAULT_ABS
    sig_digits: int | None = None
    unit: str = ""
    percent: bool | Literal["ratio"] | None = None
    loose: bool = False
    decimal_comma: bool = False

    def equals(self, other: Fraction) -> bool:
        """Exactly, or within the tolerance, or as rounded to `sig_digits`."""
        if self.sig_digits is not None:
            return _same_rounded(self.value, other, self.sig_digits)
        if self.exact:
            return other == self.value
        return abs(other - self.value) <= max(self.abs, self.rel * abs(self.value))


def read_spec(spec: Json, where: str = "number") -> AcceptedNumber:
    """Raises UsageError for what is not a number and for unknown keys."""
    options = spec if isinstance(spec, Mapping) else {"value": spec}
    for key in options:
        if key not in _KEYS:
            raise UsageError(f"{where}: unknown key {key!r}{nearest(str(key), _KEYS)}; known are {', '.join(_KEYS)}")
    if "value" not in options:
        raise UsageError(f"{where}: the key 'value' is missing in {dict(options)!r}")
    value, is_integer, percent = _gold(options["value"], where)
    unit = str(options.get("unit") or "")
    if unit == "%":
        percent, unit = True, ""
    if (scale := scale_named(unit)) is not None:
        value, unit = value * scale, ""
    sig_digits = options.get("sig_digits")
    if sig_digits is not None and (not isinstance(sig_digits, int) or isinstance(sig_digits, bool) or sig_digits < 1):
        raise UsageError(f"{where}: sig_digits must be a whole number from 1 on, not {sig_digits!r}")
    tolerant = options.get("rel") is not None or options.get("abs") is not None
    rel, absolute = (_tolerance(options, key, where) for key in ("rel", "abs"))
    return AcceptedNumber(
        value=value,
        exact=is_integer and not tolerant,
        rel=rel if rel is not None else (Fraction(0) if tolerant else DEFAULT_REL),
        abs=absolute if absolute is not None else (Fraction(0) if tolerant else DEFAULT_ABS),
        sig_digits=sig_digits,
        unit=unit,
        percent=_percent(options, where, default=percent),
        loose=options.get("loose") is True,
        decimal_comma=options.get("decimal_comma") is True,
    )


def _gold(value: Json, where: str) -> tuple[Fraction, bool, bool | None]:
    if isinstance(value, int) and not isinstance(value, bool):
        return Fraction(value), True, None
    if isinstance(value, float) and math.isfinite(value):
        return Fraction(Decimal(repr(value))), False, None
    if isinstance(value, str):
        tokens = scan(value, marked=True)
        if len(tokens) == 1 and tokens[0].value is not None:
            return tokens[0].value, value.strip().lstrip("+-").isdigit(), True if tokens[0].percent else None
    raise UsageError(f"{where}: expected a number or a text such as '1/3' or '25%', got {value!r}")


def _percent(options: Mapping[str, Json], where: str, *, default: bool | None) -> bool | Literal["ratio"] | None:
    given = options.get("percent", default)
    if given == "ratio":
        return "ratio"
    if given is None or isinstance(given, bool):
        return given
    raise UsageError(f"{where}: percent must be true, false or 'ratio', not {given!r}")


def _tolerance(options: Mapping[str, Json], key: str, where: str) -> Fraction | None:
    given = options.get(key)
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | float) or not given >= 0 or given == float("inf"):
        raise UsageError(f"{where}: {key} must be a number from 0 on, not {given!r}")
    return Fraction(Decimal(repr(given)))


def _same_rounded(gold: Fraction, other: Fraction, digits: int) -> bool:
    """Equal when both round to the same `digits` significant digits, or when `other` is a correct rounding of `gold`."""
    if gold == 0 or other == 0:
        return gold == other
    step = Fraction(10) ** (_magnitude(gold) - digits + 1)
    return abs(gold - other) <= step / 2 or round(gold / step) == round(other / step)


def _magnitude(value: Fraction) -> int:
    """floor(log10(|value|)), exactly."""
    value = abs(value)
    guess = len(str(value.numerator)) - len(str(value.denominator))
    return guess if Fraction(10) ** guess <= value else guess - 1
