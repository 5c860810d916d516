"""What closes the gate, and what never does."""

from __future__ import annotations

import pytest

from pytest_mtp.core.case import CaseSeverity, Severity, Source
from pytest_mtp.core.facts import Control
from pytest_mtp.core.run import CaseResult, GatePolicy
from pytest_mtp.core.verdict import Finding, Outcome, Verdict
from pytest_mtp.judge.gate import InconclusivePolicy, closes, decide


def verdict(outcome: Outcome, severity: Severity | None = None) -> Verdict:
    findings = (Finding(code="ANS.wrong", severity=severity, title="expected 4, got 5"),) if severity else ()
    return Verdict(case_id="c", outcome=outcome, findings=findings, reason="why")


def result(of: Verdict, policy: GatePolicy = "alarm", severity: CaseSeverity = "model") -> CaseResult:
    source = Source(path="s.mtp.yaml", line=1)
    return CaseResult(
        node_id="s::c", suite="s", kind="golden", severity=severity, source=source, verdict=of, closes=closes(of, policy, "fail")
    )


@pytest.mark.parametrize(
    ("of", "policy", "inconclusive", "expected"),
    [
        pytest.param(verdict("PASS"), "proof", "fail", False, id="a pass never closes"),
        pytest.param(verdict("FAIL", "critical"), "alarm", "fail", True, id="broken serving closes"),
        pytest.param(verdict("FAIL", "regression"), "alarm", "fail", True, id="a missed approved answer closes"),
        pytest.param(verdict("FAIL", "model"), "alarm", "fail", False, id="a weak model does not"),
        pytest.param(verdict("FAIL", "model"), "proof", "fail", True, id="under proof a miss is not proven harmless"),
        pytest.param(verdict("INCONCLUSIVE"), "alarm", "fail", True, id="inconclusive closes by default"),
        pytest.param(verdict("INCONCLUSIVE"), "alarm", "warn", False, id="inconclusive may warn"),
        pytest.param(verdict("INCONCLUSIVE"), "proof", "warn", True, id="proof demands conclusions"),
        pytest.param(verdict("BLOCKED"), "alarm", "warn", True, id="a blocked server closes"),
        pytest.param(verdict("FAIL", "critical"), "explore", "fail", False, id="explore closes for nothing"),
    ],
)
def test_what_closes(of: Verdict, policy: GatePolicy, inconclusive: InconclusivePolicy, expected: bool) -> None:
    assert closes(of, policy, inconclusive) is expected


def test_harm_outranks_a_blocked_server_which_outranks_the_inconclusive() -> None:
    rows = [result(verdict("INCONCLUSIVE")), result(verdict("BLOCKED")), result(verdict("FAIL", "critical"))]
    assert decide(rows, None, "alarm").verdict == "fail"
    assert decide(rows[:2], None, "alarm").verdict == "blocked"
    assert decide(rows[:1], None, "alarm").verdict == "inconclusive"


def test_a_weak_model_leaves_the_gate_open_and_is_counted() -> None:
    gate = decide([result(verdict("PASS")), result(verdict("FAIL", "model"))], None, "alarm")
    assert gate.verdict == "pass"
    assert gate.reasons == ("1 of 2 cases passed", "1 missed without closing the gate (severity model)")


def test_a_critical_finding_of_the_control_closes_the_gate_by_itself() -> None:
    finding = Finding(code="SPEC.parity.material", severity="critical", title="3 of 12 tokens")
    control = Control(prompts=4, repeats=3, disagree_text=0, disagree_graded=0, findings=(finding,))
    gate = decide([result(verdict("PASS"))], control, "alarm")
    assert gate.verdict == "fail"
    assert [(each.node_id, each.code) for each in gate.blocking] == [("control", "SPEC.parity.material")]
    assert decide([], control, "explore").verdict == "pass"
