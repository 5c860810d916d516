"""Where a fault stands when it looks at a reply."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_mtp.selftest.request import ChatRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """`turn` counts how often this conversation was asked before; `budget` is the most tokens that may come."""

    request: ChatRequest
    turn: int
    budget: int
