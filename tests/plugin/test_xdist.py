"""With workers: one server, one control, the same verdicts, and no measurement overlaps another request."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import jsonschema
import pytest

from pytest_mtp.client.evidence import read_exchanges
from pytest_mtp.reports.json_report import report_schema
from tests.plugin.conftest import SUITE, GateRun

PROSE = "".join(
    f"  - {{id: prose-{i}, ask: 'Write about the number {i}.', sampling: {{max_tokens: 40}}, expect: {{length: {{min_words: 99999}}}}}}\n"
    for i in range(12)
)


def test_the_same_verdicts_with_four_workers(gate: GateRun) -> None:
    alone = gate("--mtp-launch", "fake")
    four = gate("--mtp-launch", "fake", "-n", "4")
    assert four.result.ret == alone.result.ret == pytest.ExitCode.OK
    verdicts = [{case.node_id: case.verdict.outcome for case in run.report.cases} for run in (alone, four)]
    assert verdicts[0] == verdicts[1]
    assert len(verdicts[0]) == 5
    assert {case.worker for case in four.report.cases} - {""} != set()
    assert alone.report.control is not None
    assert four.report.control is not None
    assert alone.report.control.answers == four.report.control.answers


def test_no_measurement_overlaps_another_request(gate: GateRun, pytester: pytest.Pytester) -> None:
    """The prose cases miss on purpose, so that their exchanges are kept; both clocks are this machine's monotonic one."""
    outcome = gate("--mtp-launch", "fake?token_delay_ms=1", "-n", "4", suite=SUITE + PROSE)
    kept = {case.kind: [] for case in outcome.report.cases}  # type: ignore[var-annotated]  # filled below
    for case in outcome.report.cases:
        if case.verdict.evidence:
            kept[case.kind] += read_exchanges(pytester.path / ".mtp" / case.verdict.evidence)
    spans = {kind: [(each.timeline.sent_ns, each.timeline.done_ns or 0) for each in exchanges] for kind, exchanges in kept.items()}
    assert len(spans["acceptance"]) == 2
    assert len(spans["golden"]) >= 12
    first, last = min(start for start, _ in spans["acceptance"]), max(end for _, end in spans["acceptance"])
    assert not [span for span in spans["golden"] if span[1] > first and span[0] < last]
    ordered = sorted(spans["golden"])
    assert any(after[0] < before[1] for before, after in pairwise(ordered)), "the workers never overlapped: this proves nothing"


def test_a_crashed_worker_loses_nothing_that_was_measured(gate: GateRun, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_crash="import os\n\n\ndef test_crash():\n    os._exit(1)\n")
    outcome = gate("--mtp-launch", "fake", "-n", "2")
    assert outcome.result.ret == pytest.ExitCode.TESTS_FAILED
    assert len(outcome.report.cases) == 5
    assert outcome.report.gate.verdict == "fail"


def test_results_ride_on_reports_of_the_right_cases(gate: GateRun, pytester: pytest.Pytester) -> None:
    gate("--mtp-launch", "fake", "-n", "2", "--junitxml", "junit.xml")
    text = Path(pytester.path / "junit.xml").read_text()
    assert text.count('name="mtp.outcome" value="PASS"') == 5
    assert 'name="mtp.acceptance_rate' in text


def test_auto_asks_for_as_many_workers_as_requests_in_flight(gate: GateRun) -> None:
    outcome = gate("--mtp-launch", "fake", "-n", "auto", "--mtp-concurrency", "3")
    outcome.result.stdout.fnmatch_lines(["*3 workers*"])


def test_the_report_is_json_that_its_schema_accepts(gate: GateRun, pytester: pytest.Pytester) -> None:
    gate("--mtp-launch", "fake?faults=wrong-value", "-n", "2")
    jsonschema.validate(json.loads((pytester.path / ".mtp" / "mtp-report.json").read_text()), report_schema())
