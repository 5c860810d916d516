"""One process of a run: the server, the lease, the control, and the execution of cases."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from pytest_mtp.checks.answers import planned_asks
from pytest_mtp.checks.control import measure_control
from pytest_mtp.checks.cost import pace_of
from pytest_mtp.checks.kinds import EXCLUSIVE, check_for
from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import Case
from pytest_mtp.core.errors import NotOffered
from pytest_mtp.core.exchange import Exchange, Fault, Timeline
from pytest_mtp.core.facts import Control, ServerFacts
from pytest_mtp.core.protocols import Server
from pytest_mtp.core.run import CaseResult
from pytest_mtp.core.verdict import Finding, Verdict
from pytest_mtp.core.weights import Weights
from pytest_mtp.judge.gate import closes
from pytest_mtp.plugin.ahead import Ahead
from pytest_mtp.plugin.budget import Purse
from pytest_mtp.plugin.context import CaseContext
from pytest_mtp.plugin.evidence import EvidenceFolder
from pytest_mtp.plugin.health import Health
from pytest_mtp.plugin.pool import AskPool
from pytest_mtp.plugin.settings import Settings
from pytest_mtp.plugin.shared import CONTROL, PACE, REQUESTS, SharedFolder
from pytest_mtp.servers.lease import FileLease

DEFAULT_CONCURRENCY = 4


class ControlUnusable(Exception):  # noqa: N818  # a conclusion, not an error
    """The server's own answers are unusable: nothing that follows would mean anything."""


class Run:
    """Lives in the controller without xdist, in each worker with it. `server` is bound, never owned, here."""

    def __init__(
        self, settings: Settings, server: Server, folder: Path, *, processes: int, worker: str, weights: Weights | None = None
    ) -> None:
        """`processes` share the server's concurrency; `weights` are those of the checkpoint that the user named."""
        self.settings, self.server, self.worker, self.weights = settings, server, worker, weights
        self.shared = SharedFolder(folder)
        self.purse = Purse(settings.budget, self.shared) if settings.budget else None
        self.lease = FileLease(folder)
        self.health = Health(server, self.shared)
        self.evidence = EvidenceFolder(settings.report_dir, settings.api_key_env, settings.again())
        wanted = settings.concurrency or server.facts.concurrency or DEFAULT_CONCURRENCY
        self.concurrency = max(1, wanted // processes)
        self._pool = AskPool(self.concurrency, self._send)
        self._ahead = Ahead(self._pool, self.concurrency)
        self._control: Control | None = None

    @property
    def facts(self) -> ServerFacts:
        """With what the control proved about speculation, once there is one."""
        known = self._control or self.known_control()
        return dataclasses.replace(self.server.facts, speculation=known.speculation) if known else self.server.facts

    def plan(self, cases: Iterable[tuple[str, Case]]) -> None:
        """The cases that will run here, in order; nothing is sent before the control is known."""
        self._ahead.plan((node_id, self._asks_of(node_id, case)) for node_id, case in cases)

    def control(self) -> Control:
        """Measured once a run, under the exclusive lease."""
        if self._control is None:
            self._control = Control.from_dict(self.shared.once(CONTROL, self._measure_control))
        return self._control

    def known_control(self) -> Control | None:
        """The control if some process has measured it."""
        plain = self.shared.read(CONTROL)
        return Control.from_dict(plain) if plain else None

    def execute(self, case: Case, node_id: str, *, typed: str) -> CaseResult:
        """Run one case to a result; `typed` is its node id for a command line.

        Raises NotOffered (skip), NoRoom where the budget has none (skip), and ControlUnusable (stop).
        """
        started = time.perf_counter()
        down = self.health.down()
        if down is not None:
            return self._result(case, node_id, _not_run(case, down), started)
        if self.purse is not None:
            self.purse.planned(node_id)
        control = self.control()
        if not control.usable:
            infra = next((finding for finding in control.findings if finding.code.startswith("INFRA.")), None)
            down = self.health.down() or infra
            if down is None:
                raise ControlUnusable(control.reason)
            return self._result(case, node_id, _not_run(case, down), started)
        case = self._admitted(case, node_id)
        check = check_for(case.kind)
        if case.kind in EXCLUSIVE:
            context = self.context()
            with self.lease.exclusive():
                case = self._admitted(case, node_id)  # again: others may have run while this one waited for the server
                verdict = check(case, context)
        else:
            context = self.context(self._ahead.take(node_id))
            verdict = check(case, context)
        down = self.health.down()
        if down is not None and verdict.outcome == "BLOCKED":
            verdict = dataclasses.replace(verdict, reason=f"{down.code}: {down.title}", findings=(down, *verdict.findings))
        if verdict.outcome != "PASS" or case.kind in EXCLUSIVE:
            verdict = self.evidence.attach(verdict, typed, context.exchanges)
        return self._result(case, node_id, verdict, started)

    def context(self, planned: Sequence[Future[Exchange]] = ()) -> CaseContext:
        """For one case, or for one Python test."""
        again = self.purse.looker() if self.purse is not None else lambda: True
        return CaseContext(
            server=self.server, lease=self.lease, pool=self._pool, alone=self._ask, once=self._ask_once, control=self.control,
            planned=planned, weights=self.weights, again=again,
        )  # fmt: skip

    def close(self) -> None:
        """Send nothing more, let go of the connections."""
        self._pool.close()
        self.server.client.close()

    def _send(self, ask: Ask) -> Exchange:
        with self.lease.shared():
            return self._ask(ask)

    def _ask(self, ask: Ask) -> Exchange:
        """Nothing more is sent to a server that is known to be gone."""
        down = self.health.down()
        if down is not None:
            endpoint, now = self.server.facts.endpoint, time.perf_counter_ns()
            fault = Fault(kind="connect", code=down.code, message=f"not sent: {down.title}")
            return Exchange(ask=ask, url=endpoint.api_root, model=endpoint.model, fault=fault, timeline=Timeline(sent_ns=now))
        exchange = self._counted(ask, retried=True)
        self.health.note(exchange)
        return exchange

    def _ask_once(self, ask: Ask) -> Exchange:
        """One of many at once: that some of these wait too long is what is measured, and no sign of a hung server."""
        exchange = self._counted(ask, retried=False)
        if exchange.fault is None or exchange.fault.kind != "timeout":
            self.health.note(exchange)
        return exchange

    def _counted(self, ask: Ask, *, retried: bool) -> Exchange:
        self.shared.tick(REQUESTS)
        exchange = self.server.client.ask(ask, retried=retried)
        self.shared.tick(REQUESTS, len(exchange.attempts) - 1)
        return exchange

    def _asks_of(self, node_id: str, case: Case) -> Callable[[], Sequence[Ask]]:
        """Nothing is sent ahead that the budget has no room for by then."""
        return lambda: planned_asks(case) if self.purse is None or self.purse.has_room(node_id, case) else ()

    def _measure_control(self) -> dict[str, Any]:
        context = self.context()
        with self.lease.exclusive():
            control = measure_control(context)
        self.shared.write(PACE, pace_of(context.exchanges).to_dict())
        if control.findings:
            control = self.evidence.attach_control(control, context.exchanges)
        return control.to_dict()

    def _admitted(self, case: Case, node_id: str) -> Case:
        """The case as it is to be run. Raises NotOffered for what the server lacks, NoRoom for what the budget does."""
        self._require(case)
        if self.purse is None:
            return case
        settled = self.purse.settled(node_id, case)
        if not self._ahead.sent(node_id):
            self.purse.admit(settled)
        return settled

    def _require(self, case: Case) -> None:
        """Skip what the server was seen not to offer; what was not tried is tried."""
        offered = self.server.facts.capabilities.to_dict()
        for need in case.needs:
            if need == "speculation":
                state = self.control().speculation.state
                if state != "active":
                    raise NotOffered(f"needs speculation, which is {state} on this server")
            elif offered.get(need) is False:
                raise NotOffered(f"needs {need}, which this server does not offer")

    def _result(self, case: Case, node_id: str, verdict: Verdict, started: float) -> CaseResult:
        return CaseResult(
            node_id=node_id,
            suite=case.suite,
            kind=case.kind,
            severity=case.severity,
            source=case.source,
            verdict=verdict,
            closes=closes(verdict, self.settings.gate, self.settings.inconclusive),
            duration_s=round(time.perf_counter() - started, 6),
            worker=self.worker,
            tags=case.tags,
        )


def _not_run(case: Case, down: Finding) -> Verdict:
    """Not one more time-out is waited for."""
    return Verdict(case_id=case.id, outcome="BLOCKED", reason=f"not run, {down.code}: {down.title}", findings=(down,))
