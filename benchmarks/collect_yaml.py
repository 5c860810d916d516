"""Seconds and memory of collecting 10,000 YAML cases with pytest, beside 10,000 plain test functions.

    python benchmarks/collect_yaml.py [CASES]

Goals for 10,000: at most 3 s and 200 MB.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HEAD = "schema_version: 1\nsuite: many\ncases:\n"


def measure(folder: str, *words: str) -> tuple[float, float]:
    """Seconds, and the peak resident set in MB, of one whole process."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--collect-only", *words]
    child = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0, f"{words}: {status}"
    return time.perf_counter() - started, usage.ru_maxrss / 1024


def main() -> None:
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as folder:
        rows = [f"  - {{id: c{i}, ask: 'What is {i} + {i}? End with Answer: N.', expect: {{number: {2 * i}}}}}\n" for i in range(cases)]
        (Path(folder) / "many.mtp.yaml").write_text(HEAD + "".join(rows))
        (Path(folder) / "test_many.py").write_text("".join(f"def test_{i}():\n    pass\n\n" for i in range(cases)))
        (Path(folder) / "test_one.py").write_text("def test_one():\n    pass\n")
        for name, words in (
            ("an empty run", "test_one.py"),
            (f"{cases} plain functions", "test_many.py"),
            (f"{cases} YAML cases", "many.mtp.yaml"),
        ):
            seconds, megabytes = measure(folder, words)
            print(f"{name:24} {seconds:6.2f} s {megabytes:7.0f} MB")


if __name__ == "__main__":
    main()
