"""One visit to one server, outside of pytest: what a check needs of a run, and nothing more."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from pytest_mtp.checks.control import measure_control
from pytest_mtp.cli.together import together
from pytest_mtp.core.ask import Ask
from pytest_mtp.core.exchange import Exchange, Fault, Timeline
from pytest_mtp.core.facts import Control
from pytest_mtp.core.protocols import Lease, Server
from pytest_mtp.core.weights import Weights
from pytest_mtp.servers.lease import FileLease

_SUSPICIOUS = frozenset({"connect", "reset", "timeout"})
_HUNG_AFTER = 2  # time-outs in a row


class Visit:
    """A CheckContext. Once the server is known to be gone, or to hang, nothing more is sent and nothing waits for it.

    `gone` says so then: what was measured until the end is no measurement.
    """

    def __init__(self, server: Server, *, folder: Path, weights: Weights | None, say: Callable[[str], None]) -> None:
        """`folder` is for the lease; `say` takes a line for a waiting person."""
        self.server, self.weights, self.progress = server, weights, say
        self.lease: Lease = FileLease(folder)
        self._width = server.facts.concurrency or 1
        self._control: Control | None = None
        self._timeouts = 0
        self.gone: Fault | None = None

    def control(self) -> Control:
        """Measured at the first call, which nobody makes from within a measurement."""
        if self._control is None:
            self.progress("control: four prompts, three times each")
            with self.lease.exclusive():
                self._control = measure_control(self)
        return self._control

    def ask(self, ask: Ask) -> Exchange:
        """Under the shared lease."""
        with self.lease.shared():
            return self.ask_alone(ask)

    def ask_many(self, asks: Sequence[Ask]) -> Sequence[Exchange]:
        """Each under the shared lease, at the server's concurrency."""
        return together(self.ask, asks, width=self._width)

    def ask_alone(self, ask: Ask) -> Exchange:
        """The caller holds the exclusive lease."""
        return self._send(ask, retried=True)

    def burst(self, asks: Sequence[Ask]) -> Sequence[Exchange]:
        """A thread each, none sent twice; the caller holds the exclusive lease."""
        return together(functools.partial(self._send, retried=False), asks, width=len(asks))

    def again(self) -> bool:
        """A visit has no budget."""
        return True

    def _send(self, ask: Ask, *, retried: bool) -> Exchange:
        if self.gone is not None:
            endpoint = self.server.facts.endpoint
            now = Timeline(sent_ns=time.perf_counter_ns())
            return Exchange(ask=ask, url=endpoint.api_root, model=endpoint.model, fault=self.gone, timeline=now)
        exchange = self.server.client.ask(ask, retried=retried)
        if retried or exchange.fault is None or exchange.fault.kind != "timeout":  # one of many at once may well wait too long
            self._note(exchange.fault)
        return exchange

    def _note(self, fault: Fault | None) -> None:
        if fault is None or fault.kind not in _SUSPICIOUS:
            self._timeouts = 0
            return
        self._timeouts = self._timeouts + 1 if fault.kind == "timeout" else 0
        if not self.server.alive():
            self.gone = Fault(kind="connect", code="INFRA.connect", message="the server no longer takes connections")
        elif self._timeouts >= _HUNG_AFTER:
            words = f"the server takes connections, but {self._timeouts} requests in a row got no answer"
            self.gone = Fault(kind="timeout", code="INFRA.timeout", message=words)
