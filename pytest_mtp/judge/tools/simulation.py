"""A simulator in the place of the tools: its state is held against the expected one after each turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from pytest_mtp.core.case import CaseSeverity
from pytest_mtp.core.exchange import Exchange
from pytest_mtp.core.record import Json
from pytest_mtp.core.verdict import Finding
from pytest_mtp.judge.tools.answer import json_text
from pytest_mtp.judge.tools.comparing import compare_arguments
from pytest_mtp.judge.tools.expected import plain
from pytest_mtp.judge.tools.reading import read_calls
from pytest_mtp.judge.tools.report import found, kept


class Simulator(Protocol):
    """The user's model of the world behind the tools. An instance serves one conversation."""

    def call(self, name: str, arguments: Mapping[str, Json]) -> Json:
        """Carry out one call and give its result; a ValueError or LookupError is the tool's own refusal."""

    def state(self) -> Mapping[str, Json]:
        """Everything that counts, as builtins."""


def states_after(simulator: Simulator, turns: Sequence[Sequence[tuple[str, Mapping[str, Json]]]]) -> tuple[Mapping[str, Json], ...]:
    """The state after each turn of accepted calls; with a fresh simulator this makes the expected states."""
    states = []
    for calls in turns:
        for name, arguments in calls:
            _carried_out(simulator, name, arguments)
        states.append(simulator.state())
    return tuple(states)


def state_findings(
    turns: Sequence[Sequence[Exchange]],
    simulator: Simulator,
    expected: Sequence[Mapping[str, Json]],
    case_severity: CaseSeverity,
    *,
    results: Sequence[Sequence[Json]] | None = None,
) -> tuple[Finding, ...]:
    """Run the calls of each user turn (one or more exchanges) and compare the state after it; the first difference ends it.

    `results` are those that the accepted calls give in each turn: each must have occurred by then, in any order, since
    looking something up changes no state.
    """
    seen: list[str] = []
    for number, (exchanges, wanted) in enumerate(zip(turns, expected, strict=True)):
        shown = []
        for exchange in exchanges:
            for call in read_calls(exchange.reply, exchange.ask) if exchange.reply else ():
                if call.fits and call.arguments is not None:
                    seen.append(json_text(_carried_out(simulator, call.name, call.arguments)))
                shown.append(call.shown(200))
        differences, _ = compare_arguments(plain(wanted), plain(simulator.state()))
        missing = [text for text in map(json_text, results[number] if results else ()) if text not in seen]
        if differences or missing:
            first = differences[0] if differences else None
            what = (
                f"state {first.pointer}: expected {first.expected}, got {first.got}"
                if first
                else f"no call gave the result {missing[0][:60]}"
            )
            detail = "\n".join([*(f"{d.pointer}: expected {d.expected}, got {d.got}" for d in differences[:12]), *shown])
            title = f"after turn {number}: {what}"
            evidence = {"state": kept(json_text(simulator.state())), "calls": shown[:12]}
            return (found("TOOL.value", title, case_severity, where=f"turn {number}", detail=detail, evidence=evidence),)
    return ()


def _carried_out(simulator: Simulator, name: str, arguments: Mapping[str, Any]) -> Json:
    try:
        return simulator.call(name, arguments)
    except (ValueError, LookupError) as refusal:
        return {"error": str(refusal)}
