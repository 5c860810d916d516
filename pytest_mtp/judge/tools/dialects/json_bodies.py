"""Bodies whose call, or whose arguments, are JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pytest_mtp.judge.tools.arguments import decode_prefix
from pytest_mtp.judge.tools.dialects.dialect import Body, Written

_NAME_KEYS = ("name", "tool_name", "function", "function_name", "tool")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "params", "tool_parameters", "input")
_BETWEEN = re.compile(r"[\s,;]*")
_FENCE = re.compile(r"\s*```(?:json)?\s*\n?")
_MOST_VALUES = 64


def json_calls(body: str) -> list[Written] | None:
    """One or more objects or lists of objects with a name and arguments, the whole body."""
    calls, end = _objects(body)
    return calls if calls and not body[end:].strip(" \t\r\n`;,") else None


def json_calls_first(body: str) -> list[Written] | None:
    """The same at the beginning of the body; prose may follow."""
    return _objects(body)[0] or None


def keyed_calls(body: str) -> list[Written] | None:
    """A list of {tool: arguments}."""
    read = decode_prefix(body)
    if not read or not isinstance(read[0], list) or body[read[1] :].strip():
        return None
    calls = []
    for item in read[0]:
        if not isinstance(item, dict) or len(item) != 1:
            return None
        name, arguments = next(iter(item.items()))
        if not isinstance(arguments, dict):
            return None
        calls.append(Written(name=name, arguments=arguments))
    return calls


def after_name(head: str) -> Body:
    """A body of a head with the tool's name (group `name` of the pattern), then the arguments object, then anything."""
    pattern = re.compile(head)

    def read(body: str) -> list[Written] | None:
        found = pattern.match(body)
        decoded = decode_prefix(body, found.end()) if found else None
        if not found or not decoded or not isinstance(decoded[0], dict):
            return None
        return [Written(name=found["name"], arguments=decoded[0])]

    return read


def call_of(value: Any) -> Written | None:
    """A call from one JSON object: {name, arguments}, {tool_name, parameters}, {type: function, function: {...}}."""
    if not isinstance(value, Mapping):
        return None
    inner = value.get("function")
    if isinstance(inner, Mapping):
        return call_of(inner)
    name = next((value[key] for key in _NAME_KEYS if isinstance(value.get(key), str)), None)
    if not name:
        return None
    arguments: Any = next((value[key] for key in _ARGUMENT_KEYS if key in value), {})
    if isinstance(arguments, str):
        decoded = decode_prefix(arguments)
        arguments = decoded[0] if decoded else None
    return Written(name=name, arguments=arguments) if isinstance(arguments, dict) else None


def _objects(body: str) -> tuple[list[Written], int]:
    calls: list[Written] = []
    fence = _FENCE.match(body)
    position = fence.end() if fence else 0
    for _ in range(_MOST_VALUES):
        read = decode_prefix(body, position)
        if not read:
            break
        items = read[0] if isinstance(read[0], list) else [read[0]]
        found = [call_of(item) for item in items]
        if not found or None in found:
            break
        calls += [call for call in found if call]
        between = _BETWEEN.match(body, read[1])
        position = between.end() if between else read[1]
    return calls, position
