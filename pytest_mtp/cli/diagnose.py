"""The visit behind `pytest-mtp doctor`: attach, control, probes, and one report in the form of a run's."""

from __future__ import annotations

import dataclasses
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from pytest_mtp import __version__
from pytest_mtp.checkpoint.inspection import Inspection
from pytest_mtp.checkpoint.verdict import inspect_checkpoint
from pytest_mtp.checks.files import NODE, verdict_on_files
from pytest_mtp.checks.kinds import EXCLUSIVE, check_for
from pytest_mtp.cli.visit import Visit
from pytest_mtp.core.case import Case, Source
from pytest_mtp.core.errors import InfraError, NotOffered
from pytest_mtp.core.facts import Control
from pytest_mtp.core.run import Blocking, CaseResult, Gate, RunInfo, RunReport
from pytest_mtp.core.verdict import Finding, Verdict
from pytest_mtp.judge.gate import closes, decide
from pytest_mtp.judge.identity import with_process
from pytest_mtp.reports.diagnosis import headline, next_steps, was_blocked
from pytest_mtp.servers.attach import attach

SUITE = "doctor"
QUICK = ("identity",)
"""Probes that send nothing."""

PROBES = (*QUICK, "drafting", "admission")


def diagnose(
    url: str,
    *,
    model: str | None,
    api_key_env: str | None,
    timeout_s: float,
    checkpoint: str | None,
    quick: bool,
    say: Callable[[str], None],
) -> RunReport:
    """`gate.reasons` holds the first sentence, `run.notes` what to do next.

    Raises UsageError for what the user can mend: an address, the name of a variable, a path.
    """
    begin = time.perf_counter()
    inspection = inspect_checkpoint(checkpoint) if checkpoint else None
    started = datetime.now(UTC).isoformat(timespec="seconds")
    options = {"url": url, "model": model, "api-key-env": api_key_env, "checkpoint": checkpoint, "quick": quick}
    info = RunInfo(
        version=__version__,
        started_at=started,
        duration_s=0.0,
        complete=True,
        suites=(SUITE,),
        options={name: {"value": value, "from": "command line"} for name, value in options.items() if value},
    )
    try:
        say(f"looking at {url}")
        report = _visited(info, url, model=model, api_key_env=api_key_env, timeout_s=timeout_s, inspection=inspection, quick=quick, say=say)
    except InfraError as error:
        gate = Gate(verdict="blocked", policy="alarm", blocking=(Blocking(node_id="attach", code=error.code, title=error.problem),))
        report = RunReport(run=dataclasses.replace(info, complete=False, notes=(error.hint,) if error.hint else ()), gate=gate)
    finally:
        say("")
    notes = (*report.run.notes, *(step for step in next_steps(report) if step not in report.run.notes))
    info = dataclasses.replace(report.run, duration_s=round(time.perf_counter() - begin, 3), notes=notes)
    return dataclasses.replace(report, run=info, gate=dataclasses.replace(report.gate, reasons=(headline(report), *report.gate.reasons)))


def _visited(
    info: RunInfo,
    url: str,
    *,
    model: str | None,
    api_key_env: str | None,
    timeout_s: float,
    inspection: Inspection | None,
    quick: bool,
    say: Callable[[str], None],
) -> RunReport:
    api_key = os.environ.get(api_key_env) if api_key_env else None
    server = attach(url, model=model, api_key_env=api_key_env, api_key=api_key, timeout_s=timeout_s)
    try:
        with tempfile.TemporaryDirectory(prefix="pytest-mtp-", ignore_cleanup_errors=True) as folder:
            visit = Visit(server, folder=Path(folder), weights=inspection.weights if inspection else None, say=say)
            known = visit.control()
            control = known if visit.gone is None else None
            facts = with_process(dataclasses.replace(server.facts, speculation=control.speculation) if control else server.facts)
            cases = _probed(visit, control, [_case(kind) for kind in (QUICK if quick else PROBES)])
    finally:
        server.client.close()
    if inspection is not None:
        cases.insert(0, _result(NODE, verdict_on_files(inspection, facts)))
    gate = decide(cases, control, "alarm")
    if gate.verdict == "blocked" and control is not None and control.usable and visit.gone is None:
        gate = dataclasses.replace(gate, verdict="fail")  # it answers still: what it did not answer is a finding
    return RunReport(run=info, servers=(facts,), control=control, cases=tuple(cases), gate=gate)


def _case(kind: str) -> Case:
    """With the defaults of the check."""
    return Case(id=kind, suite=SUITE, source=Source(path=SUITE, line=1), check=kind)


def _probed(visit: Visit, control: Control | None, probes: Sequence[Case]) -> list[CaseResult]:
    """Nothing is measured on a server that is gone, or whose answers cannot be used."""
    blocked = was_blocked(control) if control else None
    if visit.gone is not None:
        blocked = Finding(code=visit.gone.code, severity="critical", title=f"during the control: {visit.gone.message}")
    if blocked is not None:
        verdict = Verdict(case_id="control", outcome="BLOCKED", reason=f"{blocked.code}: {blocked.title}", findings=(blocked,), exchanges=1)
        return [_result("answers", verdict)]
    if control is None or not control.usable:
        return []
    results = []
    for case in probes:
        visit.progress(f"probe: {case.kind}")
        results.append(_result(case.kind, _judged(visit, case)))
    return results


def _judged(visit: Visit, case: Case) -> Verdict:
    check = check_for(case.kind)
    try:
        if case.kind in EXCLUSIVE:
            with visit.lease.exclusive():
                return check(case, visit)
        return check(case, visit)
    except NotOffered as error:
        return Verdict(case_id=case.id, outcome="INCONCLUSIVE", reason=str(error))
    except InfraError as error:
        finding = Finding(code=error.code, severity="critical", title=error.problem, hint=error.hint)
        return Verdict(case_id=case.id, outcome="BLOCKED", reason=f"{error.code}: {error.problem}", findings=(finding,), exchanges=1)


def _result(kind: str, verdict: Verdict) -> CaseResult:
    return CaseResult(
        node_id=f"{SUITE}::{kind}",
        suite=SUITE,
        kind=kind,
        severity="critical",
        source=Source(path=SUITE, line=1),
        verdict=verdict,
        closes=closes(verdict, "alarm", "warn"),
    )
