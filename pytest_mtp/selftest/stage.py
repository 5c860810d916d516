"""Requests in flight and those before them: what a fault may depend on besides its own request."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pytest_mtp.selftest.prefix import PrefixCache
from pytest_mtp.selftest.request import ChatRequest
from pytest_mtp.selftest.scene import Scene
from pytest_mtp.selftest.tokens import prompt_pieces


@dataclass(frozen=True, slots=True, eq=False)
class Visit:
    """One chat from its arrival to its end. Compared by identity."""

    request: ChatRequest
    number: int


class Stage:
    """Thread-safe."""

    def __init__(self) -> None:
        """Nobody was here."""
        self._turns: Counter[str] = Counter()
        self._visits = self._crowd = 0
        self._present: list[Visit] = []
        self._cache = PrefixCache()
        self._lock = threading.Lock()

    @contextmanager
    def visit(self, request: ChatRequest) -> Iterator[Visit]:
        """In flight for as long as it is held."""
        with self._lock:
            self._visits += 1
            visit = Visit(request, self._visits)
            self._present.append(visit)
            self._crowd = max(self._crowd, len(self._present))
        try:
            yield visit
        finally:
            with self._lock:
                self._present.remove(visit)

    def scene(self, visit: Visit, request: ChatRequest | None = None) -> Scene:
        """What it stands in now, without its budget; `request` is what the model sees of it.

        Each call counts as one more time that this conversation is asked, and warms its prefix.
        """
        return self._scene(visit, request or visit.request, count=True)

    def glance(self, visit: Visit) -> Scene:
        """The same, and nothing is counted."""
        return self._scene(visit, visit.request, count=False)

    def _scene(self, visit: Visit, request: ChatRequest, *, count: bool) -> Scene:
        pieces = prompt_pieces(request.messages, request.tools, request.prefix)
        asked = f"{request.key}/{request.prefix}"
        warm = self._cache.visit(pieces, keep=count)
        with self._lock:
            turn = self._turns[asked]
            self._turns[asked] += count
            others = [other for other in self._present if other is not visit]
        neighbour = next((other.request for other in others if other.request.key != request.key), None)
        return Scene(
            request=request, turn=turn, visit=visit.number, others=len(others), crowd=self._crowd, neighbour=neighbour,
            prompt_tokens=len(pieces), warm=warm,
        )  # fmt: skip
