"""Is the server still there? Once it is known to be gone, nothing else waits for it."""

from __future__ import annotations

from pytest_mtp.core.exchange import Exchange
from pytest_mtp.core.protocols import Server
from pytest_mtp.core.verdict import Finding
from pytest_mtp.plugin.shared import DOWN, SharedFolder

SUSPICIOUS = frozenset({"connect", "reset", "timeout"})
HUNG_AFTER = 2
"""Time-outs in a row, with no answer between them, after which a server that still accepts connections counts as hung."""


class Health:
    """Watches the exchanges of one process; the verdict is shared by all processes of the run."""

    def __init__(self, server: Server, shared: SharedFolder) -> None:
        """`shared` carries the word to the other workers."""
        self._server, self._shared = server, shared
        self._timeouts = 0
        self._known: Finding | None = None

    def note(self, exchange: Exchange) -> None:
        """Look at one exchange; a dead or hung server is remembered."""
        fault = exchange.fault
        if fault is None or fault.kind not in SUSPICIOUS:
            self._timeouts = 0
            return
        self._timeouts = self._timeouts + 1 if fault.kind == "timeout" else 0
        if not self._server.alive():
            code = "INFRA.crash" if self._server.facts.launched else "INFRA.connect"
            self._mark(code, "the server has ended" if self._server.facts.launched else "the server no longer takes connections")
        elif self._timeouts >= HUNG_AFTER:
            self._mark("INFRA.timeout", f"the server takes connections, but {self._timeouts} requests in a row got no answer")

    def down(self) -> Finding | None:
        """Why no more requests are sent, or None."""
        if self._known is None:
            plain = self._shared.read(DOWN)
            self._known = Finding.from_dict(plain) if plain else None
        return self._known

    def _mark(self, code: str, title: str) -> None:
        tail = self._server.log_tail(20)
        detail = f"the last lines of its log:\n{tail}" if tail else ""
        self._shared.write(DOWN, Finding(code=code, severity="critical", title=title, detail=detail).to_dict())
