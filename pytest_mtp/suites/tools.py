"""The tools of a suite: short form or OpenAI's, offered by name or inline, chosen by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_mtp.core.record import Json
from pytest_mtp.suites.document import Document, Place
from pytest_mtp.suites.meta import check_schema
from pytest_mtp.suites.words import closest, listed

Tool = Mapping[str, Json]


def name_of(tool: Mapping[str, Any]) -> str:
    """Of a tool in OpenAI's format."""
    return str(tool["function"]["name"])


def parameters_of(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    """The JSON Schema of its arguments; empty where it declares none."""
    return tool["function"].get("parameters") or {}


def declared_tools(document: Document) -> dict[str, Tool]:
    """The file's `tools` in OpenAI's format by name; raises SuiteError."""
    written = document.value.get("tools") or {}
    entries = written.items() if isinstance(written, Mapping) else enumerate(written)
    tools: dict[str, Tool] = {}
    for key, entry in entries:
        place: Place = ("tools", key)
        tool = _whole(key, entry)
        name = name_of(tool)
        if isinstance(key, str) and name != key:
            raise document.error(f"the tool {key!r} calls itself {name!r}: one name", (*place, "function", "name"))
        if name in tools:
            raise document.error(f"the tool {name!r} stands twice", place)
        check_schema(document, parameters_of(tool), (*place, *(("function", "parameters") if "function" in entry else ("parameters",))))
        tools[name] = tool
    return tools


def offered_tools(document: Document, offered: Sequence[Any], declared: Mapping[str, Tool], place: Place) -> tuple[Tool, ...]:
    """A case's `tools` in OpenAI's format; raises SuiteError for a name that the file does not declare."""
    tools: dict[str, Tool] = {}
    for index, entry in enumerate(offered):
        at: Place = (*place, index)
        if isinstance(entry, str):
            if entry not in declared:
                raise document.error(_undeclared(entry, declared), at)
            tool = declared[entry]
        else:
            tool = entry
            check_schema(document, parameters_of(tool), (*at, "function", "parameters"))
        if name_of(tool) in tools:
            raise document.error(f"the tool {name_of(tool)!r} is offered twice", at)
        tools[name_of(tool)] = tool
    return tuple(tools.values())


def chosen(document: Document, choice: Any, tools: Sequence[Tool], place: Place) -> str | Mapping[str, Json]:
    """`tool_choice` as it is sent; raises SuiteError for a tool that the case does not offer."""
    if not tools:
        raise document.error("'tool_choice' without tools: the case offers none", place, key=True)
    if isinstance(choice, str):
        return choice
    name = choice["name"] if "name" in choice else choice["function"]["name"]
    known = [name_of(tool) for tool in tools]
    if name not in known:
        inside = ("name",) if "name" in choice else ("function", "name")
        raise document.error(not_offered(name, known), (*place, *inside))
    return {"type": "function", "function": {"name": name}}


def not_offered(name: str, known: Sequence[str]) -> str:
    """The message for a tool that a case expects or chooses and does not offer."""
    if not known:
        return f"the case does not offer a tool {name!r}: it offers none"
    return f"the case does not offer a tool {name!r}{closest(name, known) or '; it offers: ' + listed(known)}"


def _whole(key: str | int, entry: Mapping[str, Any]) -> Tool:
    return entry if "function" in entry else {"type": "function", "function": {"name": key, **entry}}


def _undeclared(name: str, declared: Mapping[str, Tool]) -> str:
    if not declared:
        return f"no tool {name!r}: the file has no 'tools'"
    return f"no tool {name!r} in the file's 'tools'{closest(name, declared) or '; there are: ' + listed(declared)}"
