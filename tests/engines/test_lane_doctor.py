"""`pytest-mtp doctor` on the demo: a real llama.cpp with real drafts, and with them switched off."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pytest_mtp.cli.main import main
from pytest_mtp.core.run import RunReport
from pytest_mtp.servers.demo.assemble import assemble
from pytest_mtp.servers.launch import launch

pytestmark = pytest.mark.engine

FLAG = "--spec-type draft-mtp --spec-draft-n-max 1"


@contextmanager
def demo(folder: Path, *, speculation: bool) -> Iterator[str]:
    server = launch("demo", run_dir=folder, params={"speculation": speculation}, timeout_s=180)
    try:
        yield server.facts.endpoint.root
    finally:
        server.stop()


def visit(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    return main(["doctor", *words]), capsys.readouterr().out


def test_speculation_that_is_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with demo(tmp_path, speculation=True) as url:
        code, out = visit(capsys, url, "--checkpoint", str(assemble()), "--json")
    report = RunReport.from_dict(json.loads(out))
    facts, spec = report.servers[0], report.servers[0].speculation
    assert (code, report.gate.verdict, facts.engine, spec.state, spec.method) == (0, "pass", "llamacpp", "active", "draft-mtp")
    assert report.gate.reasons[0].startswith("Speculation is on (draft-mtp")
    assert facts.process is not None
    assert facts.process.model_path == str(assemble())
    assert spec.acceptance is not None
    assert 0 < (spec.acceptance.rate or 0) < 1
    assert len(spec.acceptance.per_position) == 3


def test_speculation_that_is_off_though_the_head_is_on_disk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with demo(tmp_path, speculation=False) as url:
        code, out = visit(capsys, url, "--checkpoint", str(assemble()), "--quick")
    assert code == 0
    assert out.startswith(f"The head is on disk and unused: set {FLAG}\n")
    assert "speculation  INACTIVE, nothing drafted" in out
    assert FLAG in (Path(__file__).parents[2] / "docs" / "doctor.md").read_text(), "the page shows this very sentence"
