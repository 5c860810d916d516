"""What a caller lends to the judge so that programs and formulas can be graded."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from pytest_mtp.core.case import CaseSeverity
from pytest_mtp.judge.judgement import GradeContext
from pytest_mtp.judge.program import Program, ProgramResult
from pytest_mtp.judge.sandbox.python import run_python
from pytest_mtp.judge.sandbox.sql import run_sql
from pytest_mtp.judge.sandbox.symbols import EqualMath, installed


def run_program(program: Program) -> ProgramResult:
    """Run in the sandbox of the language."""
    return run_python(program) if program.language == "python" else run_sql(program)


@functools.cache
def equal_math() -> EqualMath | None:
    """One for the process; None without the extra `[math]`."""
    return EqualMath() if installed() else None


def full_context(case_severity: CaseSeverity = "model", references: Mapping[str, str | None] | None = None) -> GradeContext:
    """A GradeContext with everything that this machine can lend. Nothing is started before it is needed."""
    return GradeContext(case_severity=case_severity, references=references or {}, run_code=run_program, equal_math=equal_math())
