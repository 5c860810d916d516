"""Who may talk to a server: many at once for correctness, one alone for measuring."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class FileLease:
    """Readers and one writer over threads and processes, made of two `flock` files.

    Everybody enters through the turnstile and then takes the room, shared or exclusive. Who wants the room alone keeps
    the turnstile while the readers inside leave, so no new reader overtakes it and it cannot starve. `flock` belongs to
    the open file description: each acquisition opens its own, hence two threads exclude each other as two processes do,
    and the kernel releases it when a holder dies.

    Not re-entrant: asking for the exclusive lease while holding the shared one waits for itself for ever. A child made by
    `fork` without `exec` inherits a held lease until it ends. `directory` must be on a local file system.
    """

    def __init__(self, directory: Path) -> None:
        """`directory` is made when missing; all who share one server give the same."""
        directory.mkdir(parents=True, exist_ok=True)
        self._turnstile = directory / "turnstile.lock"
        self._room = directory / "room.lock"

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Held around each ordinary request."""
        turnstile = _lock(self._turnstile, fcntl.LOCK_EX)
        try:
            room = _lock(self._room, fcntl.LOCK_SH)
        finally:
            os.close(turnstile)
        try:
            yield
        finally:
            os.close(room)

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Held around a measurement: waits for every holder, and nobody enters until it ends."""
        turnstile = _lock(self._turnstile, fcntl.LOCK_EX)
        try:
            room = _lock(self._room, fcntl.LOCK_EX)
            try:
                yield
            finally:
                os.close(room)
        finally:
            os.close(turnstile)


def _lock(path: Path, operation: int) -> int:
    """A new descriptor that holds the lock; closing it releases."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(descriptor, operation)
    except BaseException:  # Ctrl-C while waiting must not leak the descriptor
        os.close(descriptor)
        raise
    return descriptor
