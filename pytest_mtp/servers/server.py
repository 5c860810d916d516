"""A server whose facts are known, bound to a client of this process."""

from __future__ import annotations

import socket
from pathlib import Path
from urllib.parse import urlsplit

import psutil

from pytest_mtp.client.http import HttpClient
from pytest_mtp.client.proxies import proxy_for
from pytest_mtp.core.facts import Endpoint, ServerFacts
from pytest_mtp.core.protocols import Client, Engine
from pytest_mtp.servers.engines.registry import engine_of

_CONNECT_S = 2.0


class BoundServer:
    """Implements core.protocols.Server for an attached server, and for a launched one that another process owns."""

    def __init__(self, facts: ServerFacts, client: Client) -> None:
        """`client` is bound to the endpoint of `facts`."""
        self._facts, self._client = facts, client

    @property
    def facts(self) -> ServerFacts:
        """As known at start."""
        return self._facts

    @property
    def engine(self) -> Engine:
        """Its adapter."""
        return engine_of(self._facts)

    @property
    def client(self) -> Client:
        """Bound to its endpoint."""
        return self._client

    def alive(self) -> bool:
        """By a TCP connection; for a process that we launched also by its id and its time of start."""
        if self._facts.launched and not _runs(self._facts):
            return False
        root = self._facts.endpoint.root
        if proxy_for(root) is not None:  # then nobody but the proxy can be reached directly
            return self._client.fetch("/").fault is None
        parts = urlsplit(root)
        return listens(parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80))

    def log_tail(self, lines: int = 20) -> str:
        """Of the log file of a launched server, from whatever process; empty for an attached one."""
        path = self._facts.details.get("log")
        return tail(Path(path), lines) if isinstance(path, str) else ""


def connect(facts: ServerFacts, *, api_key: str | None, timeout_s: float) -> BoundServer:
    """Bind again in another process: nothing is probed, nothing is owned."""
    return BoundServer(facts, open_client(facts.endpoint, api_key=api_key, timeout_s=timeout_s))


def open_client(endpoint: Endpoint, *, api_key: str | None, timeout_s: float) -> Client:
    """The one place where servers/ chooses its client."""
    return HttpClient(endpoint, api_key=api_key, timeout_s=timeout_s)


def listens(host: str, port: int) -> bool:
    """Somebody accepts connections there."""
    try:
        with socket.create_connection((host, port), timeout=_CONNECT_S):
            return True
    except OSError:
        return False


def tail(path: Path, lines: int) -> str:
    """The last lines of a file, whatever its bytes; empty when there is none."""
    try:
        text = path.read_bytes()[-200 * 1024 :].decode(errors="replace")
    except OSError:
        return ""
    return "\n".join(text.splitlines()[-lines:])


def _runs(facts: ServerFacts) -> bool:
    try:
        process = psutil.Process(facts.pid)
        started = facts.details.get("started_at")
        same = not isinstance(started, float) or abs(process.create_time() - started) < 1
        return same and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
