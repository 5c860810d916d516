"""Which grader reads which key of `expect`. Built-in graders are imported when they are first asked for."""

from __future__ import annotations

import importlib
from typing import cast

from pytest_mtp.core.errors import UsageError, nearest
from pytest_mtp.judge.judgement import Grader

_ANSWERS = "pytest_mtp.judge.answers"
_BUILT_IN = {
    "number": (f"{_ANSWERS}.number", "grade"),
    "choice": (f"{_ANSWERS}.choice", "grade"),
    "text": (f"{_ANSWERS}.text", "grade"),
    "json": (f"{_ANSWERS}.json_value", "grade"),
    "json_schema": (f"{_ANSWERS}.json_value", "grade_schema"),
    "contains": (f"{_ANSWERS}.contains", "grade_contains"),
    "not_contains": (f"{_ANSWERS}.contains", "grade_not_contains"),
    "regex": (f"{_ANSWERS}.contains", "grade_regex"),
    "list": (f"{_ANSWERS}.sequences", "grade_list"),
    "set": (f"{_ANSWERS}.sequences", "grade_set"),
    "date": (f"{_ANSWERS}.date", "grade"),
    "code": (f"{_ANSWERS}.code", "grade"),
    "math": (f"{_ANSWERS}.mathematics", "grade"),
    "language": (f"{_ANSWERS}.language", "grade"),
    "length": (f"{_ANSWERS}.length", "grade"),
    "all_of": ("pytest_mtp.judge.combine", "grade_all_of"),
    "any_of": ("pytest_mtp.judge.combine", "grade_any_of"),
    "none_of": ("pytest_mtp.judge.combine", "grade_none_of"),
    "same_as": ("pytest_mtp.judge.same_as", "grade"),
}
_TOOLS = "pytest_mtp.judge.tools"
_TOOL_KINDS = ("calls", "no_call", "any_call")

_graders: dict[str, Grader] = {}


def register(kind: str, grader: Grader) -> None:
    """Add a grader, or put another in the place of a built-in one. The kind is the key in `expect`."""
    if not kind.isidentifier():
        raise UsageError(f"a kind of expectation is named like a Python identifier, not {kind!r}")
    _graders[kind] = grader


def restore(kind: str, grader: Grader | None) -> None:
    """Undo a `register`: put back what `registered` gave before it."""
    if grader is None:
        _graders.pop(kind, None)
    else:
        _graders[kind] = grader


def registered(kind: str) -> Grader | None:
    """What stands under a kind now; None also for a built-in one that nobody has asked for."""
    return _graders.get(kind)


def known_kinds() -> tuple[str, ...]:
    """Every kind that can be graded now, in alphabetical order."""
    return tuple(sorted({*_graders, *_BUILT_IN, *_TOOL_KINDS}))


def grader_for(kind: str) -> Grader:
    """The grader of a kind; raises UsageError with the nearest known word."""
    if kind not in _graders:
        if kind in _BUILT_IN:
            module, name = _BUILT_IN[kind]
            _graders[kind] = cast("Grader", getattr(importlib.import_module(module), name))
        elif kind in _TOOL_KINDS:
            importlib.import_module(_TOOLS)  # registers its graders
    if kind not in _graders:
        raise UsageError(f"there is no expectation {kind!r}{nearest(kind, known_kinds())}; known are {', '.join(known_kinds())}")
    return _graders[kind]
