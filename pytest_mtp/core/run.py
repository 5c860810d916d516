"""The report of one run: what `mtp-report.json` holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pytest_mtp.core.case import CaseSeverity, Source
from pytest_mtp.core.facts import Control, ServerFacts
from pytest_mtp.core.record import Json, Record
from pytest_mtp.core.verdict import Verdict

REPORT_SCHEMA_VERSION = 1

GatePolicy = Literal["alarm", "proof", "explore"]
GateVerdict = Literal["pass", "fail", "inconclusive", "blocked"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult(Record):
    """One pytest item. `node_id` is what one types to run it again; `closes` says whether it closes the gate."""

    node_id: str
    suite: str
    kind: str
    severity: CaseSeverity
    source: Source
    verdict: Verdict
    closes: bool = False
    duration_s: float = 0.0
    worker: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocking(Record):
    """A reason why the gate is not open."""

    node_id: str
    code: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate(Record):
    """The conclusion of the run. None where no such number exists without a baseline or a reference."""

    verdict: GateVerdict
    policy: GatePolicy
    blocking: tuple[Blocking, ...] = ()
    reasons: tuple[str, ...] = ()
    false_alarm_budget: float | None = None
    smallest_regression_seen: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut(Record):
    """A case that the budget had no room for, and the requests that it would have taken."""

    node_id: str
    requests: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetUse(Record):
    """What a run was allowed to cost, what was planned, and what it took.

    Requests and seconds count the control and the cases, not the start of a server. None: no bound, or not known as the
    control was not measured. `looks` maps each probe whose repeats were raised to its repeats.
    """

    budget: str
    limit_requests: int | None
    limit_s: float | None
    planned_cases: int
    planned_requests: int
    planned_s: float | None
    requests: int
    seconds: float
    looks: Mapping[str, int] = field(default_factory=dict)
    left_out: tuple[LeftOut, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInfo(Record):
    """`started_at` is UTC in ISO 8601; `options` maps each option to its value and to where the value came from.

    `skipped` maps the node id of each case that was not asked to the reason: mostly what the server does not offer.
    """

    version: str
    started_at: str
    duration_s: float
    complete: bool
    suites: tuple[str, ...] = ()
    options: Mapping[str, Json] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport(Record):
    """The document. `complete` False in `run` means that the run ended early; what was measured is still here."""

    schema_version: int = REPORT_SCHEMA_VERSION
    run: RunInfo
    servers: tuple[ServerFacts, ...] = ()
    control: Control | None = None
    cases: tuple[CaseResult, ...] = ()
    comparison: Mapping[str, Json] = field(default_factory=dict)
    gate: Gate
    budget: BudgetUse | None = None
    instrument: Mapping[str, Json] = field(default_factory=dict)
