"""JSON text to values without loss: decimals stay decimals, repeated keys are told, NaN is not JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

_BRACKET_OR_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)
_INT_DIGITS = 4000  # Python refuses to turn longer texts into int

MAX_DEPTH = 200
"""Deeper nesting is refused: no honest reply has it, and recursion would end the judge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """`error` is empty for valid JSON; `at` is then the end of the value, else where it breaks. Keys found twice are in `duplicates`."""

    value: Any = None
    error: str = ""
    at: int = 0
    duplicates: tuple[str, ...] = ()


def parse(text: str) -> Parsed:
    """One JSON value that fills the text, white space aside."""
    first = parse_prefix(text)
    if first.error:
        return first
    rest = text[first.at :]
    if rest.strip():
        return Parsed(value=first.value, error="text follows the JSON value", at=first.at + len(rest) - len(rest.lstrip()))
    return first


def parse_prefix(text: str, start: int = 0) -> Parsed:
    """The JSON value that begins at `start`, white space skipped; what follows it is not looked at."""
    while start < len(text) and text[start] in " \t\r\n":
        start += 1
    if start >= len(text):
        return Parsed(error="there is no JSON value", at=start)
    problem = _too_deep(text, start)
    if problem is not None:
        return problem
    duplicates: list[str] = []

    def pairs(items: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) != len(items):
            seen: set[str] = set()
            for key, _ in items:
                if key in seen:
                    duplicates.append(key)
                seen.add(key)
        return found

    decoder = json.JSONDecoder(object_pairs_hook=pairs, parse_float=Decimal, parse_int=_integer, parse_constant=_constant)
    try:
        value, end = decoder.raw_decode(text, start)
    except json.JSONDecodeError as error:
        return Parsed(error=error.msg, at=error.pos)
    except (ValueError, RecursionError) as error:
        return Parsed(error=str(error), at=start)
    return Parsed(value=value, at=end, duplicates=tuple(dict.fromkeys(duplicates)))


def _too_deep(text: str, start: int) -> Parsed | None:
    """Counts brackets outside strings, but only where a text has enough of them to matter."""
    if text.count("[", start) + text.count("{", start) <= MAX_DEPTH:
        return None
    depth = 0
    for token in _BRACKET_OR_STRING.finditer(text, start):
        if token[0] in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                return Parsed(error=f"nested deeper than {MAX_DEPTH} levels", at=token.start())
        elif token[0] in "]}":
            depth -= 1
    return None


def _integer(digits: str) -> int | Decimal:
    return int(digits) if len(digits) <= _INT_DIGITS else Decimal(digits)


def _constant(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


def exact(value: Any) -> Any:
    """A value from YAML in the same terms: floats by their shortest decimal."""
    if isinstance(value, float):
        return Decimal(repr(value))
    if isinstance(value, dict) or hasattr(value, "items"):
        return {str(key): exact(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [exact(item) for item in value]
    return value


def canonical_json(value: Any) -> str:
    """Sorted keys, no white space, equal numbers written alike: 5, 5.0 and 5e0 are 5."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(key, ensure_ascii=False)}:{canonical_json(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical_json, value)) + "]"
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return _number(value)


def _number(value: int | Decimal) -> str:
    if isinstance(value, int):
        return str(value) if abs(value) < 10**_INT_DIGITS else f"{Decimal(value):f}"
    if value == 0:
        return "0"
    mantissa, _, power = f"{value:E}".partition("E")  # digits as text at once: a million of them cost nothing
    minus = "-" if mantissa.startswith("-") else ""
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    stripped = (whole + fraction).rstrip("0")
    exponent = int(power) + 1 - len(stripped)
    if 0 <= exponent <= 40:
        return minus + stripped + "0" * exponent
    if -40 <= exponent < 0:
        padded = stripped.rjust(1 - exponent, "0")
        return f"{minus}{padded[:exponent]}.{padded[exponent:]}"
    return f"{minus}{stripped}e{exponent}"
