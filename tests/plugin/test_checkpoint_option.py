"""`--mtp-checkpoint`: the files are read before a server is started, and held against it afterwards."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from tests.plugin.conftest import GateRun

SUITE = "schema_version: 1\nsuite: x\ncases:\n  - {id: a, ask: \"What is 1 + 1? End with 'Answer: N'.\", expect: {number: 2}}\n"


def plain_model(folder: Path) -> Path:
    """A tiny Llama without a head, in the real format."""
    header = json.dumps(
        {
            "model.embed_tokens.weight": {"dtype": "F32", "shape": [8, 4], "data_offsets": [0, 128]},
            "model.layers.0.mlp.down_proj.weight": {"dtype": "F32", "shape": [4, 4], "data_offsets": [128, 192]},
        }
    ).encode()
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + bytes(192))
    config = {"model_type": "llama", "hidden_size": 4, "num_hidden_layers": 1, "vocab_size": 8}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def test_speculation_by_mtp_and_no_head_on_disk_closes_the_gate(gate: GateRun, pytester: pytest.Pytester) -> None:
    plain_model(pytester.path / "model")
    outcome = gate("--mtp-launch", "fake", "--mtp-checkpoint", "model", suite=SUITE)
    assert outcome.red == {"ID.checkpoint"}
    assert outcome.report.gate.verdict == "fail"
    assert [blocking.node_id for blocking in outcome.report.gate.blocking] == ["checkpoint"]
    assert outcome.result.ret == pytest.ExitCode.TESTS_FAILED


def test_no_head_and_no_speculation_fit_together(gate: GateRun, pytester: pytest.Pytester) -> None:
    plain_model(pytester.path / "model")
    outcome = gate("--mtp-launch", "fake?speculation=off", "--mtp-checkpoint", "model", suite=SUITE)
    assert outcome.report.gate.verdict == "pass"
    (case,) = [case for case in outcome.report.cases if case.node_id == "checkpoint"]
    assert case.verdict.measures[0].value == 0


def test_a_wrong_path_is_said_before_anything_is_started(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_inprocess("--mtp-server", "http://127.0.0.1:1", "--mtp-checkpoint", "nowhere")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--mtp-checkpoint: *nowhere*"])


SPEED = """\
schema_version: 1
suite: x
cases:
  - id: speed
    check: throughput
    with: {bandwidth_gb_s: 273, rounds: 1, warmup: 0, max_tokens: 8, prompts: {prose: [Tell a story.]}}
"""


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one process", "xdist"])
def test_the_throughput_check_knows_the_ceiling(gate: GateRun, pytester: pytest.Pytester, workers: tuple[str, ...]) -> None:
    plain_model(pytester.path / "model")
    outcome = gate("--mtp-launch", "fake?speculation=off", "--mtp-checkpoint", "model", *workers, suite=SPEED)
    (case,) = [case for case in outcome.report.cases if case.kind == "throughput"]
    found = {measure.name: measure.value for measure in case.verdict.measures}
    assert found["decode_ceiling_tps"] == pytest.approx(273e9 / 192)
    assert found["of_ceiling"] is not None
