"""All of BFCL v4 single-turn, whose data comes with the package that `make test-engines` downloads."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
BENCHMARKS = ROOT / "benchmarks"
pytestmark = pytest.mark.engine


def wheel() -> Path:
    """The package or its wheel: PYTEST_MTP_BFCL, an installed bfcl-eval, or `wheels/` in the environment's folder."""
    named = os.environ.get("PYTEST_MTP_BFCL")
    places = [Path(named)] if named else sorted(Path(sys.prefix, "wheels").glob("bfcl_eval-*.whl"))
    found = importlib.util.find_spec("bfcl_eval")
    if found and found.origin:
        places.append(Path(found.origin).parent)
    for place in places:
        if place.exists():
            return place
    pytest.fail(f"no BFCL data: pip download --no-deps --dest {Path(sys.prefix, 'wheels')} bfcl-eval==2026.3.23, or set PYTEST_MTP_BFCL")


@pytest.fixture(scope="module")
def outcome() -> Any:
    sys.path.insert(0, str(BENCHMARKS))
    try:
        return importlib.import_module("tools_judge").run(wheel())
    finally:
        sys.path.remove(str(BENCHMARKS))


def test_every_listed_gold_passes_and_every_wrong_change_fails(outcome: Any) -> None:
    assert outcome.wrong == []
    assert sum(outcome.counts.values()) > 30_000


def test_the_golds_that_contradict_their_schema_are_the_listed_ones(outcome: Any) -> None:
    lines = (BENCHMARKS / "tools_judge_contradictions.txt").read_text(encoding="utf-8").splitlines()[1:]
    listed = {tuple(line.split("\t")[:2]) for line in lines}
    assert {(id_, str(index)) for id_, index, _ in outcome.contradictions} == listed


@pytest.mark.parametrize("kind", ["sign flipped", "inner punctuation lost", "call dropped", "call doubled", "extra brace"])
def test_each_kind_of_change_occurs(outcome: Any, kind: str) -> None:
    assert outcome.counts["wrong right", kind] > 100
