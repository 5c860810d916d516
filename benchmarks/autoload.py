"""What the plugin costs a pytest run that has nothing to do with it.

    python benchmarks/autoload.py [RUNS]

Goal: at most 10 ms. The import is timed inside a fresh interpreter that has already imported pytest, and the registration of
options, hooks and fixtures by two whole in-process sessions with and without the plugin, in turn.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

IMPORT = "import time, pytest, _pytest.config; t = time.perf_counter(); import pytest_mtp.plugin; print('SECONDS', time.perf_counter() - t)"
SESSION = """
import sys, time, pytest
pytest.main(["-q", "-p", "no:cacheprovider", *sys.argv[1:], "test_nothing.py"])  # warm: everything is imported
for _ in range(5):
    t = time.perf_counter()
    pytest.main(["-q", "-p", "no:cacheprovider", *sys.argv[1:], "test_nothing.py"])
    print("SECONDS", time.perf_counter() - t)
"""


def seconds(code: str, folder: str, *words: str) -> float:
    done = subprocess.run([sys.executable, "-c", code, *words], cwd=folder, check=True, capture_output=True, text=True)
    found = [float(line.split()[-1]) for line in done.stdout.splitlines() if line.startswith("SECONDS")]
    return statistics.median(found)


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 11
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "test_nothing.py").write_text("def test_nothing():\n    assert True\n")
        seconds(IMPORT, folder)
        imports = sorted(seconds(IMPORT, folder) * 1e3 for _ in range(runs))
        pairs = [(seconds(SESSION, folder) * 1e3, seconds(SESSION, folder, "-p", "no:mtp") * 1e3) for _ in range(runs)]
    extra = sorted(a - b for a, b in pairs)
    print(f"import of the plugin     {statistics.median(imports):7.2f} ms, from {imports[0]:.2f} to {imports[-1]:.2f}")
    print(f"session with the plugin  {statistics.median(a for a, _ in pairs):7.2f} ms")
    print(f"session without it       {statistics.median(b for _, b in pairs):7.2f} ms")
    print(f"difference, paired       {statistics.median(extra):7.2f} ms, from {extra[0]:.2f} to {extra[-1]:.2f}")
    print(f"sum                      {statistics.median(imports) + statistics.median(extra):7.2f} ms; goal <= 10 ms")


if __name__ == "__main__":
    main()
