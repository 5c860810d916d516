"""The demo checkpoint and the model that it was made from, on disk and on a running server."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_mtp.checkpoint.against import against_server
from pytest_mtp.checkpoint.verdict import inspect_checkpoint
from pytest_mtp.servers.demo.assemble import assemble
from pytest_mtp.servers.demo.base import base_model
from pytest_mtp.servers.demo.hf import hf_folder
from pytest_mtp.servers.launch import launch

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def demo() -> Path:
    return assemble()


def test_the_demo_file_holds_one_layer(demo: Path) -> None:
    inspection = inspect_checkpoint(str(demo), deep=True)
    head = inspection.heads[0]
    assert (inspection.verdict, inspection.family, head.layers, head.where) == ("present", "mimo_v2", 1, "blk.30")
    assert (head.parameters, head.nbytes, head.storage) == (4_204_800, 4_474_368, {"Q8_0": 4_465_152, "F32": 9216})
    assert inspection.values.zero == inspection.values.constant == ()
    assert inspection.bytes_read < inspection.header_bytes + inspection.values.nbytes + (1 << 16)


def test_the_same_model_as_a_hugging_face_folder_holds_the_same_head() -> None:
    inspection = inspect_checkpoint(str(hf_folder()), deep=True)
    head = inspection.heads[0]
    assert (inspection.verdict, inspection.family, head.layers, head.where) == ("present", "mimo", 1, "model.mtp_layers")
    assert (head.parameters, head.depth, inspection.values.zero) == (4_206_336, 1, ()), "a last norm and three biases more than in GGUF"


def test_the_model_that_it_was_made_from_holds_none(demo: Path, tmp_path: Path) -> None:
    inspection = inspect_checkpoint(str(base_model(tmp_path)))
    assert (inspection.verdict, inspection.heads, inspection.weights.parameters) == ("absent", (), 134_515_008)
    assert all(not row.found for row in inspection.looked_for)


def test_a_server_with_its_speculation_off_is_told_the_flag(demo: Path, tmp_path: Path) -> None:
    inspection = inspect_checkpoint(str(demo))
    with_it = launch("demo", run_dir=tmp_path / "on", timeout_s=180)
    without = launch("demo", run_dir=tmp_path / "off", params={"speculation": False}, timeout_s=180)
    try:
        assert against_server(inspection, with_it.facts) == ()
        (finding,) = against_server(inspection, without.facts)
    finally:
        with_it.stop()
        without.stop()
    assert (finding.code, finding.hint) == ("SPEC.inactive", "Set --spec-type draft-mtp --spec-draft-n-max 1")
