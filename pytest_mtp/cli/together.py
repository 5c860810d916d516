"""Many requests at once from daemon threads, so that Ctrl-C never waits for one that hangs."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

A = TypeVar("A")
B = TypeVar("B")


def together(send: Callable[[A], B], what: Sequence[A], *, width: int) -> list[B]:
    """`send` of each in order, at most `width` at a time. The first exception of any is raised, after all have ended."""
    waiting: queue.SimpleQueue[tuple[int, A]] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[int, B | BaseException]] = queue.SimpleQueue()
    for pair in enumerate(what):
        waiting.put(pair)

    def work() -> None:
        while True:
            try:
                at, item = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                done.put((at, send(item)))
            except BaseException as error:  # noqa: BLE001  # the caller raises it
                done.put((at, error))

    for number in range(min(width, len(what))):
        threading.Thread(target=work, name=f"mtp-doctor-{number}", daemon=True).start()
    found = dict(done.get() for _ in what)
    results: list[B] = []
    for at in range(len(what)):
        result = found[at]
        if isinstance(result, BaseException):
            raise result
        results.append(result)
    return results
