"""The probes on real engines: what is sound passes, and the faults of docs/found.md are found. A start each, so that it stays short."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_mtp.core.run import RunReport

pytestmark = pytest.mark.engine

NOISE = "0.05"
"""Of mlx-lm's draft model, as in its own lane: most requests end on a token of the target's own, which is what poisons its cache."""

Gate = Callable[..., tuple[int, str, RunReport]]


def probed(gate: Gate, folder: Path, launch: str, *cases: str) -> tuple[int, dict[str, tuple[str, set[str]]]]:
    """Outcome, and the codes that are more than notes, by case; exit code first."""
    folder.joinpath("p.mtp.yaml").write_text(
        "schema_version: 1\nsuite: p\ndefaults: {severity: regression}\ncases:\n" + "".join(f"  - {case}\n" for case in cases)
    )
    code, text, report = gate(folder, "--mtp-launch", launch, "p.mtp.yaml")
    assert "INTERNALERROR" not in text
    return code, {
        case.node_id.rpartition("::")[2]: (case.verdict.outcome, {f.code for f in case.verdict.findings if f.severity != "note"})
        for case in report.cases
    }


def test_llamacpp_under_mtp_is_sound_but_for_its_logprobs(gate: Gate, tmp_path: Path) -> None:
    """logprobs_hollow is of severity `model`: the case fails, and the gate stays open."""
    code, found = probed(
        gate,
        tmp_path,
        "demo",
        "{id: logprobs, check: logprobs, with: {max_tokens: 8}}",
        "{id: choices, check: choices, with: {max_tokens: 4}}",
        "{id: budgets, check: budgets, with: {rungs: [1, 2, 5]}}",
        "{id: cut, check: cut_calls, with: {max_tokens: 64}}",
        "{id: parity, check: stream_parity, with: {max_tokens: 8}}",
        "{id: stops, check: stops, with: {max_tokens: 30}}",
        "{id: agent, check: agent_loop, with: {turns: 2, max_tokens: 32}}",
    )
    assert code == 0
    assert found.pop("logprobs") == ("FAIL", {"PROTO.logprobs_hollow"})
    assert found == dict.fromkeys(("choices", "budgets", "cut", "parity", "stops", "agent"), ("PASS", set()))


@pytest.mark.parametrize("drafter", [False, True], ids=["plain", "with-a-draft-model"])
def test_mlx_lm_goes_on_behind_a_stop_and_poisons_its_cache(
    gate: Gate, tmp_path: Path, lane: Callable[[str], Path], checkpoint: Callable[..., Path], drafter: bool
) -> None:
    """Without a draft model the cache is sound and the greedy answers are steady, so that stops can be looked at. With one neither."""
    pair = checkpoint("tiny_llama_pair", NOISE)
    launch = f"mlx-lm?model={pair / 'target'}&python={lane('mlx-lm')}" + (f"&drafter={pair / 'draft'}" if drafter else "")
    code, found = probed(
        gate,
        tmp_path,
        launch,
        "{id: stops, check: stops, with: {max_tokens: 24}}",
        "{id: cache, check: prefix_cache, with: {words: 40, prefixes: 4, max_tokens: 8}}",
        "{id: budgets, check: budgets, with: {rungs: [1, 3]}}",
    )
    assert code == 1
    assert found["budgets"] == ("PASS", set())
    if drafter:
        assert found["cache"] == ("FAIL", {"CTRL.cache"})
    else:
        assert found["stops"] == ("FAIL", {"PROTO.stop"})
        assert found["cache"] == ("PASS", set())
