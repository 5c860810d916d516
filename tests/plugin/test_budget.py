"""`--mtp-budget`: what fits is run, the worthiest first; what does not is skipped with its reason, and never in silence."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from pytest_mtp.checks.budget import CONTROL_REQUESTS, read_budget
from pytest_mtp.plugin import budget
from pytest_mtp.plugin.shared import REQUESTS, SETTLED, SharedFolder
from pytest_mtp.reports.json_report import report_schema
from tests.plugin.conftest import GateRun

SUMS = """\
schema_version: 1
suite: sums
defaults: {severity: critical, sampling: {temperature: 0, max_tokens: 32}}
cases:
""" + "".join(f"  - {{id: sum-{i}, ask: \"What is {i} + 30? End with 'Answer: N'.\", expect: {{number: {i + 30}}}}}\n" for i in range(8))
PROBES = "  - {id: prompt-tokens, check: prompt_tokens}\n  - {id: overload, check: overload}\n"


def test_requests_bound_the_run_and_the_rest_is_told(gate: GateRun, pytester: pytest.Pytester) -> None:
    outcome = gate("--mtp-launch", "fake", "--mtp-budget", f"{CONTROL_REQUESTS + 5}req", "-rs", suite=SUMS)
    outcome.result.assert_outcomes(passed=5, skipped=3)
    use = outcome.report.budget
    assert use is not None
    assert (use.limit_requests, use.planned_cases, use.planned_requests) == (CONTROL_REQUESTS + 5, 5, 5)
    assert 5 < use.requests <= CONTROL_REQUESTS + 5
    assert [each.node_id for each in use.left_out] == [f"probe.mtp.yaml::sum-{i}" for i in (5, 6, 7)]
    assert all(each.reason.startswith("budget ") for each in use.left_out)
    assert outcome.report.gate.verdict == "pass"
    assert f"3 cases left out by the budget {CONTROL_REQUESTS + 5}req" in outcome.report.gate.reasons
    out = outcome.result.stdout.str()
    assert "left out 3 cases" in out
    assert "probe.mtp.yaml::sum-7" in out
    assert "sum-7" in (pytester.path / ".mtp" / "summary.md").read_text()
    jsonschema.validate(json.loads((pytester.path / ".mtp" / "mtp-report.json").read_text()), report_schema())


def test_the_same_cases_with_two_workers(gate: GateRun) -> None:
    """Each worker makes the plan by itself."""
    limited = ("--mtp-launch", "fake", "--mtp-budget", f"{CONTROL_REQUESTS + 12}req")
    alone = gate(*limited, suite=SUMS + PROBES)
    two = gate(*limited, "-n", "2", suite=SUMS + PROBES)
    uses = [run.report.budget for run in (alone, two)]
    assert uses[0] is not None
    assert uses[1] is not None
    assert uses[0].left_out == uses[1].left_out != ()
    assert {case.node_id for case in alone.report.cases} == {case.node_id for case in two.report.cases}
    assert (uses[0].planned_cases, uses[0].planned_requests) == (uses[1].planned_cases, uses[1].planned_requests)


def test_the_worthiest_case_comes_first(gate: GateRun) -> None:
    suite = SUMS.replace("cases:\n", f"cases:\n{PROBES}")
    outcome = gate("--mtp-launch", "fake", "--mtp-budget", "standard", "-v", suite=suite)
    ran = [line.split("::")[1].split()[0] for line in outcome.result.outlines if "::" in line and "PASSED" in line]
    assert ran == [*(f"sum-{i}" for i in range(8)), "prompt-tokens", "overload"]
    assert outcome.report.budget is not None
    assert outcome.report.budget.left_out == ()


def test_quick_looks_once(gate: GateRun) -> None:
    suite = SUMS + "  - {id: choices, check: choices, repeats: 3}\n"
    quick = gate("--mtp-launch", "fake", "--mtp-budget", "quick", suite=suite)
    (choices,) = [case for case in quick.report.cases if case.kind == "choices"]
    assert choices.verdict.exchanges == 1


def test_time_that_is_over_leaves_everything_out_and_opens_no_gate(gate: GateRun) -> None:
    outcome = gate("--mtp-launch", "fake", "--mtp-budget", "0.001s", suite=SUMS)
    outcome.result.assert_outcomes(skipped=8)
    assert outcome.result.ret == pytest.ExitCode.TESTS_FAILED
    assert outcome.report.gate.verdict == "inconclusive"
    assert outcome.report.gate.reasons[0] == "the budget left no room for any case"
    assert outcome.report.budget is not None
    assert "0.0 s are left" in outcome.report.budget.left_out[0].reason


def test_a_time_with_room_runs_everything(gate: GateRun) -> None:
    outcome = gate("--mtp-launch", "fake", "--mtp-budget", "10m", "-n", "2", suite=SUMS)
    outcome.result.assert_outcomes(passed=8)
    use = outcome.report.budget
    assert use is not None
    assert (use.limit_s, use.planned_cases, use.left_out) == (600.0, 8, ())
    assert use.planned_s is not None
    assert use.planned_s > 0


def test_thorough_raises_the_repeats_of_probes(gate: GateRun) -> None:
    suite = SUMS + "  - {id: choices, check: choices, with: {max_tokens: 4}}\n"
    outcome = gate("--mtp-launch", "fake", "--mtp-budget", "thorough", suite=suite)
    (choices,) = [case for case in outcome.report.cases if case.kind == "choices"]
    (measure,) = [each for each in choices.verdict.measures if each.name == "excludable_fault_rate"]
    assert measure.n == 29
    assert measure.value is not None
    assert measure.value < 0.1
    assert outcome.report.budget is not None
    assert outcome.report.budget.looks == {"probe.mtp.yaml::choices": 29}


@pytest.mark.parametrize("word", ["soon", "5", "0s", "-3m", "2d", "3req", "quik", "5.5req", "٣m"])
def test_a_budget_that_is_none_is_one_error(pytester: pytest.Pytester, word: str) -> None:
    (pytester.path / "probe.mtp.yaml").write_text(SUMS)
    result = pytester.runpytest_inprocess("--mtp-launch", "fake", f"--mtp-budget={word}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "--mtp-budget" in result.stderr.str()
    assert "Traceback" not in result.stderr.str()


def test_a_probe_slower_than_reckoned_takes_no_time_from_others(tmp_path: Path) -> None:
    """Looks of two seconds in a share of seven: a fourth would go beyond it."""
    now = [100.0]
    shared = SharedFolder(tmp_path)
    budget.start_clock(shared, clock=lambda: now[0])
    shared.write(SETTLED, {"looks": {}, "share_s": 7.0})
    purse = budget.Purse(read_budget("thorough"), shared, clock=lambda: now[0])
    again = purse.looker()
    looked = 1
    while again():
        now[0] += 2.0
        looked += 1
    assert looked == 3
    now[0] += 1200
    assert not purse.looker()()


def test_no_look_beyond_the_requests(tmp_path: Path) -> None:
    shared = SharedFolder(tmp_path)
    purse = budget.Purse(read_budget("100req"), shared)
    shared.tick(REQUESTS, 99)
    assert purse.looker()()
    shared.tick(REQUESTS)
    assert not purse.looker()()
