"""Gates C and D: which call came for which accepted one, and what is wrong with those that have none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_mtp.core.case import CaseSeverity
from pytest_mtp.core.verdict import Finding
from pytest_mtp.judge.tools.assignment import longest_in_order, pair
from pytest_mtp.judge.tools.comparing import compare_arguments
from pytest_mtp.judge.tools.equality import same_json
from pytest_mtp.judge.tools.expected import Expected, Gold
from pytest_mtp.judge.tools.place import Coercion, Difference
from pytest_mtp.judge.tools.reading import ReadCall
from pytest_mtp.judge.tools.report import found
from pytest_mtp.judge.tools.shown import gold_shown
from pytest_mtp.judge.tools.wrong_value import value_finding

_OTHER_TOOL = 3.0
_UNREADABLE = 2.0
_ONLY_SCHEMA = 0.01  # right values that the schema refuses


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One accepted call held against one that came. Distance 0 is a match: every gate passes."""

    distance: float
    differences: Sequence[Difference] = ()
    coercions: Sequence[Coercion] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatch:
    """`matched` are (gold, call) that pass every gate, `beside` the nearest of the rest, `missing` and `over` have no partner."""

    matched: tuple[tuple[int, int], ...]
    beside: tuple[tuple[int, int], ...]
    missing: tuple[int, ...]
    over: tuple[int, ...]
    in_order: bool
    table: dict[tuple[int, int], Compared]


def compare(gold: Gold, call: ReadCall, *, extra_args: bool) -> Compared:
    """How far a call is from an accepted one."""
    if gold.name != call.name:
        return Compared(distance=_OTHER_TOOL)
    if call.arguments is None:
        return Compared(distance=_UNREADABLE)
    if gold.arguments is None:
        return Compared(distance=0.0 if call.fits else _ONLY_SCHEMA)
    schema = call.tool.parameters if call.tool else None
    differences, coercions = compare_arguments(gold.arguments, call.arguments, schema, extra=extra_args)
    if not differences:
        return Compared(distance=0.0 if call.fits else _ONLY_SCHEMA, coercions=coercions)
    size = max(len(gold.arguments), len(call.arguments), 1)
    return Compared(distance=0.1 + len(differences) / size, differences=differences, coercions=coercions)


def dispatch(expected: Expected, calls: Sequence[ReadCall]) -> Dispatch:
    """A maximum matching for the verdict and the nearest pairs for the explanation."""
    table: dict[tuple[int, int], Compared] = {}
    golds = expected.golds

    def compared(i: int, j: int) -> Compared:
        if (i, j) not in table:
            table[i, j] = compare(golds[i], calls[j], extra_args=expected.extra_args)
        return table[i, j]

    pairs = pair(len(golds), len(calls), lambda i, j: compared(i, j).distance)
    matched = [(i, j) for i, j, match in pairs if match]
    beside = [(i, j) for i, j, match in pairs if not match and golds[i].name == calls[j].name]
    taken = {*matched, *beside}
    in_order = True
    if expected.ordered and len(matched) > 1:
        chain = longest_in_order(len(golds), len(calls), lambda i, j: compared(i, j).distance == 0)
        in_order = len(chain) == len(matched)
    return Dispatch(
        matched=tuple(matched),
        beside=tuple(beside),
        missing=tuple(i for i in range(len(golds)) if all(i != gold for gold, _ in taken)),
        over=tuple(j for j in range(len(calls)) if all(j != call for _, call in taken)),
        in_order=in_order,
        table=table,
    )


def dispatch_findings(expected: Expected, calls: Sequence[ReadCall], done: Dispatch, case_severity: CaseSeverity) -> Iterator[Finding]:
    """What is wrong, each wrong call once. A call that an earlier gate has already told about is not told again."""
    for i, j in (*done.matched, *done.beside):
        yield from _coerced(calls[j], done.table[i, j].coercions, case_severity)
    unmet = list(done.missing)
    if expected.at_least is not None and len(done.matched) >= expected.at_least:
        unmet = []
    else:
        for i, j in done.beside:
            yield from value_finding(expected.golds[i], calls[j], done.table[i, j].differences, case_severity)
    unmet = unmet[sum(calls[j].tool is None for j in done.over) :]  # told as TOOL.name
    over = [] if expected.extra else [j for j in done.over if calls[j].tool is not None]
    for j in [j for j in over if _twin(calls[j], calls) is None][: len(unmet)]:
        over.remove(j)
        gold = expected.golds[unmet.pop(0)]
        title = f"expected {gold_shown(gold.name, gold.arguments)}, got {calls[j].shown()}: another tool"
        yield found("TOOL.spurious", title, case_severity, where=calls[j].where, evidence={"got": calls[j].shown(400)})
    yield from _missing(unmet, expected, calls, case_severity)
    yield from _surplus(over, calls, case_severity)
    if not done.in_order:
        came = ", ".join(calls[j].name for _, j in sorted(done.matched, key=lambda pair: pair[1]))
        title = f"the calls came in another order: expected {', '.join(gold.name for gold in expected.golds)}, got {came}"
        yield found("TOOL.order", title, case_severity, detail="\n".join(call.shown(400) for call in calls))


def _coerced(call: ReadCall, coercions: Sequence[Coercion], case_severity: CaseSeverity) -> Iterator[Finding]:
    for coercion in coercions:
        title = f"{call.where} {call.name}: {coercion.pointer} matches only after a coercion: {coercion.rung}"
        yield found("TOOL.coerced", title, case_severity, where=f"{call.where}{coercion.pointer}", evidence={"rung": coercion.rung})


def _missing(unmet: Sequence[int], expected: Expected, calls: Sequence[ReadCall], case_severity: CaseSeverity) -> Iterator[Finding]:
    if not unmet:
        return
    shown = [gold_shown(expected.golds[i].name, expected.golds[i].arguments) for i in unmet]
    evidence = {"expected": len(expected.golds), "got": len(calls), "missing": shown[:8]}
    listed = " and ".join(shown[:2]) + (f" and {len(shown) - 2} more" if len(shown) > 2 else "")
    if calls:
        counts = f"expected {_calls(len(expected.golds))}, got {len(calls)}"
        yield found("TOOL.count", f"{counts}: missing {listed}", case_severity, evidence=evidence)
    else:
        yield found("TOOL.missing", f"expected {listed}, got no call", case_severity, evidence=evidence)


def _surplus(over: Sequence[int], calls: Sequence[ReadCall], case_severity: CaseSeverity) -> Iterator[Finding]:
    for j in over:
        call = calls[j]
        twin = _twin(call, calls)
        if twin is not None:
            title = f"{call.where} is {twin.where} again: {call.shown()}"
            yield found("TOOL.duplicate", title, case_severity, where=call.where, evidence={"call": call.shown(400)})
        else:
            title = f"nobody expected {call.where}: {call.shown()}"
            yield found("TOOL.spurious", title, case_severity, where=call.where, evidence={"call": call.shown(400)})


def _twin(call: ReadCall, calls: Sequence[ReadCall]) -> ReadCall | None:
    return next((other for other in calls if other.place != call.place and _same_call(call, other)), None)


def _same_call(one: ReadCall, other: ReadCall) -> bool:
    return (
        one.name == other.name and one.arguments is not None and other.arguments is not None and same_json(one.arguments, other.arguments)
    )


def _calls(count: int) -> str:
    return f"{count} call{'' if count == 1 else 's'}"
