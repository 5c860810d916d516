"""A Document against its published schema."""

from __future__ import annotations

from typing import Any

from pytest_mtp.suites.document import Document, Place
from pytest_mtp.suites.schema import OURS, SUITE, SchemaFolder, schemas


def validate(document: Document, file: str, folder: SchemaFolder = OURS) -> None:
    """Raise SuiteError with the problem to mend first; `file` is a schema of `folder`."""
    _validate(document, document.value, file, "", (), folder=folder)


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


def validate_expect(document: Document) -> None:
    """The same for a lone `expect` mapping."""
    _validate(document, document.value, SUITE, "/definitions/expect", ())


def _validate(document: Document, value: Any, file: str, pointer: str, at: Place, *, folder: SchemaFolder = OURS) -> None:
    if folder.acceptor(file, pointer)(value):
        return
    from pytest_mtp.suites.explain import explain  # noqa: PLC0415  # only an unsound file pays for explanations

    problem = explain(folder.complaints(value, file, pointer), lambda found: document.line(found.place, key=found.key), at)
    raise document.error(problem.text, problem.place, key=problem.key)
