"""Calls that stand in text: found by their dialect, typed by the schema, and told from talk about calls."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.errors import nearest
from pytest_mtp.judge.tools.arguments import decode_prefix
from pytest_mtp.judge.tools.dialects import DIALECTS
from pytest_mtp.judge.tools.dialects.bare import bare_calls
from pytest_mtp.judge.tools.dialects.dialect import Block, Dialect, Written, blocks
from pytest_mtp.judge.tools.offered import Tool, offer_of
from pytest_mtp.judge.tools.schemas import admits, checker_for, property_of
from pytest_mtp.judge.tools.shown import call_shown
from pytest_mtp.judge.words.fences import code_spans, inside
from pytest_mtp.judge.words.normal import excerpt

_SPECIAL = re.compile(r"<\||\|>|[｜▁]|\[[A-Z_]+\]|<(?:start|end)_function_call>|</?TOOLCALL>|:tool_call>|<arg_key>|</arg_value>|<tool_sep>")
_ATTEMPT = re.compile(r"\s*(?:[{\[<]|call:|functions?\b)")
_HEAD = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class TextCall:
    """A call as text says it; `problem` is empty when a parser should have read it."""

    name: str
    arguments: Mapping[str, Any]
    problem: str = ""

    def shown(self) -> str:
        """For a person."""
        return call_shown(self.name, self.arguments)


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One block of markup in a text. No `calls` and a `problem`: somebody tried to call. Neither: a marker stands there."""

    family: str
    marker: str
    start: int
    end: int
    calls: tuple[TextCall, ...] = ()
    problem: str = ""

    @property
    def complete(self) -> bool:
        """Every call in it could have been carried out."""
        return bool(self.calls) and not self.problem


def is_special(marker: str) -> bool:
    """A token that nobody types in prose, unlike <tool_call>."""
    return _SPECIAL.search(marker) is not None


def passages(text: str, ask: Ask, talk: str) -> list[Passage]:
    """Every passage in order. Markers that stand in `talk` (the conversation) or in code are what the text is about."""
    tools = offer_of(ask).tools
    found: list[Block] = []
    code: list[tuple[int, int]] | None = None
    for dialect in DIALECTS:
        if not any(opener in text for opener in dialect.opens):
            continue
        for block in blocks(text, dialect):
            if block.opener in talk or (dialect.common and not block.calls):
                continue
            if not dialect.fenced:
                code = code_spans(text) if code is None else code
                if inside(code, block.start):
                    continue
            found.append(block)
    return [_passage(block, tools) for block in _outermost(found)]


def bare_passage(text: str, ask: Ask, talk: str) -> Passage | None:
    """A text that is a call without markers, where nobody asked for JSON and everything in it fits an offered tool."""
    if ask.response_format is not None or "json" in talk.casefold():
        return None
    bare = bare_calls(text)
    if bare is None:
        return None
    family, written, start = bare
    calls = _typed(written, offer_of(ask).tools)
    if any(call.problem for call in calls):
        return None
    return Passage(family=family, marker="", start=start, end=len(text), calls=calls)


def _outermost(found: Iterable[Block]) -> list[Block]:
    """Readable blocks first; what overlaps one that was taken is a part of it."""
    taken: list[Block] = []
    for block in sorted(found, key=lambda b: (b.calls is None, b.start, -b.end)):
        if not any(block.start < other.end and other.start < block.end for other in taken):
            taken.append(block)
    return sorted(taken, key=lambda b: b.start)


def _passage(block: Block, tools: Mapping[str, Tool]) -> Passage:
    calls = _typed(block.calls or (), tools)
    problem = next((call.problem for call in calls if call.problem), "")
    if block.calls is None and _is_attempt(block, tools):
        problem = "it cannot be read" if block.closed or block.dialect.may_end else "it is never closed, and cannot be read"
    elif block.calls and not problem and not (block.closed or block.dialect.may_end):
        problem = f"{block.dialect.closes[0]} is missing at its end"
    return Passage(family=block.family, marker=block.opener, start=block.start, end=block.end, calls=calls, problem=problem)


def _is_attempt(block: Block, tools: Mapping[str, Tool]) -> bool:
    head = block.body[:_HEAD]
    return _ATTEMPT.match(head) is not None or any(name in head for name in tools) or (block.closed and bool(head.strip()))


def _typed(written: Iterable[Written], tools: Mapping[str, Tool]) -> tuple[TextCall, ...]:
    return tuple(_typed_call(call, tools) for call in written)


def _typed_call(written: Written, tools: Mapping[str, Tool]) -> TextCall:
    tool = tools.get(written.name)
    if tool is None:
        problem = f"{excerpt(written.name, 40)} was not offered{nearest(written.name, tools)}"
        return TextCall(name=written.name, arguments=written.arguments, problem=problem)
    arguments = written.arguments if written.typed else {key: _value(text, key, tool.parameters) for key, text in written.arguments.items()}
    checker = checker_for(tool.parameters)
    violation = next((v for v in checker.violations(dict(arguments)) if not v.of_schema), None)
    problem = (
        f"the schema of {tool.name} is violated{f' at {violation.pointer}' if violation.pointer else ''}: {violation.problem}"
        if violation
        else ""
    )
    return TextCall(name=written.name, arguments=arguments, problem=problem)


def _value(text: str, key: str, schema: Any) -> Any:
    """Bare text as the schema would have it: text where text may stand, else what it says as JSON."""
    trimmed = text.removeprefix("\n").removesuffix("\n")
    wanted = property_of(schema, key, schema)
    if wanted is not None and admits(wanted, "string", schema):
        return trimmed
    decoded = decode_prefix(trimmed)
    if decoded and not trimmed[decoded[1] :].strip():
        return decoded[0]
    words = {"true": True, "false": False, "none": None, "null": None}
    return words.get(trimmed.strip().casefold(), trimmed)


def markers_of(dialects: Iterable[Dialect] = DIALECTS) -> dict[str, tuple[str, ...]]:
    """Every marker that may be left behind, the longest first, with all markers of its dialect."""
    found = {marker: dialect.markers for dialect in dialects if not dialect.common for marker in dialect.markers}
    return dict(sorted(found.items(), key=lambda item: (-len(item[0]), item[0])))
