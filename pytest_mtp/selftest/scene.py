"""Where a fault stands when it looks at a request and its reply."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_mtp.selftest.request import ChatRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """`turn` counts how often this conversation was asked before; `budget` is the most tokens that may come.

    `visit` is the number of this chat, 1 for the first; `others` are the chats in flight beside it, `neighbour` one of them,
    `crowd` the most that ever were;
    `warm` of the `prompt_tokens` were seen before, from the first on.
    """

    request: ChatRequest
    turn: int
    budget: int = 0
    visit: int = 1
    others: int = 0
    crowd: int = 1
    neighbour: ChatRequest | None = None
    prompt_tokens: int = 0
    warm: int = 0
