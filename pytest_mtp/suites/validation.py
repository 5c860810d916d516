"""A Document against its published schema."""

from __future__ import annotations

from typing import Any

from pytest_mtp.suites.document import Document, Place
from pytest_mtp.suites.explain import Problem, explain
from pytest_mtp.suites.schema import SUITE, problems, schemas


def validate(document: Document, file: str) -> None:
    """Raise SuiteError with the problem to mend first."""
    _validate(document, document.value, file, "", ())


def validate_suite(document: Document) -> None:
    """The same for a suite, one case after the other: an example stands in for the cases while the rest is validated."""
    cases = document.value.get("cases")
    if not isinstance(cases, list) or not cases:
        validate(document, SUITE)
        return
    example = schemas()[SUITE]["definitions"]["case"]["examples"][:1]
    _validate(document, {**document.value, "cases": example}, SUITE, "", ())
    for index, case in enumerate(cases):
        _validate(document, case, SUITE, "/definitions/case", ("cases", index))


def _validate(document: Document, value: Any, file: str, pointer: str, at: Place) -> None:
    errors = list(problems(value, file, pointer))
    if errors:
        problem = explain(errors, lambda found: _line(document, found), at)
        raise document.error(problem.text, problem.place, key=problem.key)


def _line(document: Document, problem: Problem) -> int:
    return document.line(problem.place, key=problem.key)
