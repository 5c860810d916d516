"""One codec for every record that crosses a process border or lands in a report.

Frozen dataclasses inherit `to_dict` and `from_dict`; the field types are the schema. Unknown keys are ignored on
reading, so that an older release can read a newer report of the same schema version.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import types
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, Union, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
else:
    Json = object  # get_type_hints would unfold the recursive alias for ever


class Record:
    """Base of the records: plain builtins out, the same value back."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Json]:
        """Builtins only (xdist and JSON can carry them); NaN and infinities become None."""
        return {f.name: encode(getattr(self, f.name)) for f in dataclasses.fields(self)}  # type: ignore[arg-type]  # subclasses are dataclasses

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Raise ValueError naming the field when a value does not have the field's type."""
        kwargs = {}
        for name, hint in _hints(cls).items():  # type: ignore[arg-type]  # mypy does not see that a class is hashable
            if name in plain:
                try:
                    kwargs[name] = decode(hint, plain[name])
                except (TypeError, ValueError, AttributeError) as error:
                    raise ValueError(f"{cls.__name__}.{name}: {error}") from error
        try:
            return cls(**kwargs)
        except TypeError as error:  # a required field is missing
            raise ValueError(f"{cls.__name__}: {error}") from error


@functools.cache
def _hints(cls: Any) -> dict[str, Any]:
    hints = get_type_hints(cls)
    return {f.name: hints[f.name] for f in dataclasses.fields(cls)}


def encode(value: Any) -> Json:
    """A value of records, mappings and sequences as builtins."""
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {str(key): encode(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [encode(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"cannot put {type(value).__name__} into a record")


def decode(hint: Any, plain: Any) -> Any:
    """The inverse of `encode` for one type hint; raises ValueError on a mismatch."""
    if hint is Any or hint is Json:
        return plain
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _decode_union(args, plain)
    if origin is Literal:
        if plain not in args:
            raise ValueError(f"{plain!r} is none of {', '.join(map(repr, args))}")
        return plain
    if origin is tuple:
        return _decode_tuple(args, plain)
    if origin is not None and issubclass(origin, Mapping):
        if not isinstance(plain, Mapping):
            raise ValueError(f"expected a mapping, got {type(plain).__name__}")
        return {key: decode(args[1], item) for key, item in plain.items()}
    return _decode_scalar(hint, plain)


def _decode_tuple(args: tuple[Any, ...], plain: Any) -> tuple[Any, ...]:
    if not isinstance(plain, (list, tuple)):
        raise ValueError(f"expected a list, got {type(plain).__name__}")
    if len(args) == 2 and args[1] is Ellipsis:
        return tuple(decode(args[0], item) for item in plain)
    if len(plain) != len(args):
        raise ValueError(f"expected {len(args)} items, got {len(plain)}")
    return tuple(decode(arg, item) for arg, item in zip(args, plain, strict=True))


def _decode_union(args: tuple[Any, ...], plain: Any) -> Any:
    if plain is None and type(None) in args:
        return None
    problem: Exception = ValueError("empty union")
    for arg in args:
        if arg is type(None):
            continue
        try:
            return decode(arg, plain)
        except (TypeError, ValueError) as error:
            problem = error
    raise ValueError(str(problem))


def _decode_scalar(hint: Any, plain: Any) -> Any:
    if isinstance(hint, type) and issubclass(hint, Record):
        if not isinstance(plain, Mapping):
            raise ValueError(f"expected a mapping, got {type(plain).__name__}")
        return hint.from_dict(plain)
    if hint is float and isinstance(plain, int) and not isinstance(plain, bool):
        return float(plain)
    if type(plain) is hint:  # exact, since a bool is not an int here
        return plain
    raise ValueError(f"expected {hint.__name__}, got {type(plain).__name__}")
