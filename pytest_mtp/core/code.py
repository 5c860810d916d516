"""What a finding code is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pytest_mtp.core.case import Severity

DefaultSeverity = Severity | Literal["case"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """One row of the table."""

    name: str
    severity: DefaultSeverity
    meaning: str
    hint: str


def table_of(*rows: tuple[str, DefaultSeverity, str, str]) -> dict[str, Code]:
    """Rows of (name, severity, meaning, hint) by name."""
    return {name: Code(name=name, severity=severity, meaning=meaning, hint=hint) for name, severity, meaning, hint in rows}
