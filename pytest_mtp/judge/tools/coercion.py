"""The ladder of coercions: what a parser that gets types wrong makes of a right value."""

from __future__ import annotations

import math
from typing import Any

from pytest_mtp.judge.tools.arguments import decode_prefix
from pytest_mtp.judge.tools.equality import same_json, same_scalar

_WORDS = {"true": True, "false": False}
_LONGEST_NUMBER = 400


def coercion(spec: Any, got: Any) -> str:
    """The rung on which a value of another type equals the expected one; empty where none does. A boolean is never 0 or 1."""
    if isinstance(got, str) and not isinstance(spec, str):
        return _from_text(spec, got)
    if isinstance(spec, str) and not isinstance(got, str):
        return _into_text(spec, got)
    if isinstance(spec, list) and len(spec) == 1 and isinstance(got, (bool, int, float)) and same_scalar(spec[0], got, free=True):
        return "a scalar for an array of one"
    return ""


def number_of(text: str) -> int | float | None:
    """What JSON or Python writes for a finite number; no thousands separators, no underscores."""
    text = text.strip()
    if not text or "_" in text or len(text) > _LONGEST_NUMBER:
        return None
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        return value if math.isfinite(value) else None
    return None


def _from_text(spec: Any, got: str) -> str:
    if isinstance(spec, bool):
        return "text for a boolean" if _WORDS.get(got.strip().casefold()) is spec else ""
    if isinstance(spec, (int, float)):
        number = number_of(got)
        return "text for a number" if number is not None and same_scalar(spec, number, free=False) else ""
    if isinstance(spec, list) and len(spec) == 1 and same_scalar(spec[0], got, free=True):
        return "a scalar for an array of one"
    if isinstance(spec, (dict, list)):
        read = decode_prefix(got)
        if read and not got[read[1] :].strip() and same_json(spec, read[0], free=True):
            return f"JSON text for an {'object' if isinstance(spec, dict) else 'array'}"
    return ""


def _into_text(spec: str, got: Any) -> str:
    if isinstance(got, bool):
        return "a boolean for text" if _WORDS.get(spec.strip().casefold()) is got else ""
    if isinstance(got, (int, float)):
        number = number_of(spec)
        return "a number for text" if number is not None and same_scalar(number, got, free=False) else ""
    return ""
