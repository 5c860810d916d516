"""Eyes on a server process while it runs: the memory of all its family, and log lines after which waiting is in vain."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence

from pytest_mtp.servers.family import memory_mib
from pytest_mtp.servers.process import ChildProcess

_EVERY_S = 0.25
_CHUNK = 2**20


class Watch:
    """A thread that ends the process when it has to, and remembers why. It ends with the process.

    `fatal` patterns count until `ready` is called; the memory limit holds to the end.
    """

    def __init__(self, child: ChildProcess, *, fatal: Sequence[str], memory_limit_mib: int | None) -> None:
        """Nothing is started where there is nothing to watch."""
        self._child, self._memory_limit_mib = child, memory_limit_mib
        self._fatal = re.compile("|".join(f"(?:{pattern})" for pattern in fatal)) if fatal else None
        self._offset, self._rest = 0, b""
        self._ready = threading.Event()
        self.reason = ""
        if fatal or memory_limit_mib:
            threading.Thread(target=self._run, name="mtp-watch", daemon=True).start()

    def ready(self) -> None:
        """It has answered: from now on a fatal line is one of its own troubles."""
        self._ready.set()

    def _run(self) -> None:
        while not self._child.ended_within(_EVERY_S):
            self.reason = self._greed() or self._doom()
            if self.reason:
                self._child.end(self.reason)
                return

    def _greed(self) -> str:
        if self._memory_limit_mib is None:
            return ""
        used = memory_mib(self._child.family(), self._memory_limit_mib)
        return f"it used {used:.0f} MiB of memory, and its limit is {self._memory_limit_mib} MiB" if used > self._memory_limit_mib else ""

    def _doom(self) -> str:
        """The first fatal line of what was written since the last look."""
        if self._fatal is None or self._ready.is_set():
            return ""
        with self._child.log.open("rb") as log:
            log.seek(self._offset)
            while chunk := log.read(_CHUNK):
                self._offset += len(chunk)
                *lines, self._rest = (self._rest + chunk).split(b"\n")
                for line in lines:
                    text = line.decode(errors="replace").strip()
                    if self._fatal.search(text):
                        return f"a line of its log is fatal: {text[:300]}"
                self._rest = self._rest[-_CHUNK:]
        return ""
