"""Checkpoints with real layouts, made by the scripts of the lanes, under `pytest-mtp inspect`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_mtp.cli.main import main

pytestmark = pytest.mark.engine

CHECKPOINTS = Path(__file__).parents[2] / "lanes" / "checkpoints"


def made(script: str, *words: str) -> None:
    done = subprocess.run([sys.executable, str(CHECKPOINTS / script), *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("script", "family"), [("tiny_qwen35_mtp.py", "qwen3_5"), ("tiny_glm4moe_mtp.py", "glm4_moe")])
@pytest.mark.parametrize("mode", ["exact", "random"])
def test_a_checkpoint_has_its_head_whatever_the_head_is_worth(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], script: str, family: str, mode: str
) -> None:
    made(script, str(tmp_path), mode)
    code = main(["inspect", str(tmp_path), "--expect", "present", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert code == 0
    assert told["verdict"] == "present"
    (head,) = told["heads"]
    assert (head["family"], head["layers"]) == (family, 1)
