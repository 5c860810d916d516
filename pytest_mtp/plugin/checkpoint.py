"""The files on disk beside the server: `--mtp-checkpoint`."""

from __future__ import annotations

import pytest

from pytest_mtp.checkpoint.against import against_server
from pytest_mtp.checkpoint.inspection import Inspection
from pytest_mtp.checkpoint.verdict import inspect_checkpoint
from pytest_mtp.core.case import Source
from pytest_mtp.core.errors import MtpError
from pytest_mtp.core.facts import ServerFacts
from pytest_mtp.core.run import CaseResult
from pytest_mtp.core.verdict import Measure, Outcome, Verdict
from pytest_mtp.judge.gate import by_severity, closes, harms
from pytest_mtp.plugin.settings import Settings

NODE = "checkpoint"


def inspected(settings: Settings) -> Inspection | None:
    """Read before any server is started, so that a wrong path costs nothing. Raises pytest.UsageError."""
    if settings.checkpoint is None:
        return None
    try:
        return inspect_checkpoint(settings.checkpoint)
    except MtpError as error:
        raise pytest.UsageError(f"--mtp-checkpoint: {error}") from error


def result_of(inspection: Inspection, facts: ServerFacts, settings: Settings) -> CaseResult:
    """What server and files show together, as one case of the report."""
    findings = tuple(by_severity(against_server(inspection, facts)))
    outcome: Outcome = "FAIL" if harms(findings) else "PASS"
    heads = Measure(name="mtp_heads", value=float(len(inspection.heads)), unit="1", per="run", n=1, note=inspection.reason)
    verdict = Verdict(
        case_id=NODE,
        outcome=outcome,
        reason=f"{findings[0].code}: {findings[0].title}" if outcome == "FAIL" else "",
        findings=findings,
        measures=(heads,),
        reproduce=(f"pytest-mtp inspect {inspection.path}",),
    )
    return CaseResult(
        node_id=NODE,
        suite=NODE,
        kind=NODE,
        severity="critical",
        source=Source(path=inspection.path, line=1),
        verdict=verdict,
        closes=closes(verdict, settings.gate, settings.inconclusive),
    )


def advice(result: CaseResult) -> list[str]:
    """What is worth knowing though it closes nothing: the founding case is a head on disk and the flag unset."""
    return [f"checkpoint: {finding.title}. {finding.hint}".strip() for finding in result.verdict.findings if finding.severity == "note"]
