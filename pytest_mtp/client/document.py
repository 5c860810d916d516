"""JSON as servers send it: parsed once, with what strict clients would refuse noted."""

from __future__ import annotations

import json
import math
from typing import Any

from pytest_mtp.core.reply import WireNote

MAX_DEPTH = 100
MAX_PARTS = 1_000_000
"""Brackets, braces and commas of one document: a byte of JSON may become a hundred bytes of Python."""

_SHOWN = 200


class DocumentError(ValueError):
    """Not JSON; the message says why in one line."""


def parse_json(text: str, notes: list[WireNote]) -> Any:
    """The value of `text`. NaN, infinities and numbers beyond every float become None with a note: no client can use them.

    Raises DocumentError, also for nesting beyond `MAX_DEPTH`, as records of it could not be written again, and for more than
    `MAX_PARTS` parts.
    """
    if len(text) > MAX_PARTS and sum(text.count(mark) for mark in "[{,") > MAX_PARTS:
        raise DocumentError(f"more than {MAX_PARTS} parts")

    def constant(word: str) -> None:
        notes.append(WireNote(code="PROTO.json", detail=f"{word} is not JSON"))

    def number(word: str) -> float | None:
        value = float(word)
        if math.isfinite(value):
            return value
        notes.append(WireNote(code="PROTO.json", detail=f"{shown(word[:40])} is too large for a number"))
        return None

    try:
        value = json.loads(text, parse_constant=constant, parse_float=number)
    except RecursionError:
        raise DocumentError(f"nested deeper than {MAX_DEPTH} levels") from None
    except ValueError as error:  # JSONDecodeError, or an integer of thousands of digits
        raise DocumentError(str(error)) from None
    if _deeper_than(value, MAX_DEPTH):
        raise DocumentError(f"nested deeper than {MAX_DEPTH} levels")
    return value


def _deeper_than(value: Any, limit: int) -> bool:
    layer = [value]
    for _ in range(limit):
        layer = [
            inner
            for item in layer
            for inner in (item.values() if isinstance(item, dict) else item if isinstance(item, list) else ())
            if isinstance(inner, (dict, list))
        ]
        if not layer:
            return False
    return True


def shown(value: Any) -> str:
    """A value for a note: short, and plain ASCII."""
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return ascii(text[:_SHOWN] + ("…" if len(text) > _SHOWN else ""))
