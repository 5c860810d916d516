"""Everything that the plugin keeps on pytest's objects, under typed keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_mtp.core.run import CaseResult, LeftOut
    from pytest_mtp.plugin.run import Run
    from pytest_mtp.plugin.settings import Settings

SETTINGS: pytest.StashKey[Settings] = pytest.StashKey()
RUN: pytest.StashKey[Run] = pytest.StashKey()
LEFT_OUT: pytest.StashKey[LeftOut] = pytest.StashKey()
RESULT: pytest.StashKey[CaseResult] = pytest.StashKey()
WANTS_DEFAULT_SUITE: pytest.StashKey[bool] = pytest.StashKey()
