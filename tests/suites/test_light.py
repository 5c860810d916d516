"""Who does not load a suite does not pay for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).with_name("good") / "arithmetic.yaml"


def modules_after(code: str) -> set[str]:
    shown = subprocess.run([sys.executable, "-c", f"{code}; import sys; print(*sys.modules)"], check=True, capture_output=True, text=True)
    return set(shown.stdout.split())


@pytest.mark.parametrize("module", ["pytest_mtp.suites", "pytest_mtp.suites.shipped"])
def test_names_of_suites_cost_neither_yaml_nor_jsonschema(module: str) -> None:
    assert modules_after(f"import {module}").isdisjoint({"yaml", "jsonschema", "json"})


def test_a_sound_suite_with_plain_tools_is_loaded_without_jsonschema() -> None:
    loaded = modules_after(f"from pathlib import Path; from pytest_mtp.suites.load import load_suite; load_suite(Path({str(EXAMPLE)!r}))")
    assert "yaml" in loaded
    assert "jsonschema" not in loaded
