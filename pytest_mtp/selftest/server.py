"""The fake engine as an HTTP server, in this process or as the main of one."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pytest_mtp.selftest.arming import arm
from pytest_mtp.selftest.book import AnswerBook, book_of, read_book, shipped_book
from pytest_mtp.selftest.dialects import dialect
from pytest_mtp.selftest.dice import roll
from pytest_mtp.selftest.engine import Engine
from pytest_mtp.selftest.fault import Armed, Trait
from pytest_mtp.selftest.fault_doors import ENTER, Door
from pytest_mtp.selftest.listener import Listener
from pytest_mtp.selftest.speculation import Counters
from pytest_mtp.selftest.stage import Visit

DEFAULT_ALIAS = "fake-model"
_SEEN = 512


class FakeServer:
    """A server of known replies and known faults. A context manager; `start` and `stop` do the same.

    Port 0 takes a free one. `answers` (a mapping of prompts and replies, entries, or a JSON file) is asked before the
    shipped answer book. `faults` and `dialects` are words as on the command line. `seen` holds the last bodies received.
    """

    def __init__(
        self,
        *,
        port: int = 0,
        alias: str = DEFAULT_ALIAS,
        faults: Iterable[str] = (),
        dialects: Iterable[str] = (),
        answers: Mapping[str, Any] | Iterable[Mapping[str, Any]] | Path | None = None,
        depth: int = 3,
        speculation: bool = True,
        concurrency: int = 8,
        max_concurrency: int | None = None,
        door: int | None = None,
        workers: int | None = None,
        context_length: int = 32_768,
        token_delay_ms: float = 0.0,
        api_key: str | None = None,
        seed: int = 0,
    ) -> None:
        """Raise UsageError for an unknown fault or dialect and for a broken answer book, OSError for a taken port.

        `concurrency` is told and limits nothing. `door` requests are let in as by a proxy, which answers 429 beyond them; the
        engine behind takes `max_concurrency` and answers 503 beyond them; `workers` of those are generated at once, the others
        wait. None is no limit.
        """
        own = AnswerBook() if answers is None else read_book(answers) if isinstance(answers, Path) else _book(answers)
        self.alias, self.speculation, self.concurrency, self.context_length = alias, speculation, concurrency, context_length
        self.api_key, self.seed = api_key, seed
        self.armed = arm(faults)
        self.dialect = dialect(dialects)
        self.depth = depth if speculation else 0
        self.step_s = token_delay_ms / 1000
        self.seats = threading.BoundedSemaphore(max_concurrency) if max_concurrency else None
        self.entrance = threading.BoundedSemaphore(door) if door else None
        self.workers = threading.BoundedSemaphore(workers) if workers else None
        self.counters = Counters(depth=self.depth)
        self.engine = Engine(
            alias=alias,
            book=own.joined(shipped_book()),
            dialect=self.dialect,
            faults=self.armed,
            depth=self.depth,
            context_length=context_length,
            seed=seed,
            counters=self.counters,
        )
        self.created = time.time()
        self.ended = threading.Event()
        self.died = False
        self.seen: deque[dict[str, Any]] = deque(maxlen=_SEEN)
        self._visits = 0
        self._lock, self._stopping = threading.Lock(), threading.Lock()
        self._listener = Listener(port, self)
        self._thread: threading.Thread | None = None

    @property
    def port(self) -> int:
        """Where it listens; connections wait from the constructor on."""
        return int(self._listener.server_address[1])

    @property
    def url(self) -> str:
        """The root, without `/v1`."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> Self:
        """Answer in threads of this process."""
        self._thread = threading.Thread(target=self._listener.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        """Close every connection; hanging requests end too. Twice is fine."""
        self.ended.set()
        with self._stopping:
            if self._thread is not None:
                self._listener.shutdown()
                self._thread.join()
                self._thread = None
            self._listener.close_all()

    def die(self) -> None:
        """End as a crash would, in mid-request. `died` tells the main of a process to exit with a status."""
        self.died = True
        self.ended.set()
        threading.Thread(target=self.stop, daemon=True).start()  # a request cannot wait for the end of its own server

    @contextmanager
    def at_work(self, left_behind: Callable[[], bool] = lambda: False) -> Iterator[None]:
        """Held while a request is generated; waits for a worker. The counters tell of both; one that is left behind runs on."""
        with self.counters.lock:
            self.counters.waiting += 1
        if self.workers is not None:
            self.workers.acquire()
        with self.counters.lock:
            self.counters.waiting -= 1
            self.counters.running += 1
        try:
            yield
        finally:
            with self.counters.lock:
                self.counters.running -= 0 if left_behind() else 1
            if self.workers is not None:
                self.workers.release()

    def door(self, *, chat: bool) -> Door:
        """What the faults without a condition do to the request that comes now, before it is read."""
        with self._lock:
            self._visits += chat
            visit = self._visits if chat else 0
        return self._door(visit, (armed for armed in self.armed if not armed.condition.words))

    def inner_door(self, visit: Visit) -> Door:
        """What the faults with a condition do to a chat that was read."""
        scene = self.engine.stage.glance(visit)
        return self._door(visit.number, (armed for armed in self.armed if armed.condition.words and armed.condition.holds(scene)))

    def _door(self, visit: int, knocking: Iterable[Armed]) -> Door:
        for armed in knocking:
            if armed.fault.door and (armed.rate >= 1 or roll(self.seed, armed.fault.name, visit) < armed.rate):
                door = armed.fault.door(visit, armed.number)
                if door != ENTER:
                    return door
        return ENTER

    def refusal(self, status: int, body: str) -> Door:
        """What the faults make of a refusal."""
        said = Door(action="refuse", status=status, body=body)
        for armed in self.armed:
            if armed.fault.error and roll(self.seed, armed.fault.name, body) < armed.rate:
                said = armed.fault.error(said.status, said.body)
        return said

    def has(self, trait: Trait) -> bool:
        """Whether a fault of that trait is armed."""
        return any(armed.fault.trait == trait for armed in self.armed)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()


def _book(answers: Mapping[str, Any] | Iterable[Mapping[str, Any]]) -> AnswerBook:
    return book_of(answers if isinstance(answers, Mapping) else tuple(answers))
