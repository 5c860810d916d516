"""Two JSON values: equal by value, or the pointer of the first difference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Context, Decimal
from typing import Any

from pytest_mtp.judge.matching import maximum_matching
from pytest_mtp.judge.structured.pointers import Pointers, step
from pytest_mtp.judge.structured.reading import canonical_json
from pytest_mtp.judge.words.normal import excerpt, fold

_MATCHED_AT_MOST = 300
_WIDE = Context(prec=60, traps=[])  # no trap: an overflow is an infinity, and no infinity is within a tolerance


@dataclass(frozen=True, slots=True, kw_only=True)
class Equality:
    """What may differ. `rel` and `abs` apply to every number; without them numbers are compared exactly."""

    ignore: Pointers = field(default_factory=Pointers)
    unordered: Pointers = field(default_factory=Pointers)
    additional: bool = False
    rel: Decimal | None = None
    abs: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """`pointer` leads to it in both values, or in the one that has it; `expected` and `got` are one-line forms."""

    pointer: str
    expected: str
    got: str


def first_difference(gold: Any, got: Any, equality: Equality, pointer: str = "") -> Difference | None:
    """None when equal. Objects are walked in the order of the accepted value, then the keys that nobody expected."""
    return next(_differences(gold, got, equality, pointer), None)


def _differences(gold: Any, got: Any, equality: Equality, pointer: str) -> Iterator[Difference]:
    if pointer in equality.ignore:
        return
    if isinstance(gold, dict) and isinstance(got, dict):
        yield from _objects(gold, got, equality, pointer)
    elif isinstance(gold, list) and isinstance(got, list):
        if pointer in equality.unordered:
            yield from _unordered(gold, got, equality, pointer)
        else:
            yield from _ordered(gold, got, equality, pointer)
    elif not _scalars_equal(gold, got, equality):
        yield Difference(pointer=pointer, expected=_shown(gold), got=_shown(got))


def _objects(gold: dict[str, Any], got: dict[str, Any], equality: Equality, pointer: str) -> Iterator[Difference]:
    for key, value in gold.items():
        inner = pointer + step(key)
        if key in got:
            yield from _differences(value, got[key], equality, inner)
        elif inner not in equality.ignore:
            yield Difference(pointer=inner, expected=_shown(value), got="nothing")
    if equality.additional:
        return
    for key, value in got.items():
        inner = pointer + step(key)
        if key not in gold and inner not in equality.ignore:
            yield Difference(pointer=inner, expected="no such key", got=_shown(value))


def _ordered(gold: list[Any], got: list[Any], equality: Equality, pointer: str) -> Iterator[Difference]:
    for index, (one, other) in enumerate(zip(gold, got, strict=False)):
        yield from _differences(one, other, equality, pointer + step(index))
    if len(gold) != len(got):
        yield _lengths(gold, got, pointer)


def _lengths(gold: list[Any], got: list[Any], pointer: str) -> Difference:
    at = min(len(gold), len(got))
    missing = f", the first one missing is {_shown(gold[at])}" if at < len(gold) else f", the first one too many is {_shown(got[at])}"
    return Difference(pointer=pointer, expected=f"{len(gold)} items", got=f"{len(got)} items{missing}")


def _unordered(gold: list[Any], got: list[Any], equality: Equality, pointer: str) -> Iterator[Difference]:
    if len(gold) != len(got):
        yield _lengths(gold, got, pointer)
        return
    left, right = _without_twins(gold, got)
    if len(left) > _MATCHED_AT_MOST:
        yield Difference(pointer=pointer, expected=f"{len(gold)} items in any order", got=f"{len(left)} of them are not there")
        return
    edges = [
        [column for column, other in enumerate(right) if first_difference(one, other, equality, pointer + step(index)) is None]
        for index, one in left
    ]
    partner = maximum_matching(edges, len(right))
    for row, (index, one) in enumerate(left):
        if partner[row] < 0:
            free = next(other for column, other in enumerate(right) if column not in set(partner))
            yield Difference(
                pointer=pointer + step(index), expected=f"{_shown(one)} anywhere", got=f"no such item; unmatched is {_shown(free)}"
            )
            return


def _without_twins(gold: list[Any], got: list[Any]) -> tuple[list[tuple[int, Any]], list[Any]]:
    """What is left when items that are the same in every way have left in pairs: matching is for the rest."""
    waiting: dict[str, list[int]] = {}
    for index, item in enumerate(got):
        waiting.setdefault(canonical_json(item), []).append(index)
    left, used = [], set()
    for index, item in enumerate(gold):
        twins = waiting.get(canonical_json(item))
        if twins:
            used.add(twins.pop())
        else:
            left.append((index, item))
    return left, [item for index, item in enumerate(got) if index not in used]


def _scalars_equal(gold: Any, got: Any, equality: Equality) -> bool:
    numbers = all(isinstance(value, (int, Decimal)) and not isinstance(value, bool) for value in (gold, got))
    if numbers:
        return bool(gold == got) or _close(Decimal(gold), Decimal(got), equality)
    if isinstance(gold, str) and isinstance(got, str):
        return gold == got or fold(gold, case=True) == fold(got, case=True)
    return type(gold) is type(got) and bool(gold == got)


def _close(gold: Decimal, got: Decimal, equality: Equality) -> bool:
    if equality.rel is None and equality.abs is None:
        return False
    allowed = max(equality.abs or Decimal(0), _WIDE.multiply(equality.rel or Decimal(0), _WIDE.abs(gold)))
    return _WIDE.abs(_WIDE.subtract(gold, got)) <= allowed


def _shown(value: Any) -> str:
    return excerpt(canonical_json(value), 60)
