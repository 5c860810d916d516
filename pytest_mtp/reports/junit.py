"""Flat scalar properties of a test case for JUnit XML: a mapping there would end up as a Python repr."""

from __future__ import annotations

import re

from pytest_mtp.core.run import CaseResult
from pytest_mtp.core.verdict import by_severity
from pytest_mtp.reports.printable import printable

Scalar = str | int | float


def junit_properties(result: CaseResult) -> list[tuple[str, Scalar]]:
    """Names begin with `mtp.`; a measure of a stratum is `mtp.NAME.STRATUM`. Absent values are left out."""
    verdict = result.verdict
    findings = by_severity(verdict.findings)
    pairs: list[tuple[str, Scalar | None]] = [
        ("outcome", verdict.outcome),
        ("closes_gate", str(result.closes).lower()),
        ("suite", printable(result.suite)),
        ("kind", printable(result.kind)),
        ("severity", findings[0].severity if findings else None),
        ("codes", ",".join(dict.fromkeys(printable(finding.code) for finding in findings)) or None),
        ("reason", printable(verdict.reason) or None),
        ("right", verdict.rate[0] if verdict.rate else None),
        ("repeats", verdict.rate[1] if verdict.rate else None),
        ("exchanges", verdict.exchanges),
        ("evidence", printable(verdict.evidence) or None),
    ]
    for measure in verdict.measures:
        name = ".".join(_word(part) for part in (measure.name, measure.stratum) if part)
        pairs.append((name, measure.value))
    return [(f"mtp.{name}", value) for name, value in pairs if value is not None]


def _word(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "_", text)[:80]
