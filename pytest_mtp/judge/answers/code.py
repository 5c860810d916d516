"""`code`: the program of the reply passes, in the sandbox that the caller lends."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence

from pytest_mtp.core.case import Expect
from pytest_mtp.core.errors import UsageError, nearest
from pytest_mtp.core.record import Json
from pytest_mtp.judge.judgement import Extraction, GradeContext, Judgement, View, conclude
from pytest_mtp.judge.program import Program, ProgramResult
from pytest_mtp.judge.words.fences import Fence, fences
from pytest_mtp.judge.words.normal import excerpt

_KEYS = ("language", "asserts", "setup", "query", "rows", "ordered", "timeout_s", "memory_mb")
_NAMES = {"python": ("python", "py", "python3", "py3"), "sql": ("sql", "sqlite", "sqlite3")}
_WORDS: Mapping[str, str] = {
    "wrong": "it runs, and the result is wrong",
    "syntax": "it has a syntax error",
    "exception": "it raises",
    "timeout": "it does not end in time",
    "limit": "it goes beyond a limit of the sandbox",
}


def read_spec(spec: Json) -> Program:
    """The program without its source. Raises UsageError."""
    if not isinstance(spec, Mapping):
        raise UsageError(f"code: expected a mapping with language and asserts or rows, got {spec!r}")
    for key in spec:
        if key not in _KEYS:
            raise UsageError(f"code: unknown key {key!r}{nearest(str(key), _KEYS)}; known are {', '.join(_KEYS)}")
    language = spec.get("language")
    if language not in _NAMES:
        raise UsageError(f"code: language must be python or sql, not {language!r}{nearest(str(language), _NAMES)}")
    asserts = spec.get("asserts") or ()
    asserts = (asserts,) if isinstance(asserts, str) else asserts
    if not isinstance(asserts, Sequence) or any(not isinstance(item, str) for item in asserts):
        raise UsageError(f"code: asserts must be a list of Python statements, not {asserts!r}")
    texts = [item for item in asserts if isinstance(item, str)]
    if language == "python":
        if not texts:
            raise UsageError("code: python needs asserts")
        for item in texts:
            _check_python(item)
    rows = spec.get("rows")
    if language == "sql" and rows is None and not spec.get("query"):
        raise UsageError("code: sql needs rows, or a query whose rows are right")
    return Program(
        language="python" if language == "python" else "sql",
        source="",
        asserts=tuple(texts),
        setup=str(spec.get("setup") or ""),
        query=str(spec.get("query") or ""),
        rows=None if rows is None else _rows(rows),
        ordered=spec.get("ordered") is True,
        wall_s=_bound(spec, "timeout_s", 10),
        memory_mb=int(_bound(spec, "memory_mb", 512)),
    )


def _check_python(statement: str) -> None:
    try:
        ast.parse(statement)
    except SyntaxError as error:
        raise UsageError(f"code: {statement!r} is no Python statement: {error.msg}") from error


def _rows(rows: Json) -> tuple[tuple[Json, ...], ...]:
    if isinstance(rows, str) or not isinstance(rows, Sequence):
        raise UsageError(f"code: rows must be a list of rows, not {rows!r}")
    return tuple(tuple(row) if isinstance(row, Sequence) and not isinstance(row, str) else (row,) for row in rows)


def _bound(spec: Mapping[str, Json], key: str, default: float) -> float:
    value = spec.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 4096:
        raise UsageError(f"code: {key} must be a number above 0, not {value!r}")
    return float(value)


def grade(view: View, expect: Expect, context: GradeContext) -> Judgement:
    """The grader of `code`. The graded answer is the class of the result."""
    program = read_spec(expect.spec)
    source, extraction = _source(view.text, program)
    if context.run_code is None:
        return _ungraded("no sandbox was lent to the judge", extraction, context)
    result = context.run_code(Program.from_dict({**program.to_dict(), "source": source}))
    if result.outcome == "unavailable":
        return _ungraded(result.message, extraction, context)
    if result.outcome == "passed":
        return conclude(answer="passed", extraction=extraction)
    if result.outcome == "syntax" and extraction.rule == "whole":
        title = f"expected a {program.language} program, found no code block, and the text itself is none: {excerpt(view.text)!r}"
        return conclude([context.finding("ANS.unextractable", title)])
    return _failed(result, program, extraction, context)


def _ungraded(why: str, extraction: Extraction, context: GradeContext) -> Judgement:
    return Judgement(
        outcome="INCONCLUSIVE", findings=(context.finding("ANS.ungraded", f"the program was not run: {why}"),), extraction=extraction
    )


def _failed(result: ProgramResult, program: Program, extraction: Extraction, context: GradeContext) -> Judgement:
    total = f"{result.passed_asserts} of {len(program.asserts)} asserts held; " if program.language == "python" and program.asserts else ""
    title = f"{_WORDS[result.outcome]}: {total}{excerpt(result.message, 100)}"
    evidence: dict[str, Json] = {
        "class": result.outcome, "message": result.message, "passed_asserts": result.passed_asserts, "isolation": list(result.isolation),
        "output": excerpt(result.output, 300),
    }  # fmt: skip
    finding = context.finding("ANS.code", title, detail=result.message, evidence=evidence)
    return conclude([finding], answer=result.outcome, extraction=extraction)


def _source(text: str, program: Program) -> tuple[str, Extraction]:
    """The last block that defines what the asserts call, else the last block of the language, else an unnamed block, else all."""
    blocks = fences(text)
    named = [fence for fence in blocks if fence.language in _NAMES[program.language]]
    candidates = named or [fence for fence in blocks if not fence.language]
    if not candidates:
        return text, Extraction(text=excerpt(text), rule="whole", span=(0, len(text)))
    called = _called(program.asserts)
    defining = [fence for fence in candidates if any(_defines(fence, name) for name in called)]
    rule = "fence-defining" if defining else "fence"
    chosen = (defining or candidates)[-1]
    return chosen.body, Extraction(text=excerpt(chosen.body), rule=rule, span=(chosen.start, chosen.end), settled=chosen.closed)


def _called(asserts: Sequence[str]) -> set[str]:
    return {node.id for item in asserts for node in ast.walk(ast.parse(item)) if isinstance(node, ast.Name)}


def _defines(fence: Fence, name: str) -> bool:
    return (
        re.search(rf"^(?:(?:async\s+)?def|class)\s+{re.escape(name)}\b|^{re.escape(name)}\s*(?::[^=\n]+)?=", fence.body, re.MULTILINE)
        is not None
    )
