"""The files on disk beside a server, as one verdict: `--mtp-checkpoint` of a run, and `--checkpoint` of the doctor."""

from __future__ import annotations

from pytest_mtp.checkpoint.against import against_server
from pytest_mtp.checkpoint.inspection import Inspection
from pytest_mtp.core.facts import ServerFacts
from pytest_mtp.core.verdict import Measure, Outcome, Verdict, by_severity
from pytest_mtp.judge.gate import harms

NODE = "checkpoint"


def verdict_on_files(inspection: Inspection, facts: ServerFacts) -> Verdict:
    """`facts.speculation` should hold what the control proved: a head on disk is unused only where nothing is drafted."""
    findings = tuple(by_severity(against_server(inspection, facts)))
    outcome: Outcome = "FAIL" if harms(findings) else "PASS"
    heads = Measure(name="mtp_heads", value=float(len(inspection.heads)), unit="1", per="run", n=1, note=inspection.reason)
    return Verdict(
        case_id=NODE,
        outcome=outcome,
        reason=f"{findings[0].code}: {findings[0].title}" if outcome == "FAIL" else "",
        findings=findings,
        measures=(heads,),
        reproduce=(f"pytest-mtp inspect {inspection.path}",),
    )
