"""Under which conditions real drafters draft."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from pytest_mtp.client.evidence import read_exchanges
from pytest_mtp.core.run import RunReport
from pytest_mtp.core.verdict import Measure, Verdict

pytestmark = pytest.mark.engine

Gate = Callable[..., tuple[int, str, RunReport]]
CONDITIONS = ("greedy", "sampled_low", "sampled", "tools", "structured", "long")


def drafting(gate: Gate, folder: Path, words: str, *, more: str = "") -> tuple[int, str, Verdict]:
    """One run of the check alone."""
    case = f"  - {{id: drafting, check: drafting, severity: regression, with: {{max_tokens: 40, {more}}}}}\n"
    folder.joinpath("p.mtp.yaml").write_text(f"schema_version: 1\nsuite: p\ncases:\n{case}")
    code, text, report = gate(folder, "--mtp-launch", words, "p.mtp.yaml")
    assert len(report.cases) == 1, text
    return code, text, report.cases[0].verdict


def figures(verdict: Verdict) -> Mapping[str, Measure]:
    return {measure.stratum: measure for measure in verdict.measures}


def test_llama_cpp_drafts_under_every_condition(tmp_path: Path, gate: Gate) -> None:
    code, text, verdict = drafting(gate, tmp_path, "demo", more="long_prompt_tokens: 500")
    assert (code, verdict.outcome, verdict.findings) == (0, "PASS", ()), text
    found = figures(verdict)
    assert tuple(found) == CONDITIONS
    assert all(measure.value is not None and 0.1 < measure.value < 0.9 for measure in found.values()), text
    longest = max(exchange.reply.usage.prompt_tokens or 0 for exchange in read_exchanges(tmp_path / ".mtp" / verdict.evidence)
                  if exchange.reply and exchange.reply.usage)  # fmt: skip
    assert 400 < longest < 700


def test_mlx_vlm_fails_for_structured_output_since_it_speculates(
    tmp_path: Path, gate: Gate, lane: Callable[[str], Path], checkpoint: Callable[..., Path]
) -> None:
    model = checkpoint("tiny_qwen35_mtp", "exact:0.02")
    code, text, verdict = drafting(gate, tmp_path, f"mlx-vlm?model={model}&python={lane('mlx-vlm')}", more="long_prompt_tokens: 200")
    assert (code, verdict.outcome) == (1, "FAIL"), text
    first, *rest = verdict.findings
    assert (first.code, first.severity, first.where) == ("SPEC.condition", "regression", "structured")
    assert "not supported with speculative decoding" in first.title
    found = figures(verdict)
    assert found["structured"].value is None
    assert all(found[name].value for name in ("greedy", "tools", "long")), text
    # The random model is so undecided that a sampled token is hardly ever the drafted one: a note, and no harm.
    assert {(finding.severity, finding.where) for finding in rest} <= {("note", "sampled")}
    assert found["sampled"].value is not None
    assert found["sampled"].value < 0.2
