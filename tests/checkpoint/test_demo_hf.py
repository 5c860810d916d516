"""The demo as a Hugging Face folder, made of the real files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_mtp.checkpoint.verdict import inspect_checkpoint
from pytest_mtp.cli.main import main
from pytest_mtp.servers.demo.hf import MTP_SHA256, PLAIN_SHA256, folder_sha256, hf_folder

pytestmark = pytest.mark.engine


def test_the_demo_folder_holds_one_layer() -> None:
    folder = hf_folder()
    assert folder_sha256(folder) == MTP_SHA256
    inspection = inspect_checkpoint(str(folder), deep=True)
    head = inspection.heads[0]
    assert (inspection.verdict, inspection.family, head.layers, head.where) == ("present", "mimo", 1, "model.mtp_layers")
    assert (head.parameters, head.storage) == (4_206_336, {"F32": 16_825_344})
    assert not [name for name in inspection.values.zero if not name.endswith("_proj.bias")]


def test_the_folder_without_its_head_holds_none() -> None:
    inspection = inspect_checkpoint(str(hf_folder(mtp=False)))
    assert (inspection.verdict, inspection.heads, inspection.weights.parameters) == ("absent", (), 134_515_008)


def test_a_damaged_folder_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_MTP_CACHE", str(tmp_path))
    folder = hf_folder(mtp=False)
    (folder / "config.json").write_text("{}")
    assert hf_folder(mtp=False) == folder
    assert folder_sha256(folder) == PLAIN_SHA256


def test_the_command_names_the_folder(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo-model", "--format", "hf", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["path"], told["sha256"]) == (str(hf_folder()), MTP_SHA256)
    assert told["bytes"] > 600_000_000


def test_there_is_no_gguf_without_a_head(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo-model", "--no-mtp"]) == 2
    assert "--no-mtp is for --format hf" in capsys.readouterr().err
