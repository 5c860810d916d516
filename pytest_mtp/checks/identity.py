"""Is it the model that we think we test? From what the server tells, its process and its files: no request of its own."""

from __future__ import annotations

import dataclasses

from pytest_mtp.checkpoint.against import against_server
from pytest_mtp.checkpoint.verdict import inspect_checkpoint
from pytest_mtp.core.case import Case
from pytest_mtp.core.errors import MtpError
from pytest_mtp.core.facts import ServerFacts
from pytest_mtp.core.protocols import CheckContext
from pytest_mtp.core.verdict import Finding, Verdict, by_severity
from pytest_mtp.judge.gate import harms
from pytest_mtp.judge.identity import identity_findings, with_process


def run(case: Case, context: CheckContext) -> Verdict:
    """Passes with notes where nothing contradicts itself; what cannot be seen is said and not guessed."""
    facts = dataclasses.replace(context.server.facts, speculation=context.control().speculation)
    findings = [*identity_findings(facts), *_unseen(facts)]
    if context.weights is None:  # else the user named the checkpoint, and the run holds it against the server anyway
        findings += _files(with_process(facts))
    ordered = by_severity(findings)
    worst = harms(ordered)
    return Verdict(
        case_id=case.id,
        outcome="FAIL" if worst else "PASS",
        reason=f"{worst[0].code}: {worst[0].title}" if worst else "",
        findings=tuple(ordered),
    )


def _unseen(facts: ServerFacts) -> list[Finding]:
    if facts.process is not None:
        return []
    why = [line.removeprefix("process: ") for line in facts.evidence if line.startswith("process: ")]
    title = f"the process behind the server cannot be seen: {why[-1] if why else 'it runs on another machine'}"
    return [Finding(code="ID.process", severity="note", title=title, hint="Run the gate where the server runs to have it checked.")]


def _files(facts: ServerFacts) -> list[Finding]:
    """The files that the process was started with, inspected as if the user had named them: a head that nobody uses shows.

    What is wrong within the files is a note here: nobody asked about them, and the server may not use that part.
    """
    process = facts.process
    if process is None or process.model_path is None or process.model_path not in process.real_paths:
        return []
    try:
        inspection = inspect_checkpoint(process.model_path)
    except MtpError:  # no checkpoint of a kind that we read
        return []
    own = inspection.findings
    found = against_server(inspection, facts)
    return [dataclasses.replace(finding, severity="note") if finding in own else finding for finding in found]
