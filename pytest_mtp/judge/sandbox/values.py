"""Values as the sandbox sends them, back as values. They come from a process that may lie: nothing here trusts their form."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

_RATIONAL = re.compile(r"-?\d{1,4000}(?:/\d{1,4000})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Opaque:
    """An object of a class that is not built in: how it shows itself, and its truth as it claims."""

    shown: str
    truth: bool

    def __bool__(self) -> bool:
        """As the object claims."""
        return self.truth


def unpacked(packed: Any) -> Any:
    """The value of tagged JSON. Raises ValueError for what no honest sandbox sends."""
    try:
        return _unpacked(packed)
    except (TypeError, KeyError, IndexError, OverflowError, InvalidOperation, RecursionError) as error:
        raise ValueError(f"not a value: {error}") from error


def _unpacked(packed: Any) -> Any:
    tag, body = packed[0], packed[1]
    if tag in _LEAVES:
        return _LEAVES[tag](packed)
    if tag in _COLLECTIONS:
        return _COLLECTIONS[tag](_unpacked(item) for item in body)
    if tag == "dict":
        return {_unpacked(key): _unpacked(value) for key, value in body}
    return _refuse(tag)


def _constant(body: Any) -> Any:
    return body if body is None or isinstance(body, bool) else _refuse("const")


def _rational(body: str) -> Fraction:
    if not _RATIONAL.fullmatch(body):
        _refuse("fractions")
    return Fraction(body)


_COLLECTIONS: Mapping[str, Callable[[Any], Any]] = {"list": list, "tuple": tuple, "set": frozenset}
_LEAVES: Mapping[str, Callable[[Any], Any]] = {
    "const": lambda packed: _constant(packed[1]),
    "int": lambda packed: int(packed[1], 16),
    "float": lambda packed: float.fromhex(packed[1]),
    "complex": lambda packed: complex(float.fromhex(packed[1]), float.fromhex(packed[2])),
    "str": lambda packed: packed[1] if isinstance(packed[1], str) else "".join(map(chr, packed[1])),
    "bytes": lambda packed: bytes.fromhex(packed[1]),
    "range": lambda packed: range(*(int(part, 16) for part in packed[1:4])),
    "decimal": lambda packed: Decimal(packed[1]),
    "fractions": lambda packed: _rational(packed[1]),
    "opaque": lambda packed: Opaque(shown=str(packed[1])[:300], truth=bool(packed[2])),
}


def _refuse(tag: object) -> Any:
    raise ValueError(f"not a value of the kind {tag!r}")
