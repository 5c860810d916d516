"""A suite from its text, in a folder of its own."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_mtp.core.case import Case, Suite
from pytest_mtp.suites.load import load_suite

HEAD = "schema_version: 1\nsuite: small\n"


@pytest.fixture
def load(tmp_path: Path) -> Callable[[str], Suite]:
    """Loads `suites/small.mtp.yaml` with this text after its head."""

    def loader(text: str) -> Suite:
        path = tmp_path / "suites" / "small.mtp.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(HEAD + textwrap.dedent(text), encoding="utf-8")
        return load_suite(path, shown="suites/small.mtp.yaml")

    return loader


@pytest.fixture
def case(load: Callable[[str], Suite]) -> Callable[[str], Case]:
    """The first case of such a suite."""
    return lambda text: load(text).cases[0]
