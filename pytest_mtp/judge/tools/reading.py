"""The calls of a reply, each with its parsed arguments and the tool that it names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.reply import Reply, ToolCall
from pytest_mtp.judge.tools.arguments import Arguments, parse_arguments
from pytest_mtp.judge.tools.offered import Tool, offer_of
from pytest_mtp.judge.tools.schemas import Checker, Violation, checker_for
from pytest_mtp.judge.tools.shown import call_shown, wire_shown


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadCall:
    """`tool` None: not offered. `violations` of the schema, none where the arguments could not be read.

    `arguments` is the object; {} for no text where the tool requires nothing; None where there is none to grade. `fits`: an
    offered tool, readable arguments, and its schema holds.
    """

    place: int
    wire: ToolCall
    parsed: Arguments
    tool: Tool | None
    checker: Checker | None
    arguments: Mapping[str, Any] | None
    fits: bool
    violations: tuple[Violation, ...] = ()

    @property
    def name(self) -> str:
        """Empty where the wire has none."""
        return self.wire.name or ""

    @property
    def needs_nothing(self) -> bool:
        """The tool can be called without arguments."""
        return self.checker is not None and self.checker.empty_fits

    @property
    def where(self) -> str:
        """For a finding."""
        return f"call {self.place}"

    def shown(self, limit: int = 110) -> str:
        """For a person."""
        return wire_shown(self.wire, limit) if self.arguments is None else call_shown(self.wire.name, self.arguments, limit=limit)


def read_calls(reply: Reply, ask: Ask) -> tuple[ReadCall, ...]:
    """Every call of the wire, in its order."""
    tools = offer_of(ask).tools
    read = []
    for place, call in enumerate(reply.tool_calls):
        parsed = parse_arguments(call.arguments)
        tool = tools.get(call.name or "")
        checker = checker_for(tool.parameters) if tool else None
        value = parsed.value if parsed.whole else None
        if parsed.shape == "empty" and checker is not None and checker.empty_fits:
            value = {}
        violations = checker.violations(value) if checker is not None and value is not None else ()
        fits = tool is not None and value is not None and all(violation.of_schema for violation in violations)
        read.append(
            ReadCall(place=place, wire=call, parsed=parsed, tool=tool, checker=checker, arguments=value, fits=fits, violations=violations)
        )
    return tuple(read)
