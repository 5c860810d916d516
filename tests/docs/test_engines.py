"""The page about engines names each of them, and says truly which ones were run."""

from __future__ import annotations

import re
from pathlib import Path

from pytest_mtp.profiles.load import load_profile
from pytest_mtp.servers.engines.registry import engine_names

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "engines.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| `([a-z-]+)` \|(.*)\|$", PAGE, flags=re.MULTILINE))


def test_every_engine_has_its_row():
    assert set(ROWS) == set(engine_names()) - {"fake", "generic"}


def test_a_row_says_whether_the_engine_was_run():
    recorded = ROOT / "tests" / "servers" / "recorded"
    told = {name: row.rpartition("|")[2].strip() for name, row in ROWS.items()}
    assert told == {name: "documents" if (recorded / name / "NOT_RUN.txt").exists() else "real servers" for name in ROWS}


def test_the_launch_it_shows_has_these_parameters():
    shown = re.findall(r"--mtp-launch '([a-z-]+)\?([^']*)'", PAGE)
    assert shown
    for name, parameters in shown:
        assert {part.partition("=")[0] for part in parameters.split("&")} <= load_profile(name).parameters.keys()
