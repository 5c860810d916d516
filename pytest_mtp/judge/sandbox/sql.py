"""SQL queries of a model: their rows against the accepted ones."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, cast

from pytest_mtp.core.record import Json
from pytest_mtp.judge.program import Program, ProgramOutcome, ProgramResult
from pytest_mtp.judge.sandbox.process import LAYERS, Sandbox, SandboxEndedError
from pytest_mtp.judge.words.normal import excerpt

_ORDER_BY = re.compile(r"\border\s+by\b", re.IGNORECASE)
_QUOTED = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|/\*.*?\*/", re.DOTALL)
_REL = 1e-9


def run_sql(program: Program, *, layers: Sequence[str] = LAYERS) -> ProgramResult:
    """Each query gets a fresh database. The order of rows counts where the case says so or its own query has ORDER BY."""
    isolation: tuple[str, ...] = ()
    try:
        with Sandbox("queries", wall_s=program.wall_s, memory_mb=program.memory_mb, layers=layers) as sandbox:
            isolation = sandbox.isolation
            accepted = program.rows
            ordered = program.ordered
            if accepted is None:
                answer = sandbox.ask(op="query", setup=program.setup, source=program.query)
                if answer.get("error"):
                    message = f"the query of the case itself fails: {answer.get('message')}"
                    return ProgramResult(outcome="unavailable", message=message, isolation=isolation)
                accepted = _rows(answer)
                ordered = ordered or _ORDER_BY.search(_outermost(program.query)) is not None
            answer = sandbox.ask(op="query", setup=program.setup, source=program.source)
    except SandboxEndedError as ended:
        return ProgramResult(outcome=cast("ProgramOutcome", ended.outcome), message=ended.message, isolation=isolation)
    error = answer.get("error")
    if error == "setup":
        return ProgramResult(outcome="unavailable", message=f"the setup of the case fails: {answer.get('message')}", isolation=isolation)
    if error:
        return ProgramResult(outcome=cast("ProgramOutcome", error), message=str(answer.get("message")), isolation=isolation)
    problem = _difference(accepted, _rows(answer), ordered=ordered)
    return ProgramResult(outcome="wrong" if problem else "passed", message=problem, isolation=isolation)


def _outermost(query: str) -> str:
    """Without quoted text, comments and what stands in brackets: an ORDER BY there orders no rows of the result."""
    query = _QUOTED.sub(" ", query)
    while (shorter := re.sub(r"\([^()]*\)", " ", query)) != query:
        query = shorter
    return query


def _rows(answer: dict[str, Any]) -> tuple[tuple[Json, ...], ...]:
    return tuple(tuple(_value(value) for value in row) for row in answer.get("rows", ()))


def _value(value: Any) -> Json:
    if isinstance(value, dict):
        return float.fromhex(value["float"]) if "float" in value else "x'" + str(value.get("blob")) + "'"
    return cast("Json", value)


def _difference(accepted: Sequence[Sequence[Json]], got: Sequence[Sequence[Json]], *, ordered: bool) -> str:
    """Empty when equal."""
    if len(accepted) != len(got):
        return f"expected {len(accepted)} rows, got {len(got)}{f'; the first is {_shown(got[0])}' if got else ''}"
    one, other = (list(rows) if ordered else sorted(rows, key=_key) for rows in (accepted, got))
    for index, (wanted, given) in enumerate(zip(one, other, strict=True), start=1):
        if len(wanted) != len(given):
            return f"expected {len(wanted)} columns, got {len(given)}: {_shown(given)}"
        if not all(_same(*pair) for pair in zip(wanted, given, strict=True)):
            place = f"row {index}" if ordered else "rows in any order"
            return f"{place}: expected {_shown(wanted)}, got {_shown(given)}"
    return ""


def _same(wanted: Json, given: Json) -> bool:
    numbers = [value for value in (wanted, given) if isinstance(value, int | float)]
    if len(numbers) == 2:
        exact = all(isinstance(value, int) for value in numbers)
        return numbers[0] == numbers[1] or (not exact and math.isclose(numbers[0], numbers[1], rel_tol=_REL, abs_tol=_REL))
    return wanted == given


def _key(row: Sequence[Json]) -> tuple[tuple[int, str], ...]:
    """An order in which rows that are equal within the tolerance stand alike."""
    return tuple(
        (0, "") if value is None else (1, f"{float(value):+025.6e}") if isinstance(value, int | float) else (2, str(value)) for value in row
    )


def _shown(row: Sequence[Json]) -> str:
    return excerpt("(" + ", ".join("NULL" if value is None else repr(value) for value in row) + ")", 80)
