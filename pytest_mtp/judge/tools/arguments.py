"""The arguments text of a call: a JSON object, or what is wrong with it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Shape = Literal[
    "object",
    "empty",  # no text, or null
    "cut",  # the beginning of an object
    "extra_brace",  # an object, then closing brackets
    "concatenated",  # an object, then another one
    "trailing",  # an object, then other text
    "twice",  # a JSON string that holds the object
    "other_type",  # JSON, but no object
    "deep",  # an object nested beyond what is judged
    "broken",
]
DEEPEST = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """`value` is the object, also where one could be rescued from broken text; `problem` completes "the arguments ..."."""

    text: str
    shape: Shape
    value: Mapping[str, Any] | None = None
    problem: str = ""
    duplicates: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        """One JSON object and nothing else."""
        return self.shape == "object"


class _DuplicateKeyError(ValueError):
    pass


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _DuplicateKeyError
    return value


def _number(text: str) -> int | float:
    """JSON has one type of number: 5.0 is 5. Beyond 2^53 a float no longer holds every integer, and stays a float."""
    value = float(text)
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


_STRICT = json.JSONDecoder(object_pairs_hook=_object, parse_float=_number, parse_constant=_refuse)
_SPACE = re.compile(r"[ \t\n\r]*")
_BEGUN = re.compile(r"(?:t|tr|tru|f|fa|fal|fals|n|nu|nul|-|\\?u?[0-9a-fA-F]{0,4})\s*")


def parse_arguments(text: str) -> Arguments:
    """Never raises, whatever the text is."""
    try:
        value = _STRICT.decode(text)
    except _DuplicateKeyError:
        return _with_duplicates(text)
    except RecursionError:
        return Arguments(text=text, shape="broken", problem="open more brackets than any reader follows")
    except ValueError as error:
        return _broken(text, error)
    return _whole(text, value)


def decode_prefix(text: str, start: int = 0) -> tuple[Any, int] | None:
    """The JSON value that begins at `start` (after white space) and the index behind it; None where none begins."""
    try:
        return _LENIENT.raw_decode(text, _after_space(text, start))
    except (ValueError, RecursionError):
        return None


_LENIENT = json.JSONDecoder(parse_float=_number, parse_constant=_refuse)


def _after_space(text: str, start: int) -> int:
    space = _SPACE.match(text, start)
    return space.end() if space else start


def _whole(text: str, value: Any, duplicates: tuple[str, ...] = ()) -> Arguments:
    if isinstance(value, dict):
        if text.count("{") + text.count("[") > DEEPEST and depth(value) > DEEPEST:
            return Arguments(text=text, shape="deep", problem=f"are nested more than {DEEPEST} levels deep and were not judged")
        return Arguments(text=text, shape="object", value=value, duplicates=duplicates)
    if value is None:
        return Arguments(text=text, shape="empty", problem="are null")
    if isinstance(value, str):
        inner = decode_prefix(value)
        if inner and isinstance(inner[0], dict) and not value[inner[1] :].strip():
            return Arguments(text=text, shape="twice", value=inner[0], problem="are JSON encoded twice: a string that holds the object")
    kind = {bool: "a boolean", str: "a string", list: "an array"}.get(type(value), "a number")
    return Arguments(text=text, shape="other_type", problem=f"are {kind}, not an object")


def depth(value: Any) -> int:
    """Levels of nesting, counted without recursion."""
    levels, row = 0, [value]
    while row:
        levels += 1
        row = [item for held in row for item in _held(held) if isinstance(item, (dict, list))]
    return levels


def _held(value: Any) -> Any:
    return value.values() if isinstance(value, dict) else value


def _with_duplicates(text: str) -> Arguments:
    twice: list[str] = []

    def collect(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        twice.extend(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        return dict(pairs)

    try:
        value = json.JSONDecoder(object_pairs_hook=collect, parse_float=_number, parse_constant=_refuse).decode(text)
    except (ValueError, RecursionError) as error:
        return _broken(text, error)
    return _whole(text, value, tuple(dict.fromkeys(twice)))


def _broken(text: str, error: Exception) -> Arguments:
    if not text.strip():
        return Arguments(text=text, shape="empty", problem="are empty")
    if text.lstrip()[0] != "{":
        return Arguments(text=text, shape="broken", problem=f"are not JSON ({_reason(error)})")
    first = decode_prefix(text)
    if first and isinstance(first[0], dict):
        return _followed(text, first[0], text[first[1] :].strip())
    if _is_cut(text, error):
        return Arguments(text=text, shape="cut", problem="stop in the middle of the object")
    inner = decode_prefix(text, text.index("{") + 1)
    if inner and isinstance(inner[0], dict):
        return Arguments(text=text, shape="broken", value=inner[0], problem="begin with a doubled brace")
    if re.match(r"\s*\{\s*'", text):
        return Arguments(text=text, shape="broken", problem="are a Python literal, not JSON")
    return Arguments(text=text, shape="broken", problem=f"are not JSON ({_reason(error)})")


def _followed(text: str, value: dict[str, Any], rest: str) -> Arguments:
    if rest and not rest.strip("}] \t\r\n"):
        return Arguments(text=text, shape="extra_brace", value=value, problem=f"end in a doubled brace ({rest[:20]!r} is too much)")
    if rest.startswith("{"):
        second = decode_prefix(rest)
        same = second is not None and second[0] == value
        problem = "hold the same object twice" if same else "hold two objects back to back"
        return Arguments(text=text, shape="concatenated", value=value, problem=problem)
    if not rest:  # the object alone is readable, yet not strictly JSON
        return Arguments(text=text, shape="broken", value=value, problem="are not strict JSON")
    return Arguments(text=text, shape="trailing", value=value, problem=f"have text behind the object ({rest[:40]!r})")


def _is_cut(text: str, error: Exception) -> bool:
    if not isinstance(error, json.JSONDecodeError):
        return False
    rest = text[error.pos :]
    return not rest.strip() or error.msg.startswith("Unterminated string") or _BEGUN.fullmatch(rest) is not None


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.pos}"
    return str(error)[:80] or type(error).__name__
