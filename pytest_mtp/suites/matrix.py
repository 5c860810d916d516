"""One case for each combination of a matrix's values."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

MAX_COMBINATIONS = 1000

_READABLE = re.compile(r"[A-Za-z0-9_.+-]{1,40}\Z")
_STREAM = {True: "stream", False: "unary", "both": "both"}


def size(matrix: Mapping[str, Sequence[Any]]) -> int:
    """The number of combinations."""
    total = 1
    for values in matrix.values():
        total *= len(values)
    return total


def combinations(matrix: Mapping[str, Sequence[Any]]) -> Iterator[tuple[str, dict[str, tuple[int, Any]]]]:
    """Each combination as its bracket and, for each axis, index and value; axes in the file's order, the last one fastest.

    The bracket joins one word an axis by hyphens: `stream` or `unary` for streams, the name of a forced tool or the
    word of another tool choice, else the axis with its value (`seed2`) or, where that is no short word, with its
    zero-based index (`system0`). Without a matrix there is one combination with an empty bracket.
    """
    if not matrix:
        yield "", {}
        return
    words = {axis: _words(axis, values) for axis, values in matrix.items()}
    for indices in itertools.product(*(range(len(values)) for values in matrix.values())):
        chosen = {axis: (index, matrix[axis][index]) for axis, index in zip(matrix, indices, strict=True)}
        yield f"[{'-'.join(words[axis][index] for axis, (index, _) in chosen.items())}]", chosen


def _words(axis: str, values: Sequence[Any]) -> list[str]:
    words = [_word(axis, value) for value in values]
    if all(words) and len(set(words)) == len(words):
        return words
    return [f"{axis}{index}" for index in range(len(values))]


def _word(axis: str, value: Any) -> str:
    """Empty where the value makes no short word."""
    if axis == "stream":
        return _STREAM[value]
    if axis == "tool_choice":
        return value if isinstance(value, str) else str(value.get("name") or value["function"]["name"])
    if value is None:
        return f"{axis}-none"
    if isinstance(value, (int, float)):
        return f"{axis}{json.dumps(value)}"
    if isinstance(value, str) and _READABLE.match(value):
        return f"{axis}-{value}"
    return ""
