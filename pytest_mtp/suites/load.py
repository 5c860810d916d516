"""A suite file to a Suite."""

from __future__ import annotations

from pathlib import Path

from pytest_mtp.core.case import Suite
from pytest_mtp.suites.cases import CaseBuilder
from pytest_mtp.suites.document import Document
from pytest_mtp.suites.files import read
from pytest_mtp.suites.golden import load_goldens
from pytest_mtp.suites.tools import declared_tools
from pytest_mtp.suites.validation import validate_suite


def load_suite(path: Path, *, shown: str | None = None) -> Suite:
    """The cases of a suite file with their golden answers, in the file's order; raises SuiteError.

    `shown` is the path as messages and sources print it. No network and no clock: each process gets the same value.
    """
    document = read(path, shown or str(path))
    validate_suite(document)
    answered = _answered(document)
    name = document.value["suite"]
    goldens = load_goldens(path, name, document.shown)
    cases = tuple(CaseBuilder(document=document, tools=declared_tools(document), goldens=goldens).build())
    goldens.check_ids(answered)
    return Suite(name=name, source=document.source(()), cases=cases, description=document.value.get("description", ""))


def _answered(document: Document) -> dict[str, str]:
    """Each id, and why its case takes no golden answer (empty: it does); raises SuiteError at the second of two equal ids."""
    answered: dict[str, str] = {}
    lines: dict[str, int] = {}
    for index, case in enumerate(document.value["cases"]):
        case_id, place = case["id"], ("cases", index, "id")
        if case_id in answered:
            raise document.error(f"the id {case_id!r} stands twice: first in line {lines[case_id]}", place)
        answered[case_id] = "has its own 'expect' in the suite: keep one of the two" if "expect" in case else ""
        if "check" in case:
            answered[case_id] = "is a check, and a check has no answer"
        lines[case_id] = document.line(place)
    return answered
