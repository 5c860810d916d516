"""For every test of this repository.

No `pytest_plugins` here: the shipped suites lie beside this file, and pytest takes that word from the top-level conftest of a
run alone, which this is not when a suite runs from another folder.
"""

from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True)
def _outer_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of the gate inside a test do not see the settings, nor the job page, of the run around them."""
    for name in [name for name in os.environ if name.startswith("PYTEST_MTP_") and name != "PYTEST_MTP_CACHE"]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
