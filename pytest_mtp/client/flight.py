"""One request on its way: its deadline and its first byte, known to the sockets that carry it.

A read time-out alone would let a server drip a byte a second for ever, in the headers too; so each read of a socket
waits at most for what is left of the whole request.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

Clock = Callable[[], int]


@dataclass(slots=True)
class Flight:
    """Stamps and limits in nanoseconds of `clock`; the deadline may be drawn nearer while the answer comes."""

    deadline_ns: int
    clock: Clock = time.perf_counter_ns
    first_write_ns: int | None = None
    connected: bool = False  # a new connection was made for it
    first_bytes: bytes = b""  # of what came back, as a protocol that is not HTTP shows there

    @classmethod
    def of(cls, limit_s: float, clock: Clock = time.perf_counter_ns) -> Flight:
        """One that starts now."""
        return cls(deadline_ns=clock() + int(limit_s * 1e9), clock=clock)

    def left_s(self) -> float:
        """Seconds until the deadline, not negative."""
        return max(0.0, (self.deadline_ns - self.clock()) / 1e9)

    def hurry(self, seconds: float) -> None:
        """End within `seconds` from now, if not earlier."""
        self.deadline_ns = min(self.deadline_ns, self.clock() + int(seconds * 1e9))


_CURRENT: ContextVar[Flight | None] = ContextVar("flight", default=None)


def current() -> Flight | None:
    """The flight of this thread's request."""
    return _CURRENT.get()


@contextmanager
def under_way(flight: Flight) -> Iterator[Flight]:
    """Make `flight` the one that sockets used inside the block look at."""
    token = _CURRENT.set(flight)
    try:
        yield flight
    finally:
        _CURRENT.reset(token)
