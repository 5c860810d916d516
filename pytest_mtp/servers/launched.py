"""A server that we started and will stop."""

from __future__ import annotations

import dataclasses
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_mtp.core.errors import InfraError, UsageError
from pytest_mtp.core.facts import Endpoint, ServerFacts, SpecDecode
from pytest_mtp.core.protocols import Client, Engine
from pytest_mtp.core.record import Json
from pytest_mtp.core.reply import Reply
from pytest_mtp.servers.address import parse_address
from pytest_mtp.servers.discovery import Discovery, discover
from pytest_mtp.servers.engines.registry import engine_of
from pytest_mtp.servers.introduction import introduce
from pytest_mtp.servers.probes import prove_ready
from pytest_mtp.servers.process import ChildProcess, free_port, telling_line
from pytest_mtp.servers.server import listens, open_client

_PORT_ATTEMPTS = 5
_POLL_S = 0.05
_DYING_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How to start one kind of server with given parameters.

    `command` takes a port and an alias: a name that no other server has, by which ours is known. `alias` and `port` are set
    where the user wants these. `model` is the name to ask for, the alias where it is None. `configured` is what the
    parameters say of speculation: configuration, not proof.
    """

    command: Callable[[int, str], Sequence[str]]
    alias: str | None = None
    port: int | None = None
    model: str | None = None
    engine_version: str | None = None
    configured: SpecDecode | None = None
    details: Mapping[str, Json] = dataclasses.field(default_factory=dict)


Planner = Callable[[Mapping[str, Json]], Plan]


class LaunchedServer:
    """Implements core.protocols.Server. The process that launched it owns it; its facts can go elsewhere."""

    def __init__(self, name: str, planner: Planner, *, run_dir: Path, params: Mapping[str, Json], timeout_s: float) -> None:
        """Start and wait until it has answered; raise InfraError INFRA.start otherwise, with nothing left running."""
        self._name, self._planner, self._run_dir, self._timeout_s = name, planner, run_dir, timeout_s
        self._params = dict(params)
        self._alias, self._starts = f"{name}-{secrets.token_hex(4)}", 0  # the alias outlives restarts: others may know it
        self._start(port=None)

    @property
    def facts(self) -> ServerFacts:
        """As known at its last start."""
        return self._facts

    @property
    def engine(self) -> Engine:
        """Its adapter."""
        return engine_of(self._facts)

    @property
    def client(self) -> Client:
        """Bound to its endpoint."""
        return self._client

    @property
    def params(self) -> Mapping[str, Json]:
        """Of its last start."""
        return self._params

    def alive(self) -> bool:
        """Its process runs."""
        return self._child.alive()

    def ended_within(self, seconds: float) -> bool:
        """Wait for its end. After a lost connection ask this and not `alive`: a dying process is alive a little longer."""
        return self._child.ended_within(seconds)

    def exit_code(self) -> int | None:
        """Negative for a signal; None while it runs."""
        return self._child.exit_code()

    def log_tail(self, lines: int = 20) -> str:
        """The last lines of its log."""
        return self._child.log_tail(lines)

    def stop(self) -> None:
        """Nothing of it runs afterwards. May be called twice."""
        self._client.close()
        self._child.stop()

    def restart(self, params: Mapping[str, Json]) -> ServerFacts:
        """Stop, and start with `params` laid over the former ones, on the same port where it is still free.

        The facts returned are of the new process: its id and time of start differ, or this raises InfraError.
        """
        before = (self._child.pid, self._child.started_at)
        port = parse_address(self._facts.endpoint.root).port
        self.stop()
        self._params = {**self._params, **params}
        self._start(port=None if listens("127.0.0.1", port) else port)
        if before == (self._child.pid, self._child.started_at):
            raise InfraError(f"the {self._name} server was not restarted: process {self._child.pid} is the old one", code="INFRA.start")
        return self._facts

    def _start(self, *, port: int | None) -> None:
        plan = self._planner(self._params)
        deadline = time.monotonic() + self._timeout_s
        for chosen in (plan.port or port or free_port(), *(free_port() for _ in range(_PORT_ATTEMPTS - 1))):
            if self._try(plan, chosen, deadline):
                return
            if plan.port:
                raise UsageError(f"port {chosen} for the {self._name} server is taken by another program; leave `port` out for a free one")
        raise InfraError(f"{_PORT_ATTEMPTS} ports in turn were taken while the {self._name} server started", code="INFRA.start")

    def _try(self, plan: Plan, port: int, deadline: float) -> bool:
        """Start on this port. False when the port turns out to be another's; the child is gone then."""
        alias = plan.alias or self._alias
        self._starts += 1
        child = ChildProcess(plan.command(port, alias), log=self._run_dir / f"{self._alias}-{self._starts}.log")
        root = f"http://127.0.0.1:{port}"
        endpoint = Endpoint(root=root, api_root=f"{root}/v1", model=plan.model or alias)
        client = open_client(endpoint, api_key=None, timeout_s=self._timeout_s)
        try:
            found = self._await(child, client, endpoint, alias, deadline)
            if found is None:
                child.stop()
                client.close()
                return False
            first = self._first_reply(child, client, endpoint)
            facts = introduce(client, endpoint, found, first, (f"launched as {self._name}",))
        except BaseException:
            child.stop()
            client.close()
            raise
        self._child, self._client = child, client
        self._facts = dataclasses.replace(
            facts,
            engine_version=plan.engine_version or facts.engine_version,
            launched=True,
            pid=child.pid,
            speculation=_with_plan(facts.speculation, plan.configured),
            details={
                **facts.details,
                **plan.details,
                "launch": self._name,
                "params": self._params,
                "alias": alias,
                "log": str(child.log),
                "started_at": child.started_at,
            },
        )
        return True

    def _await(self, child: ChildProcess, client: Client, endpoint: Endpoint, alias: str, deadline: float) -> Discovery | None:
        """Our child, under its alias, on its port. None when it gave up because another sits there."""
        port = parse_address(endpoint.root).port
        stranger = False
        while child.alive():
            if time.monotonic() > deadline:
                met = f", and another program answers on port {port}" if stranger else ""
                raise self._failed(child, f"was not ready after {self._timeout_s:g} s{met}")
            if listens("127.0.0.1", port):
                found = _listed(client, endpoint)
                if found and alias in (*found.names, *found.aliases):
                    return found
                stranger = found is not None
            time.sleep(_POLL_S)
        if listens("127.0.0.1", port):
            return None
        raise self._failed(child, _ended(child))

    def _first_reply(self, child: ChildProcess, client: Client, endpoint: Endpoint) -> Reply:
        try:
            reply = prove_ready(client, url=endpoint.api_root, model=endpoint.model)
        except InfraError as error:
            ended = child.ended_within(_DYING_S)
            raise self._failed(child, _ended(child) if ended else f"gave no answer: {error.problem}") from None
        if not child.alive():  # then somebody else answered
            raise self._failed(child, _ended(child))
        return reply

    def _failed(self, child: ChildProcess, what: str) -> InfraError:
        problem = f"the {self._name} server {what}; its log says: {telling_line(child.log)}"
        return InfraError(problem, code="INFRA.start", hint=f"The whole log: {child.log}", log_tail=child.log_tail())


def _listed(client: Client, endpoint: Endpoint) -> Discovery | None:
    try:
        return discover(client, parse_address(endpoint.root), wait_s=0, key_sent=False)
    except InfraError:  # not up yet, or something that is no API at all
        return None


def _ended(child: ChildProcess) -> str:
    code = child.exit_code()
    how = f"was killed by signal {-code}" if code is not None and code < 0 else f"ended with exit code {code}"
    return f"{how} before it was ready"


def _with_plan(seen: SpecDecode, configured: SpecDecode | None) -> SpecDecode:
    """What the server tells comes first; the parameters fill the gaps."""
    if configured is None:
        return seen
    return dataclasses.replace(
        seen,
        method=seen.method or configured.method,
        depth=configured.depth if seen.depth is None else seen.depth,
        evidence=(*seen.evidence, *configured.evidence),
    )
