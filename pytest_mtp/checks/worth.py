"""What a case is worth: how many known faults its check would see."""

from __future__ import annotations

import importlib
from collections.abc import Mapping

from pytest_mtp.checks.kinds import PROBES
from pytest_mtp.core.case import Case

FAULTS: Mapping[str, int] = {
    "stream-parity": 28,
    "acceptance-floor": 21,
    "throughput-ab": 20,
    "tool-args-valid": 18,
    "prefix-cache-replay": 15,
    "tool-choice-matrix": 14,
    "schema-conformance": 14,
    "markup-leak": 13,
    "greedy-ab": 13,
    "coarse-delta-tool-matrix": 11,
    "error-mapping": 11,
    "finish-reason-oracle": 11,
    "degeneration-detector": 10,
    "concurrency-parity": 10,
    "sampling-effect": 10,
    "multi-turn-tool-loop": 9,
    "reasoning-boundary": 9,
    "long-context-ladder": 9,
    "baseline-diff": 9,
    "speculation-active": 9,
    "soak-liveness": 8,
    "stop-matrix": 8,
    "tool-delta-protocol": 7,
    "stream-timing": 7,
    "non-empty-answer": 7,
    "sse-framing": 7,
    "token-budget-ladder": 6,
    "acceptance-trend": 5,
    "metrics-invariants": 5,
    "usage-invariants": 5,
    "logprob-sanity": 5,
    "disconnect-recovery": 4,
    "overload-probe": 3,
    "golden-answers": 3,
    "template-fingerprint": 3,
    "overflow-probe": 3,
    "proxy-field-passthrough": 2,
    "repeat-determinism": 2,
    "ab-hygiene": 2,
    "natural-stop": 2,
    "unicode-roundtrip": 2,
    "sampled-distribution": 1,
    "n-choices": 1,
}
"""By check: the reports among 202 public ones (bug trackers of inference servers) whose fault that check would have shown.

A report that several checks would have shown counts for each of them.
"""

_ANSWER = ("golden-answers", "degeneration-detector", "non-empty-answer", "finish-reason-oracle")
_CALL = ("golden-answers", "tool-args-valid", "markup-leak", "finish-reason-oracle")
_MEASURED: Mapping[str, tuple[str, ...]] = {
    "acceptance": ("acceptance-floor", "speculation-active", "metrics-invariants"),
    "drafting": ("acceptance-floor", "speculation-active", "greedy-ab", "sampled-distribution"),
    "throughput": ("throughput-ab",),
    "admission": ("overload-probe",),
    "identity": ("baseline-diff",),
}


def seen_by(case: Case) -> tuple[str, ...]:
    """The checks of the catalogue that a case carries out, each once; none is known of a check of somebody's plugin."""
    if case.kind in PROBES:
        sees: tuple[str, ...] = importlib.import_module(f"pytest_mtp.checks.probes.{case.kind}").PROBE.sees
        return sees
    if case.kind in _MEASURED:
        return _MEASURED[case.kind]
    if case.kind not in ("golden", "tools"):
        return ()
    found = list(_CALL if case.kind == "tools" else _ANSWER)
    if "stream" in case.modes:
        found.append("tool-delta-protocol" if case.kind == "tools" else "sse-framing")
    if case.ask is not None and case.ask.response_format is not None:
        found.append("schema-conformance")
    return tuple(found)
