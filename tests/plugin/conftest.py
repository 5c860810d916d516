"""Runs of the gate over the fake engine, in temporary projects."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import httpx
import jsonschema
import prometheus_client
import psutil
import pytest
import rapidfuzz
import scipy.stats
import tenacity
import yaml

from pytest_mtp.core.run import RunReport
from pytest_mtp.judge import pipeline, tools
from pytest_mtp.plugin import controller, worker
from pytest_mtp.suites import load

IMPORTED_BEFORE = (
    httpx,
    jsonschema,
    prometheus_client,
    psutil,
    rapidfuzz,
    scipy.stats,
    tenacity,
    yaml,
    pipeline,
    tools,
    controller,
    worker,
    load,
)
"""pytester forgets what an in-process run imports, and extension modules do not survive being imported twice."""

SUITE = """\
schema_version: 1
suite: probe
tools:
  get_weather:
    description: Current weather of a city
    parameters: {type: object, properties: {city: {type: string}}, required: [city]}
cases:
  - id: sum
    ask: "What is 12 + 30? End with 'Answer: N'."
    severity: critical
    expect: {number: 42}
  - id: sum-streamed
    ask: "What is 17 + 25? End with 'Answer: N'."
    stream: true
    severity: critical
    expect: {number: 42}
  - id: weather
    tools: [get_weather]
    ask: Call get_weather for Paris
    stream: both
    severity: critical
    expect: {calls: [{name: get_weather, arguments: {city: Paris}}]}
  - id: story
    ask: Write a short story about a lighthouse keeper who finds a letter.
    stream: true
    sampling: {max_tokens: 120}
    expect: {length: {min_words: 5}}
  - id: alive
    check: acceptance
    severity: regression
    with: {max_tokens: 32, prompts: {code: [Write a Python function that reverses a list.], prose: [Why is the sea salt?]}}
"""


@dataclass(frozen=True)
class Outcome:
    """One run: pytest's result, and our report of it."""

    result: pytest.RunResult
    report: RunReport

    @property
    def red(self) -> set[str]:
        """Codes that are critical or regressions, in control and cases."""
        findings = [finding for case in self.report.cases for finding in case.verdict.findings]
        findings += self.report.control.findings if self.report.control else ()
        return {finding.code for finding in findings if finding.severity in ("critical", "regression")}


GateRun = Callable[..., Outcome]


@pytest.fixture
def gate(pytester: pytest.Pytester) -> GateRun:
    """Run pytest over a suite file (`suite=`) with options; the report is read back and must be there."""

    def run(*words: str, suite: str = SUITE) -> Outcome:
        (pytester.path / "probe.mtp.yaml").write_text(suite)
        result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "no:randomly", *words)
        report = Path(pytester.path / ".mtp" / "mtp-report.json")
        assert report.exists(), result.stdout.str() + result.stderr.str()
        return Outcome(result=result, report=RunReport.from_dict(json.loads(report.read_text())))

    return run
