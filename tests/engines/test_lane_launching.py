"""Every built-in profile that starts here, started and stopped in a row and killed: no orphan, no port clash, no lost log.

Twenty cycles of llama.cpp, ten of mlx, three of transformers and two of vLLM, whose start takes 40 s on an idle machine.
`LAUNCHING_CYCLES=20` in the environment is for all, and `benchmarks/launching.py` does the same and prints a table.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.engine

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "launching.py"
CYCLES = {"demo": 20, "llamacpp": 20, "mlx-lm": 10, "mlx-vlm": 10, "transformers": 3, "vllm": 2}


@pytest.mark.parametrize("profile", CYCLES)
def test_starts_and_stops_in_a_row_and_kills(profile: str) -> None:
    cycles = os.environ.get("LAUNCHING_CYCLES") or str(CYCLES[profile])
    kills = "1" if profile == "vllm" else "3"
    words = [sys.executable, str(BENCHMARK), profile, "--cycles", cycles, "--kills", kills, "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (tally,) = json.loads(done.stdout)
    assert (tally["starts"], tally["failed"], tally["kills"]) == (int(cycles), [], int(kills))
    assert (tally["orphans"], tally["clashes"], tally["logs_lost"]) == (0, 0, 0)
