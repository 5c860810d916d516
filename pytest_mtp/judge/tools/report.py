"""Findings about calls: the table's severity and hint, one form of evidence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_mtp.core.case import CaseSeverity, Severity
from pytest_mtp.core.codes import CODES, severity_of
from pytest_mtp.core.verdict import Finding

EVIDENCE_LIMIT = 2000


def found(
    code: str,
    title: str,
    case_severity: CaseSeverity,
    *,
    severity: Severity | None = None,
    detail: str = "",
    where: str = "",
    evidence: Mapping[str, Any] | None = None,
) -> Finding:
    """`severity` is only given where evidence lowers the table's, or where a promise of the server raises a case's."""
    return Finding(
        code=code,
        severity=severity or severity_of(code, case_severity),
        title=title,
        detail=detail,
        where=where,
        hint=CODES[code].hint,
        evidence=evidence or {},
    )


def kept(text: str) -> str:
    """Text as evidence: the beginning and the end of what is too long to keep."""
    if len(text) <= EVIDENCE_LIMIT:
        return text
    half = EVIDENCE_LIMIT // 2
    return f"{text[:half]} […{len(text) - 2 * half} characters…] {text[-half:]}"
