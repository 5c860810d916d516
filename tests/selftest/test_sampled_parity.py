"""A verify step that is right for greedy requests and wrong for sampled ones: nothing greedy can see it."""

from __future__ import annotations

from pytest_mtp.checks.drafting import run
from pytest_mtp.core.case import Case, Source
from pytest_mtp.selftest import FakeServer
from tests.selftest.test_built_in_suites import talking_to

CASE = Case(id="drafting", suite="s", source=Source(path="s", line=1), check="drafting", severity="regression")


def harm(fake: FakeServer) -> tuple[set[str], list[tuple[str, str, str]], str]:
    """Codes of the control; what the drafting check found, and the detail of the first of it."""
    with fake, talking_to(fake) as context:
        control, verdict = context.control(), run(CASE, context)
    found = [(finding.code, finding.severity, finding.where) for finding in verdict.findings]
    return {finding.code for finding in control.findings}, found, verdict.findings[0].detail if found else ""


def test_sampled_answers_are_held_against_the_greedy_choices() -> None:
    control, found, detail = harm(FakeServer(faults=["verify-bug?sampled"]))
    assert control == set()
    assert found[0] == ("SPEC.parity.material", "critical", "sampled_low")
    assert "alone it chooses" in detail


def test_an_honest_server_may_choose_otherwise_at_near_ties_alone() -> None:
    assert harm(FakeServer()) == (set(), [], "")
