"""The run's folder: what the processes of one run tell each other. Made by the controller, removed by it."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CONTROL = "control"
DOWN = "down"
PACE, PLAN, SETTLED, STARTED = "pace", "plan", "settled", "started"
REQUESTS = "requests"


class SharedFolder:
    """Facts measured once a run, by whichever process needs them first."""

    def __init__(self, path: Path) -> None:
        """The folder exists."""
        self.path = path

    def once(self, name: str, measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """The value of `name`: measured by the first process that comes, read by the others, who wait.

        A process that dies while measuring lets go of the lock, and the next one measures.
        """
        known = self.read(name)
        if known is not None:
            return known
        with self._locked(name):
            known = self.read(name)
            if known is None:
                known = measure()
                self.write(name, known)
        return known

    def read(self, name: str) -> dict[str, Any] | None:
        """What was written, or None."""
        try:
            plain: dict[str, Any] = json.loads((self.path / f"{name}.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        return plain

    def write(self, name: str, value: dict[str, Any]) -> None:
        """Whole or not at all."""
        draft = self.path / f"{name}.{os.getpid()}.draft"
        draft.write_text(json.dumps(value), encoding="utf-8")
        draft.replace(self.path / f"{name}.json")

    def tick(self, name: str, times: int = 1) -> None:
        """Count; a byte each, appended, so that no process needs to wait for another and a crash loses nothing."""
        with (self.path / f"{name}.ticks").open("ab") as handle:
            handle.write(b"." * times)

    def ticks(self, name: str) -> int:
        """What all processes counted so far."""
        path = self.path / f"{name}.ticks"
        return path.stat().st_size if path.exists() else 0

    @contextmanager
    def _locked(self, name: str) -> Iterator[None]:
        with (self.path / f"{name}.lock").open("a") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
