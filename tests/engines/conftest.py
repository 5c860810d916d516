"""The environments of real servers, each made at first use by `lanes/environment.py`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

LANES = Path(__file__).parents[2] / "lanes"


@pytest.fixture(scope="session")
def lane() -> Callable[[str], Path]:
    """`lane("vllm")` is the interpreter of that lane's environment."""

    def python(name: str) -> Path:
        done = subprocess.run([sys.executable, str(LANES / "environment.py"), name], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return Path(done.stdout.strip())

    return python
