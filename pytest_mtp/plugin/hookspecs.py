"""Hooks for conftest.py files and other plugins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pytest_mtp.core.run import CaseResult


@pytest.hookspec
def pytest_mtp_graders() -> Mapping[str, Callable[..., Any]]:  # type: ignore[empty-body]  # a specification
    """Add kinds of `expect`: name to grader, a function of (View, Expect, GradeContext) that returns a Judgement."""


@pytest.hookspec
def pytest_mtp_checks() -> Mapping[str, Callable[..., Any]]:  # type: ignore[empty-body]  # a specification
    """Add kinds of `check`: name to function of (Case, CheckContext) that returns a Verdict."""


@pytest.hookspec
def pytest_mtp_redact(record: dict[str, Any]) -> None:
    """Edit an exchange in place before it is written as evidence, to hide private prompts or answers."""


@pytest.hookspec
def pytest_mtp_verdict(result: CaseResult, item: pytest.Item) -> None:
    """See the result of a case, in the process that ran it, before pytest reports it."""
