"""What a judge concludes: findings, measures, and a verdict of four outcomes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from pytest_mtp.core.case import Severity
from pytest_mtp.core.record import Json, Record

Outcome = Literal["PASS", "FAIL", "INCONCLUSIVE", "BLOCKED"]

_WEIGHT: Mapping[Severity, int] = {"critical": 0, "regression": 1, "model": 2, "note": 3}
_RANK: Mapping[Outcome, int] = {"PASS": 0, "INCONCLUSIVE": 1, "BLOCKED": 2, "FAIL": 3}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(Record):
    """One thing that is wrong or worth knowing.

    `title` fits a line and says what was asked, what came and the first difference. `detail` may have several lines.
    `evidence` holds the values that prove it; `where` names the place (choice, call, pointer, request mode).
    """

    code: str
    severity: Severity
    title: str
    detail: str = ""
    where: str = ""
    hint: str = ""
    evidence: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval(Record):
    """`level` is the confidence, `method` names the formula (for example `clopper-pearson`)."""

    low: float
    high: float
    level: float
    method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure(Record):
    """A number with its unit. `per` says of what: token, chunk, step, request, case or run; `n` counts the replicates."""

    name: str
    value: float | None
    unit: str
    per: Literal["token", "chunk", "step", "request", "case", "run"]
    n: int
    stratum: str = ""
    interval: Interval | None = None
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict(Record):
    """The conclusion on one case. `reason` is the one line that a tired person reads first."""

    case_id: str
    outcome: Outcome
    reason: str = ""
    findings: tuple[Finding, ...] = ()
    measures: tuple[Measure, ...] = ()
    rate: tuple[int, int] | None = None  # correct repeats, repeats
    exchanges: int = 0
    culprit: int | None = None  # index of the exchange that shows the reason
    evidence: str = ""  # file of the exchanges, relative to the report folder
    reproduce: tuple[str, ...] = ()


def merge(outcomes: Iterable[Outcome]) -> Outcome:
    """FAIL > BLOCKED > INCONCLUSIVE > PASS; PASS for none at all."""
    return max(outcomes, key=_RANK.__getitem__, default="PASS")


def by_severity(findings: Iterable[Finding]) -> list[Finding]:
    """Most severe first; the order in which they were found is kept within a severity."""
    return sorted(findings, key=lambda finding: _WEIGHT[finding.severity])
