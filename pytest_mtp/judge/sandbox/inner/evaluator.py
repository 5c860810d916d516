"""Runs the program and evaluates what the parent asks for. Accepted values are never sent here, so none can be echoed.

Whatever the program patches in this interpreter, it can only make wrong values or none: the comparing is done outside.
"""

from __future__ import annotations

import sys
import traceback
import types
from typing import Any

_LONGEST = 300


class Server:
    """Answers `load`, `run`, `values` and `truth`."""

    def __init__(self, _orders: dict[str, Any]) -> None:
        """The program lives in a module of its own, so that classes know where they come from."""
        self._module = types.ModuleType("program")
        sys.modules["program"] = self._module

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """The answer to one question; everything that a program can raise is an answer too."""
        try:
            return self._answer(question)
        except MemoryError:
            return {"error": "limit", "message": "MemoryError: out of memory"}
        except SyntaxError as error:
            return {"error": "syntax" if question["op"] == "load" else "exception", "message": _told(error), "line": error.lineno}
        except AssertionError as error:
            return {"error": "assert", "message": str(error)[:_LONGEST]}
        except BaseException as error:  # noqa: BLE001  # SystemExit and KeyboardInterrupt of a program are its failure, not our end
            return {"error": "exception", "message": _told(error), "line": _line_of(error)}

    def _answer(self, question: dict[str, Any]) -> dict[str, Any]:
        names = self._module.__dict__
        if question["op"] == "load":
            exec(compile(question["source"], "<program>", "exec", dont_inherit=True), names)  # noqa: S102  # this is what the walls are for
            return {"ok": True}
        if question["op"] == "run":
            exec(compile(question["source"], "<assert>", "exec", dont_inherit=True), names)  # noqa: S102  # as above
            return {"ok": True}
        if question["op"] == "truth":
            return {"truth": bool(eval(compile(question["source"], "<assert>", "eval", dont_inherit=True), names))}  # noqa: S307  # as above
        return {"values": [packed(eval(compile(source, "<assert>", "eval", dont_inherit=True), names)) for source in question["sources"]]}  # noqa: S307  # as above


def packed(value: Any, depth: int = 0) -> list[Any]:
    """A value as tagged JSON, subclasses as what they extend: their own `__eq__` has no say. Anything else is opaque."""
    if depth > 100:
        return ["opaque", "nested too deep", True]
    if value is None or value is True or value is False:
        return ["const", value]
    for kind, pack in _PACKERS:
        if isinstance(value, kind):
            return list(pack(value, depth))
    module = type(value).__module__
    if module in {"decimal", "fractions"}:
        return [module, str(value)]
    return ["opaque", f"{type(value).__name__}: {_shown(value)}", _truth(value)]


def _items(tag: str, values: Any, depth: int) -> list[Any]:
    return [tag, [packed(item, depth + 1) for item in values]]


def _pack_dict(value: Any, depth: int) -> list[Any]:
    return ["dict", [[packed(key, depth + 1), packed(item, depth + 1)] for key, item in dict.items(value)]]


_PACKERS: tuple[tuple[type, Any], ...] = (
    (int, lambda value, _: ["int", hex(int.__index__(value))]),
    (float, lambda value, _: ["float", float.hex(value)]),
    (complex, lambda value, _: ["complex", float.hex(value.real), float.hex(value.imag)]),
    (str, lambda value, _: ["str", [ord(char) for char in str.__str__(value)] if not str.__str__(value).isascii() else str.__str__(value)]),
    (bytes, lambda value, _: ["bytes", bytes.hex(value)]),
    (bytearray, lambda value, _: ["bytes", bytearray.hex(value)]),
    (list, lambda value, depth: _items("list", list.__iter__(value), depth)),
    (tuple, lambda value, depth: _items("tuple", tuple.__iter__(value), depth)),
    (set, lambda value, depth: _items("set", set.__iter__(value), depth)),
    (frozenset, lambda value, depth: _items("set", frozenset.__iter__(value), depth)),
    (dict, _pack_dict),
    (range, lambda value, _: ["range", hex(value.start), hex(value.stop), hex(value.step)]),
)


def _shown(value: Any) -> str:
    try:
        return repr(value)[:_LONGEST]
    except BaseException:  # noqa: BLE001  # a `__repr__` of the program may do anything
        return "?"


def _truth(value: Any) -> bool:
    return bool(value)


def _told(error: BaseException) -> str:
    try:
        text = "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]
    except BaseException:  # noqa: BLE001  # a `__str__` of the program may do anything
        text = type(error).__name__
    return text[:_LONGEST]


def _line_of(error: BaseException) -> int | None:
    try:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == "<program>"]
    except BaseException:  # noqa: BLE001  # as above
        return None
    return lines[-1] if lines else None
