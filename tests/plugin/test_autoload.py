"""Every pytest run in an environment with the plugin pays for it, so it must cost next to nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

HEAVY = ["httpx", "httpcore", "jsonschema", "yaml", "rapidfuzz", "tenacity", "scipy", "numpy", "prometheus_client", "psutil", "referencing"]

PROBE = """
import json, sys
def test_nothing():
    mine = sorted(name for name in sys.modules if name.startswith("pytest_mtp"))
    heavy = sorted(name for name in {heavy!r} if name in sys.modules)
    open("seen.json", "w").write(json.dumps([mine, heavy]))
"""


def run(folder: Path, *words: str) -> list[list[str]]:
    (folder / "test_probe.py").write_text(PROBE.format(heavy=HEAVY))
    # pytest's own `pythonpath`, `conftest` and other plugins of this environment stay out of the count.
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", *words, "test_probe.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    seen: list[list[str]] = json.loads((folder / "seen.json").read_text())
    return seen


def test_a_run_without_a_server_imports_no_third_party_package(tmp_path: Path) -> None:
    mine, heavy = run(tmp_path)
    assert "pytest_mtp.plugin" in mine
    assert heavy == []


def test_such_a_run_imports_no_other_room_and_makes_no_file(tmp_path: Path) -> None:
    mine, _ = run(tmp_path)
    rooms = {name.split(".")[1] for name in mine if "." in name}
    assert rooms <= {"plugin", "core"}
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "__pycache__") == ["seen.json", "test_probe.py"]


def test_switched_off_by_its_entry_point_name(tmp_path: Path) -> None:
    mine, _ = run(tmp_path, "-p", "no:mtp")
    assert not any(name.startswith("pytest_mtp.plugin.") for name in mine)
