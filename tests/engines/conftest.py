"""The environments of real servers, each made at first use by `lanes/environment.py`, and the gate as a user types it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_mtp.core.run import RunReport

LANES = Path(__file__).parents[2] / "lanes"


@pytest.fixture(scope="session")
def lane() -> Callable[[str], Path]:
    """`lane("vllm")` is the interpreter of that lane's environment."""

    def python(name: str) -> Path:
        done = subprocess.run([sys.executable, str(LANES / "environment.py"), name], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return Path(done.stdout.strip())

    return python


@pytest.fixture(scope="session")
def gate() -> Callable[..., tuple[int, str, RunReport]]:
    """`gate(folder, *words)` is one run of pytest: exit code, output, report."""

    def run(folder: Path, *words: str) -> tuple[int, str, RunReport]:
        folder.mkdir(exist_ok=True)
        environ = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "GITHUB_"))}
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words]
        done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False, timeout=600)
        written = folder / ".mtp" / "mtp-report.json"
        assert written.exists(), done.stdout + done.stderr
        return done.returncode, done.stdout + done.stderr, RunReport.from_dict(json.loads(written.read_text()))

    return run


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """`checkpoint("tiny_qwen35_mtp", "exact")` is the folder that this script of `lanes/checkpoints` wrote, once a session."""
    made: dict[tuple[str, ...], Path] = {}

    def written(script: str, *words: str) -> Path:
        if (script, *words) not in made:
            folder = tmp_path_factory.mktemp(script)
            command = [sys.executable, str(LANES / "checkpoints" / f"{script}.py"), str(folder), *words]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            made[script, *words] = folder
        return made[script, *words]

    return written
