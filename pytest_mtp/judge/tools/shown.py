"""Calls and expectations as a person reads them: get_weather(city='Paris')."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pytest_mtp.core.reply import ToolCall
from pytest_mtp.judge.tools.arguments import parse_arguments
from pytest_mtp.judge.words.normal import excerpt

VALUE_LIMIT = 48
CALL_LIMIT = 110


def line(text: str, limit: int) -> str:
    """One printable line; most values are one already."""
    return text if len(text) <= limit and text.isprintable() else excerpt(text, limit)


def value_shown(value: Any, limit: int = VALUE_LIMIT) -> str:
    """Strings in quotes, everything else as JSON; long values lose their end."""
    if isinstance(value, str):
        return line(repr(value), limit)
    if value is None or value is True or value is False:
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (int, float)):
        return line(repr(value), limit)
    try:
        return line(json.dumps(value, ensure_ascii=False), limit)
    except (TypeError, ValueError, RecursionError):
        return line(repr(value), limit)


def spec_shown(spec: Any, limit: int = VALUE_LIMIT) -> str:
    """An expected argument; matchers in words."""
    if isinstance(spec, Mapping) and spec:
        word, value = next(iter(spec.items()))
        if word == "one_of" and isinstance(value, (list, tuple)):
            return line("one of " + ", ".join(spec_shown(item) for item in value), limit)
        if word == "number":
            return f"about {value}" if len(spec) > 1 else str(value)
        if word == "regex":
            return line(f"/{value}/", limit)
        if word == "contains":
            return line(f"something with {value_shown(value)}", limit)
        if word in ("date", "absent_or"):
            return line(f"{'date' if word == 'date' else 'absent or'} {spec_shown(value)}", limit)
        if word == "unordered":
            return line(f"in any order {value_shown(value)}", limit)
        if word == "subset":
            return line(f"at least {value_shown(value)}", limit)
        if word in ("any", "absent"):
            return "anything" if word == "any" else "absent"
    return value_shown(spec, limit)


def gold_shown(name: str, arguments: Mapping[str, Any] | None, *, first: str = "", limit: int = CALL_LIMIT) -> str:
    """An expected call. `first` is the argument that matters, which is shown whatever is cut."""
    if arguments is None:
        return f"{name}(…)"
    return _call(name, {key: f"{key}={spec_shown(spec)}" for key, spec in arguments.items()}, first, limit)


def call_shown(name: str | None, arguments: Mapping[str, Any], *, first: str = "", limit: int = CALL_LIMIT) -> str:
    """A call that came."""
    return _call(line(name or "?", 64), {key: f"{line(key, 40)}={value_shown(value)}" for key, value in arguments.items()}, first, limit)


def wire_shown(call: ToolCall, limit: int = CALL_LIMIT) -> str:
    """A call of the wire, its raw arguments text where that is no object."""
    parsed = parse_arguments(call.arguments)
    if parsed.whole and parsed.value is not None:
        return call_shown(call.name, parsed.value, limit=limit)
    return f"{line(call.name or '?', 64)} with arguments {line(repr(call.arguments), limit)}"


def _call(name: str, parts: Mapping[str, str], first: str, limit: int) -> str:
    whole = f"{name}({', '.join(parts.values())})"
    if len(whole) <= limit or not parts:
        return whole
    kept = [parts[first]] if first in parts else []
    for key, part in parts.items():
        if key != first and len(name) + sum(map(len, kept)) + len(part) + 2 * len(kept) < limit - 6:
            kept.append(part)
    return f"{name}({', '.join([*kept, '…'])})"
