"""The table of kinds, the modules and the schema of suites name the same probes."""

from __future__ import annotations

import importlib
import json

import pytest

from pytest_mtp.checks.kinds import BUILT_IN, PROBES, check_for
from pytest_mtp.checks.probes.probe import Probe
from pytest_mtp.core.case import Case, Source
from pytest_mtp.suites.schema import FOLDER, SUITE

CATALOGUED = frozenset(
    [
        "stream-parity",
        "tool-args-valid",
        "tool-delta-protocol",
        "markup-leak",
        "finish-reason-oracle",
        "tool-choice-matrix",
        "greedy-ab",
        "repeat-determinism",
        "degeneration-detector",
        "concurrency-parity",
        "prefix-cache-replay",
        "long-context-ladder",
        "acceptance-floor",
        "acceptance-trend",
        "speculation-active",
        "throughput-ab",
        "metrics-invariants",
        "logprob-sanity",
        "stop-matrix",
        "token-budget-ladder",
        "usage-invariants",
        "sampling-effect",
        "schema-conformance",
        "unicode-roundtrip",
        "sse-framing",
        "stream-timing",
        "disconnect-recovery",
        "overload-probe",
        "overflow-probe",
        "soak-liveness",
        "template-fingerprint",
        "n-choices",
        "non-empty-answer",
        "error-mapping",
        "coarse-delta-tool-matrix",
        "multi-turn-tool-loop",
        "proxy-field-passthrough",
        "reasoning-boundary",
        "golden-answers",
        "baseline-diff",
        "ab-hygiene",
        "sampled-distribution",
        "natural-stop",
    ]
)


@pytest.mark.parametrize("name", PROBES)
def test_a_probe_says_what_it_is(name: str) -> None:
    probe = importlib.import_module(f"pytest_mtp.checks.probes.{name}").PROBE
    assert isinstance(probe, Probe)
    assert (probe.name, probe.alone) == (name, PROBES[name])
    assert probe.about
    assert probe.sees
    assert set(probe.sees) <= CATALOGUED
    plain = Case(id="c", suite="s", source=Source(path="s", line=1), check=name)
    assert probe.requests(plain) > 0
    assert probe.tokens(plain) >= 0
    assert check_for(name) == probe.run


def test_the_schema_lists_every_kind_of_check() -> None:
    schema = json.loads((FOLDER / SUITE).read_text(encoding="utf-8"))
    listed = schema["definitions"]["case"]["properties"]["check"]["anyOf"][0]["enum"]
    assert sorted(listed) == sorted(set(BUILT_IN) - {"golden", "tools"})
