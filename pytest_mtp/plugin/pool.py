"""A bounded pool of daemon threads that sends asks.

Not concurrent.futures: its threads are joined at exit, so Ctrl-C would wait for a hanging request.
"""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.exchange import Exchange

NOW, AHEAD = 0, 1
"""Priorities: an ask that an item waits for goes before those sent ahead."""


class AskPool:
    """`send` runs in one of `size` threads; `close` drops what has not been started."""

    def __init__(self, size: int, send: Callable[[Ask], Exchange]) -> None:
        """Threads start at the first ask."""
        self._size, self._send = size, send
        self._queue: queue.PriorityQueue[tuple[int, int, Ask | None, Future[Exchange]]] = queue.PriorityQueue()
        self._order = itertools.count()
        self._threads: list[threading.Thread] = []
        self._closed = threading.Event()

    def submit(self, ask: Ask, priority: int = NOW) -> Future[Exchange]:
        """The exchange to come."""
        future: Future[Exchange] = Future()
        self._queue.put((priority, next(self._order), ask, future))
        if len(self._threads) < self._size:
            thread = threading.Thread(target=self._work, name=f"mtp-ask-{len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()
        return future

    def close(self) -> None:
        """No new request starts; those in flight are left to end with their connections."""
        self._closed.set()
        for _ in self._threads:
            self._queue.put((NOW, next(self._order), None, Future()))

    def _work(self) -> None:
        while True:
            _, _, ask, future = self._queue.get()
            if ask is None:
                return
            if self._closed.is_set() or not future.set_running_or_notify_cancel():
                future.cancel()
                continue
            try:
                future.set_result(self._send(ask))
            except BaseException as error:  # noqa: BLE001  # the waiting item raises it, a bug of ours must not hang the run
                future.set_exception(error)
