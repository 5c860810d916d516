"""A program to run and what became of it: the words between the grader of code and a sandbox."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pytest_mtp.core.record import Json, Record

Language = Literal["python", "sql"]
ProgramOutcome = Literal["passed", "wrong", "syntax", "exception", "timeout", "limit", "unavailable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Program(Record):
    """`source` is the model's. Python: `asserts` are statements run after it. SQL: `setup` first, then `source` as the query.

    `rows` are the accepted rows, in that order when `ordered`; None together with `query` means: those of `query`.
    """

    language: Language
    source: str
    asserts: tuple[str, ...] = ()
    setup: str = ""
    query: str = ""
    rows: tuple[tuple[Json, ...], ...] | None = None
    ordered: bool = False
    wall_s: float = 10.0
    memory_mb: int = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramResult(Record):
    """`unavailable` means that nothing was run (no sandbox here): not the program's fault.

    `isolation` names what really held the program, one word a barrier; `passed_asserts` counts in order.
    """

    outcome: ProgramOutcome
    message: str = ""
    passed_asserts: int = 0
    isolation: tuple[str, ...] = ()
    output: str = ""
