"""Asks of cases to come are sent while earlier answers are judged, so that one process keeps a server busy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.exchange import Exchange
from pytest_mtp.plugin.pool import AHEAD, AskPool

PLAN_FACTOR = 2
"""Asks in flight or waiting to be judged, over the concurrency: enough to bridge the judging of one case, few enough that
`-x` and Ctrl-C waste little."""


class Ahead:
    """Keeps a window of asks in flight, in the order of the items."""

    def __init__(self, pool: AskPool, concurrency: int) -> None:
        """`concurrency` is the server's."""
        self._pool, self._window = pool, concurrency * PLAN_FACTOR
        self._plan: list[tuple[str, Callable[[], Sequence[Ask]]]] = []
        self._next = 0
        self._sent: dict[str, list[Future[Exchange]]] = {}
        self._taken: set[str] = set()

    def plan(self, items: Iterable[tuple[str, Callable[[], Sequence[Ask]]]]) -> None:
        """Append items (node id, its asks). Asks are made when they are sent, so a plan of 10,000 items is cheap."""
        self._plan += items

    def sent(self, node_id: str) -> bool:
        """Asks of this item are on their way, or answered."""
        return bool(self._sent.get(node_id))

    def take(self, node_id: str) -> list[Future[Exchange]]:
        """What was sent ahead for this item, if anything; tops the window up for those behind it."""
        self._taken.add(node_id)
        futures = self._sent.pop(node_id, [])
        room = self._window - sum(map(len, self._sent.values()))
        while self._next < len(self._plan) and room > 0:
            name, asks_of = self._plan[self._next]
            self._next += 1
            if name == node_id and not futures:
                futures = [self._pool.submit(ask) for ask in asks_of()]
            if name in self._taken:
                continue
            self._sent[name] = [self._pool.submit(ask, AHEAD) for ask in asks_of()]
            room -= len(self._sent[name])
        return futures
