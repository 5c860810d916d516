"""The check of each kind of case, imported at first use."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import cast

from pytest_mtp.core.case import Case
from pytest_mtp.core.errors import UsageError, nearest
from pytest_mtp.core.protocols import CheckContext
from pytest_mtp.core.verdict import Verdict

Check = Callable[[Case, CheckContext], Verdict]

PROBES: Mapping[str, bool] = {
    "agent_loop": True,
    "budgets": False,
    "canaries": False,
    "choices": False,
    "coarse_calls": True,
    "context_ladder": True,
    "cut_calls": True,
    "disconnect": True,
    "errors": True,
    "load_poison": True,
    "logprobs": False,
    "natural_stop": False,
    "overload": True,
    "prefix_cache": True,
    "prompt_tokens": False,
    "reasoning": False,
    "sampling": True,
    "soak": True,
    "stops": True,
    "stream_parity": True,
    "stream_timing": True,
    "structured": False,
    "tool_choice": False,
}
"""The probes, each a module of checks/probes, and whether it needs the server for itself."""

BUILT_IN = ("golden", "tools", "acceptance", "drafting", "throughput", "identity", "admission", *PROBES)
EXCLUSIVE = frozenset({"acceptance", "drafting", "throughput", "admission", *(name for name, alone in PROBES.items() if alone)})

_registered: dict[str, Check] = {}


def register(kind: str, check: Check) -> None:
    """Add a check of a user's own; a built-in kind cannot be replaced."""
    if kind in BUILT_IN:
        raise UsageError(f"check {kind!r} is built in and cannot be replaced")
    _registered[kind] = check


def forget(kind: str) -> None:
    """Undo a `register`."""
    _registered.pop(kind, None)


def check_for(kind: str) -> Check:
    """The function that runs a case of this kind."""
    if kind in PROBES:
        return cast("Check", importlib.import_module(f"pytest_mtp.checks.probes.{kind}").PROBE.run)
    if kind in BUILT_IN:
        return cast("Check", importlib.import_module(f"pytest_mtp.checks.{kind}").run)
    try:
        return _registered[kind]
    except KeyError:
        known = (*BUILT_IN, *_registered)
        raise UsageError(f"no check of kind {kind!r}{nearest(kind, known)}") from None
