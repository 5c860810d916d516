"""The files on disk beside the server: `--mtp-checkpoint`."""

from __future__ import annotations

import pytest

from pytest_mtp.checkpoint.inspection import Inspection
from pytest_mtp.checkpoint.verdict import inspect_checkpoint
from pytest_mtp.checks.files import NODE, verdict_on_files
from pytest_mtp.core.case import Source
from pytest_mtp.core.errors import MtpError
from pytest_mtp.core.facts import ServerFacts
from pytest_mtp.core.run import CaseResult
from pytest_mtp.judge.gate import closes
from pytest_mtp.plugin.settings import Settings


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
    verdict = verdict_on_files(inspection, facts)
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
