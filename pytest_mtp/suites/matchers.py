"""Expected tool calls: their tools are offered, their arguments declared, their matchers sound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_mtp.suites.document import Document, Place
from pytest_mtp.suites.tools import Tool, name_of, not_offered, parameters_of
from pytest_mtp.suites.values import check_day, check_regex
from pytest_mtp.suites.words import closest, listed, quoted

MATCHERS = ("one_of", "number", "regex", "contains", "date", "unordered", "subset", "any", "absent", "absent_or")
_WORDS = frozenset((*MATCHERS, "rel", "abs"))
_OPEN = frozenset({"patternProperties", "allOf", "anyOf", "oneOf", "$ref", "if"})  # may take other names too


def is_matcher(value: Any) -> bool:
    """A mapping made of matcher words alone; any other value is a literal."""
    return isinstance(value, Mapping) and bool(value) and value.keys() <= _WORDS


def check_calls(document: Document, calls: Any, place: Place, tools: Sequence[Tool]) -> None:
    """Raise SuiteError for a call that no server could make right."""
    offered = {name_of(tool): tool for tool in tools}
    for index, call in enumerate(calls):
        at: Place = (*place, index)
        if call["name"] not in offered:
            raise document.error(not_offered(call["name"], list(offered)), (*at, "name"))
        for argument, matcher in call.get("arguments", {}).items():
            at_argument: Place = (*at, "arguments", argument)
            _check_declared(document, argument, matcher, at_argument, offered[call["name"]])
            _check_matcher(document, matcher, at_argument)


def _check_declared(document: Document, name: str, matcher: Any, place: Place, tool: Tool) -> None:
    parameters = parameters_of(tool)
    properties = parameters.get("properties")
    if not isinstance(properties, Mapping):
        return
    if name not in properties:
        if parameters.get("additionalProperties", False) is False and _OPEN.isdisjoint(parameters) and matcher != {"absent": True}:
            hint = closest(name, properties) or f"; it has: {listed(properties)}"
            raise document.error(f"the tool {name_of(tool)!r} has no parameter {quoted(name)}{hint}", place, key=True)
        return
    kind = properties[name].get("type") if isinstance(properties[name], Mapping) else None
    if isinstance(matcher, Mapping) and not is_matcher(matcher) and isinstance(kind, str) and kind != "object":
        strange = next((key for key in matcher if key not in _WORDS), "")
        hint = closest(strange, MATCHERS) or f"; matchers are: {listed(MATCHERS)}"
        raise document.error(
            f"{quoted(strange)} is no matcher{hint}, and {quoted(name)} of {name_of(tool)!r} takes no mapping ({kind})", place
        )


def _check_matcher(document: Document, matcher: Any, place: Place) -> None:
    """Matchers stand inside literals and inside one another."""
    if is_matcher(matcher) and "regex" in matcher:
        check_regex(document, matcher["regex"], (*place, "regex"))
    if is_matcher(matcher) and "date" in matcher:
        check_day(document, matcher["date"], (*place, "date"))
    items = matcher.items() if isinstance(matcher, Mapping) else enumerate(matcher) if isinstance(matcher, list) else ()
    for key, item in items:
        _check_matcher(document, item, (*place, key))
