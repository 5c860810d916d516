"""A report in which every part holds something."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from pytest_mtp.core.case import Severity, Source
from pytest_mtp.core.facts import Acceptance, Capabilities, Control, Endpoint, ServerFacts, SpecDecode
from pytest_mtp.core.run import Blocking, CaseResult, Gate, RunInfo, RunReport
from pytest_mtp.core.verdict import Finding, Interval, Measure, Outcome, Verdict

COUNTS = Acceptance(drafted=200, accepted=104, rounds=100, per_position=(70, 34), source="timings")
SPECULATION = SpecDecode(state="active", method="mtp", depth=2, evidence=("drafts moved with our own requests",), acceptance=COUNTS)
FACTS = ServerFacts(
    endpoint=Endpoint(root="http://127.0.0.1:8000", api_root="http://127.0.0.1:8000/v1", model="smol", api_key_env="KEY"),
    engine="llamacpp",
    engine_version="b11549",
    model="smol",
    models=("smol",),
    concurrency=2,
    context_length=2048,
    capabilities=Capabilities(logprobs=True, tools=False),
    speculation=SPECULATION,
    evidence=("owned_by is llamacpp",),
    launched=True,
    pid=7,
    details={"slots": [{"id": 0}]},
)


def finding(
    code: str = "TOOL.args_empty", severity: Severity = "critical", title: str = "asked for a city, got {}", **more: Any
) -> Finding:
    return Finding(code=code, severity=severity, title=title, **more)


def result(
    case_id: str = "weather",
    outcome: Outcome = "FAIL",
    findings: Sequence[Finding] = (),
    *,
    suite: str = "tools",
    closes: bool | None = None,
    measures: Sequence[Measure] = (),
    **more: Any,
) -> CaseResult:
    return CaseResult(
        node_id=f"suites/{suite}.mtp.yaml::{case_id}",
        suite=suite,
        kind="golden",
        severity="model",
        source=Source(path=f"suites/{suite}.mtp.yaml", line=12),
        verdict=Verdict(case_id=case_id, outcome=outcome, findings=tuple(findings), measures=tuple(measures), **more),
        closes=outcome != "PASS" if closes is None else closes,
        duration_s=1.5,
        worker="gw0",
        tags=("fast",),
    )


def measure(name: str, value: float | None, unit: str, stratum: str, interval: Interval | None = None) -> Measure:
    return Measure(name=name, value=value, unit=unit, per="token", n=6, stratum=stratum, interval=interval, note="as counted")


RANGE = Interval(low=18.0, high=22.0, level=1.0, method="min-max")
CONFIDENCE = Interval(low=0.45, high=0.6, level=0.95, method="clustered")
MEASURES = (
    measure("user_e2e_tps", 20.06, "tokens/s", "code", RANGE),
    measure("acceptance_rate", 0.52, "1", "code", CONFIDENCE),
    measure("acceptance_rate", 0.31, "1", "prose"),
    measure("mean_acceptance_length", 2.04, "tokens", "code"),
    measure("acceptance_at_position_0", 0.7, "1", "code"),
    measure("ttft_ms", None, "ms", "prose"),
)
EMPTY_ARGS = finding(detail="asked\ncame", where="call 0", evidence={"arguments": "{}"})
CASES = (
    result(
        "weather",
        "FAIL",
        [finding("ANS.wrong", "model", "wrong"), EMPTY_ARGS],
        rate=(1, 3),
        reason="TOOL.args_empty: asked for a city, got {}",
        exchanges=3,
        evidence="evidence/weather.jsonl",
        reproduce=("curl http://x", "pytest 'suites/tools.mtp.yaml::weather'"),
    ),
    result(
        "apples",
        "FAIL",
        [finding("ANS.wrong", "model", "expected 32, got 31")],
        suite="arithmetic",
        closes=False,
        measures=[measure("rate", 0.5, "1", "")],
    ),
    result("plums", "INCONCLUSIVE", suite="arithmetic", reason="no sandbox", closes=False),
    result("pears", "PASS", [finding("PROTO.done", "note", "no [DONE]")], suite="arithmetic"),
    result("speed", "PASS", suite="performance", measures=MEASURES),
    result("parity", "INCONCLUSIVE", suite="performance", reason="too few steps", closes=True),
    result("down", "BLOCKED", [finding("INFRA.timeout", title="not done within 120 s")], suite="tools"),
)
CONTROL = Control(
    prompts=12,
    repeats=3,
    disagree_text=1,
    disagree_graded=0,
    disagree_tokens=1,
    upper=0.34,
    findings=(finding("CTRL.unstable", "note", "1 of 12 prompts"),),
    answers={"p": "4"},
    speculation=SPECULATION,
    step_checked=20,
    step_neartie=1,
)
REPORT = RunReport(
    run=RunInfo(
        version="0.1.0",
        started_at="2026-01-01T02:00:00Z",
        duration_s=61.2,
        complete=True,
        suites=("builtin:smoke",),
        options={"--mtp-gate": {"value": "alarm", "origin": "default"}},
        notes=("one note",),
    ),
    servers=(FACTS,),
    control=CONTROL,
    cases=CASES,
    comparison={"pairs": [1, 2]},
    gate=Gate(
        verdict="fail",
        policy="alarm",
        blocking=(
            Blocking(node_id=CASES[5].node_id, code="", title="too few steps"),
            Blocking(node_id=CASES[0].node_id, code="TOOL.args_empty", title="asked for a city, got {}"),
        ),
        reasons=("2 of 6 cases passed", "1 failed"),
        false_alarm_budget=0.01,
        smallest_regression_seen=0.05,
    ),
    instrument={"smear_ms": 0.2},
)
EMPTY = RunReport(
    run=RunInfo(version="0", started_at="", duration_s=0.0, complete=False),
    gate=Gate(verdict="blocked", policy="proof", reasons=("no case was run",)),
)


def with_words(words: str) -> RunReport:
    """The full report with a stranger's words in every place that a server or a file can fill."""
    bad = finding("ANS.wrong", "critical", words, detail=words, where=words, hint=words, evidence={"x": words})
    case = dataclasses.replace(
        result(
            words,
            "FAIL",
            [bad],
            suite=words,
            reason=words,
            evidence=words,
            reproduce=(words,),
            measures=[dataclasses.replace(MEASURES[0], stratum=words, note=words, unit=words, name=words)],
        ),
        node_id=words,
    )
    facts = dataclasses.replace(
        FACTS,
        engine=words,
        engine_version=words,
        model=words,
        speculation=dataclasses.replace(SPECULATION, method=words, evidence=(words,)),
    )
    return dataclasses.replace(
        REPORT,
        run=dataclasses.replace(REPORT.run, notes=(words,), version=words, started_at=words),
        servers=(facts,),
        control=dataclasses.replace(CONTROL, usable=False, reason=words, findings=(bad,)),
        cases=(
            case,
            dataclasses.replace(case, closes=False),
            dataclasses.replace(case, verdict=dataclasses.replace(case.verdict, outcome="INCONCLUSIVE")),
        ),
        gate=Gate(verdict="fail", policy="alarm", blocking=(Blocking(node_id=words, code=words, title=words),), reasons=(words,)),
    )


ATTACKS = {
    "ansi-colour": "\x1b[31mred\x1b[0m",
    "ansi-clear": "\x1b[2J\x1b[H",
    "ansi-title": "\x1b]0;pwned\x07",
    "ansi-link": "\x1b]8;;http://evil\x1b\\click\x1b]8;;\x1b\\",
    "c1-csi": "\x9b31m",
    "bell-and-backspace": "\x07a\x08\x08b\x7f",
    "carriage-return": "all good\rBROKEN",
    "newlines": "a\n\n# Gate open\n\n| a | b |\n|---|---|\r\nx",
    "nul": "a\0b",
    "bidi": "abc\u202edef\u2066ghi\u2069",
    "bidi-marks": "a\u200eb\u200fc\u061cd",
    "zero-width": "pass\u200bword\u2060\ufeff",
    "tags": "hi\U000e0041\U000e0042",
    "surrogate": "\ud83d lone",
    "separators": "a\u2028b\u2029c\x85d\x0bd\x0cd",
    "zalgo": "a" + "\u0301" * 500,
    "soft-hyphen": "pay\u00adpal",
    "private-use": "\ue000\U000f0000",
    "noncharacter": "\uffff\U0010ffff",
    "wide": "\u6f22\u5b57" * 400,
    "megabyte-line": "x" * 1_000_000,
    "megabyte-of-lines": "y\n" * 500_000,
    "backticks": "``` `code` ````js\nalert(1)\n````",
    "pipes": "a | b \\| c \\\\| d || e",
    "html": "<img src=x onerror=alert(1)><script>alert(1)</script><!-- --><details open>",
    "entities": "&lt;b&gt; &amp;#60; &#x3c;",
    "links": "[click](http://evil) ![i](http://evil/x.png) <http://evil> http://evil.example www.evil.example mailto:a@b.c",
    "mention": "@everyone #123 user/repo#1",
    "emphasis": "**bold** __x__ ~~gone~~ $x^2$ *a*",
    "workflow-command": "::error file=x::pwned\n::add-mask::y",
    "heading": "# Gate open",
    "list": "- item\n1. one",
    "rule": "---",
    "github-math": "$$\\unicode{x}$$",
}
