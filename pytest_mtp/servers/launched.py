"""A server that we started and will stop."""

from __future__ import annotations

import dataclasses
import os
import secrets
import time
from collections.abc import Mapping
from pathlib import Path

from pytest_mtp.client.redaction import scrubbed
from pytest_mtp.core.errors import InfraError, UsageError
from pytest_mtp.core.facts import Endpoint, ServerFacts, SpecDecode
from pytest_mtp.core.protocols import Client, Engine
from pytest_mtp.core.record import Json
from pytest_mtp.servers.address import parse_address
from pytest_mtp.servers.discovery import Discovery, discover
from pytest_mtp.servers.engines.registry import engine_of
from pytest_mtp.servers.introduction import introduce
from pytest_mtp.servers.plan import Plan, Planner
from pytest_mtp.servers.process import ChildProcess, free_port
from pytest_mtp.servers.proof import evidence_of_restart, refuse_the_old, shown_params
from pytest_mtp.servers.readiness import Door, NotReadyError, PortTakenError, first_reply, how_it_ended
from pytest_mtp.servers.server import listens, open_client
from pytest_mtp.servers.telling import telling_lines
from pytest_mtp.servers.watch import Watch

_PORT_ATTEMPTS = 5
_NOT_INSTALLED = ("No module named", "command not found", "ModuleNotFoundError", "PackageNotFoundError")


class LaunchedServer:
    """Implements core.protocols.Server. The process that launched it owns it; its facts can go elsewhere."""

    def __init__(
        self, name: str, planner: Planner, *, run_dir: Path, params: Mapping[str, Json], timeout_s: float, api_key_env: str | None = None
    ) -> None:
        """Start and wait until it has answered; raise InfraError INFRA.start otherwise, with nothing left running.

        `timeout_s` bounds each request, and the whole start where the plan has no limit of its own. The log goes into
        `run_dir`. `api_key_env` names the variable with the key that the server will ask for.
        """
        self._name, self._planner, self._run_dir, self._timeout_s = name, planner, run_dir, timeout_s
        self._params, self._api_key_env = dict(params), api_key_env
        self._facts: ServerFacts
        self._told: ServerFacts
        self._plan: Plan
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

    def restart(self, params: Mapping[str, Json], *, afresh: bool = False) -> ServerFacts:
        """Stop, and start with `params` laid over the former ones (`afresh`: in their place), on the same port where it is free.

        The facts returned are of the new process, and their evidence says what has changed: the process, its time of start,
        the parameters, and what the server tells of itself. Raise InfraError when the old process is still there, UsageError,
        with the old one still running, for parameters that are wrong.
        """
        before, told, plan, given = self._facts, self._told, self._plan, self._values()
        wanted = dict(params) if afresh else {**self._params, **params}
        self._planner(wanted)
        port = parse_address(before.endpoint.root).port
        self.stop()
        self._params = wanted
        self._start(port=None if listens("127.0.0.1", port) else port)
        refuse_the_old(self._name, before, self._facts)
        configured = (plan.configured, self._plan.configured)
        lines = evidence_of_restart(told, self._told, params=(given, self._values()), configured=configured)
        self._facts = dataclasses.replace(self._facts, evidence=(*self._facts.evidence, *lines))
        return self._facts

    def _log(self) -> Path:
        """Of the last start: each has its own."""
        return self._run_dir / f"{self._alias}-{self._starts}.log"

    def _values(self) -> Mapping[str, Json]:
        """All parameters of the last start, defaults too where the plan knows them."""
        return self._params if self._plan.values is None else self._plan.values

    def _start(self, *, port: int | None) -> None:
        plan = self._planner(self._params)
        limit_s = plan.start_timeout_s or self._timeout_s
        deadline = time.monotonic() + limit_s
        for chosen in (plan.port or port or free_port(), *(free_port() for _ in range(_PORT_ATTEMPTS - 1))):
            try:
                self._try(plan, chosen, deadline, limit_s)
            except PortTakenError:
                if plan.port:
                    told = telling_lines(self._log(), plan.telling)[0]
                    words = f"port {chosen} for the {self._name} server is taken by another program; leave `port` out for a free one"
                    raise UsageError(f"{words} (its log says: {told})") from None
            else:
                return
        told = telling_lines(self._log(), plan.telling)[0]
        problem = f"{_PORT_ATTEMPTS} ports in turn were taken while the {self._name} server started; its last log says: {told}"
        raise InfraError(problem, code="INFRA.start", hint=f"The whole log: {self._log()}")

    def _try(self, plan: Plan, port: int, deadline: float, limit_s: float) -> None:
        alias = plan.alias or self._alias
        self._starts += 1
        child = ChildProcess(
            plan.command(port, alias),
            log=self._log(),
            grace_s=plan.stop_grace_s,
            signals=plan.stop_signals,
            environment=plan.environment(port, alias) if plan.environment else {},
            folder=plan.folder,
        )
        root = f"http://127.0.0.1:{port}"
        endpoint = Endpoint(root=root, api_root=f"{root}/v1", model=plan.name_for(alias), api_key_env=self._api_key_env)
        api_key = os.environ.get(self._api_key_env) if self._api_key_env else None
        client = open_client(endpoint, api_key=api_key, timeout_s=self._timeout_s)
        try:
            watch = Watch(child, fatal=plan.fatal, memory_limit_mib=plan.memory_limit_mib)
            try:
                first = first_reply(Door(child=child, endpoint=endpoint, api_key=api_key, deadline=deadline, limit_s=limit_s))
            except NotReadyError as error:
                raise self._failed(child, plan, f"was ended: {watch.reason}" if watch.reason else str(error)) from None
            watch.ready()
            facts = introduce(client, endpoint, _listed(client, endpoint), first, (f"launched as {self._name}",))
            if not child.alive():
                raise self._failed(child, plan, f"was ended: {watch.reason}" if watch.reason else how_it_ended(child))
            if plan.engine and facts.engine != plan.engine:
                signs = "; ".join(facts.evidence[1:3])
                raise self._failed(child, plan, f"was to be {plan.engine}, and what answers is {facts.engine} ({signs})")
        except BaseException:
            child.stop()
            client.close()
            raise
        self._child, self._client, self._plan = child, client, plan
        self._told = dataclasses.replace(facts, pid=child.pid, details={**facts.details, "started_at": child.started_at})
        self._facts = self._with_launch(self._told, plan, alias)

    def _with_launch(self, told: ServerFacts, plan: Plan, alias: str) -> ServerFacts:
        """What the server tells, and what we know from having started it."""
        return dataclasses.replace(
            told,
            engine_version=plan.engine_version or told.engine_version,
            launched=True,
            speculation=_with_plan(told.speculation, plan.configured),
            details={
                **told.details,
                **plan.details,
                "launch": self._name,
                "params": shown_params(self._params),
                "alias": alias,
                "log": str(self._log()),
            },
        )

    def _failed(self, child: ChildProcess, plan: Plan, what: str) -> InfraError:
        """With the lines of the log that tell why, and how to install what is missing."""
        told = telling_lines(child.log, plan.telling)
        lines = ["the lines that tell most:", *told, "its last lines:"] if len(told) > 1 else []
        problem, tail = f"the {self._name} server {what}; its log says: {told[0]}", "\n".join([*lines, child.log_tail()])
        hint = f"The whole log: {child.log}"
        if plan.program_missing and any(words in line for words in _NOT_INSTALLED for line in told):
            hint = f"{plan.program_missing}\n  {hint}"
        for secret in plan.secrets:
            problem, tail = scrubbed(problem, secret), scrubbed(tail, secret)
        return InfraError(problem, code="INFRA.start", hint=hint, log_tail=tail)


def _listed(client: Client, endpoint: Endpoint) -> Discovery:
    """What `/v1/models` says; nothing, where there is no such list."""
    try:
        found = discover(client, parse_address(endpoint.root), wait_s=0, key_sent=endpoint.api_key_env is not None)
    except InfraError:
        found = None
    return found or Discovery(api_root=endpoint.api_root, names=(), aliases={}, document={})


def _with_plan(seen: SpecDecode, configured: SpecDecode | None) -> SpecDecode:
    """What the server tells comes first; the parameters fill the gaps."""
    if configured is None:
        return seen
    return dataclasses.replace(
        seen,
        state=configured.state if seen.state == "unknown" else seen.state,
        method=seen.method or configured.method,
        depth=configured.depth if seen.depth is None else seen.depth,
        evidence=(*seen.evidence, *configured.evidence),
    )
