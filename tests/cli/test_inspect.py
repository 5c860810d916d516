"""`pytest-mtp inspect`, as typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_mtp.checkpoint.inspection import Inspection
from pytest_mtp.cli.main import main
from tests.cli.conftest import BLOCK, TRUNK, save


@pytest.fixture
def broken(tmp_path: Path) -> str:
    return str(save(tmp_path / "broken", TRUNK, num_nextn_predict_layers=1))


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["inspect", *words])
    out, err = capsys.readouterr()
    return code, out, err


def test_present(holding: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, holding)
    assert code == 0
    assert out.startswith(f"{holding}: PRESENT\n  MTP head, 1 layer at model.layers.1, ")
    assert '--speculative-config \'{"method": "mtp", "num_speculative_tokens": 1}\'' in out
    assert "looked for" not in out


def test_absent_lists_what_was_looked_for(plain: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, plain)
    assert (code, out.splitlines()[0]) == (0, f"{plain}: ABSENT")
    assert "     0  layers.{1+i}.* (GGUF: blk.{1+i}.*)" in out
    assert "     0  enorm + hnorm + eh_proj" in out
    assert "     -  mtp_num_hidden_layers" in out


def test_contradiction_exits_with_1(broken: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, broken)
    assert code == 1
    assert "WRONG      [config] the config promises 1 MTP layer" in out


def test_the_list_can_be_asked_for(holding: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, holding, "--list")
    assert "     5  layers.{1+i}.* (GGUF: blk.{1+i}.*)" in out


def test_json_is_one_document_that_reads_back(holding: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, holding, "--json", "--deep", "--bandwidth", "273", "--acceptance", "1.8")
    document = json.loads(out)
    assert Inspection.from_dict(document).verdict == document["verdict"] == "contradiction", "its weights are all zero"
    assert (code, document["ceiling"]["depth"], document["schema_version"]) == (1, 1, 1)


@pytest.mark.parametrize(("expected", "code"), [("present", 0), ("absent", 1)])
def test_an_expectation_decides_the_exit_code(holding: str, expected: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, holding, "--expect", expected)[0] == code


def test_a_pair_that_does_not_fit_exits_with_1(tmp_path: Path, plain: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = {"fc.weight": (8, 16), "pre_fc_norm_embedding.weight": (8,), "pre_fc_norm_hidden.weight": (8,)}
    drafter = save(
        tmp_path / "drafter", words | {f"layers.0.{name}": shape for name, shape in BLOCK.items()}, model_type="qwen3_5_mtp", hidden_size=8
    )
    code, out, _ = run(capsys, str(drafter), "--target", plain)
    assert code == 1
    assert f"pairing    DOES NOT FIT {plain}" in out
    assert "differs  hidden size: 8 against 4" in out


def test_the_ceiling(plain: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, plain, "--bandwidth", "0.001")
    assert "ceiling    7812.5 tok/s at 0.001 GB/s over 128 bytes a token" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere"], "nowhere: does not exist"),
        (["x", "--bandwidth", "0"], "--bandwidth 0 is not between"),
        (["x", "--bandwidth", "nan"], "--bandwidth nan is not between"),
        (["x", "--acceptance", "2"], "give --bandwidth too"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_names_from_files_cannot_drive_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = save(tmp_path / "m", TRUNK | {"model.layers.1.enorm.\x1b[2J\x07.weight": (4,)}, model_type="evil\x1b]0;title")
    _, out, _ = run(capsys, str(folder), "--list")
    assert "\x1b" not in out
    assert "\\x1b" in out
