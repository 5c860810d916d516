"""A start is over when our own process has answered a real request. `/v1/models` may be missing or empty, and proves nothing."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

import psutil

from pytest_mtp.client.http import HttpClient
from pytest_mtp.client.retry import RetryPolicy
from pytest_mtp.core.errors import InfraError
from pytest_mtp.core.exchange import Fault
from pytest_mtp.core.facts import Endpoint
from pytest_mtp.core.reply import Reply
from pytest_mtp.servers.address import parse_address
from pytest_mtp.servers.listening import listeners
from pytest_mtp.servers.probes import attempt
from pytest_mtp.servers.process import ChildProcess
from pytest_mtp.servers.server import listens
from pytest_mtp.servers.telling import telling_lines
from pytest_mtp.servers.trouble import trouble

_POLL_S = 0.05
_DYING_S = 1.0
_PATIENT = frozenset({"connect", "reset", "busy"})
_TAKEN = re.compile(r"address already in use|EADDRINUSE|\berrno (98|48)\b|only one usage of each socket address", re.IGNORECASE)


class NotReadyError(Exception):
    """Why the start failed, completing `the vllm server ...`."""


class PortTakenError(Exception):
    """The port belongs to somebody else: another one may do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """Where a server of ours is to answer, and until when (of `time.monotonic`); `limit_s` is for the message."""

    child: ChildProcess
    endpoint: Endpoint
    api_key: str | None
    deadline: float
    limit_s: float

    @property
    def port(self) -> int:
        """Of the endpoint."""
        return parse_address(self.endpoint.root).port


def first_reply(door: Door) -> Reply:
    """One real token from our own process. Raise NotReadyError, or PortTakenError when another program has the port.

    A server that listens and is not ready yet (busy, no connection) is asked again until the deadline; one that refuses is
    not. A single request may take all the time that is left: some servers load the model at the first one.
    """
    child, stranger, last = door.child, False, None
    while child.alive():
        holder = _holder(door)
        stranger = stranger or holder == "stranger"
        if holder == "ours":
            answer = _asked(door)
            if isinstance(answer, Reply) and not child.ended_within(0):  # else somebody else answered
                return answer
            last = answer if isinstance(answer, Fault) else None
            if last and last.kind not in _PATIENT and not child.ended_within(_DYING_S):
                raise NotReadyError(_refusal(door, last))
        if time.monotonic() > door.deadline:
            raise NotReadyError(f"was not ready after {door.limit_s:g} s{_met(door.port, last, stranger=stranger)}")
        time.sleep(_POLL_S)
    if listens("127.0.0.1", door.port) or _TAKEN.search("\n".join(telling_lines(child.log))) or _TAKEN.search(child.log_tail(40)):
        raise PortTakenError
    raise NotReadyError(how_it_ended(child))


def how_it_ended(child: ChildProcess) -> str:
    """For messages."""
    code = child.exit_code()
    if code is None:
        return "was killed together with its leash before it was ready"
    how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
    return f"{how} before it was ready"


def _asked(door: Door) -> Reply | Fault:
    left = max(1.0, door.deadline - time.monotonic())
    client = HttpClient(door.endpoint, api_key=door.api_key, timeout_s=left, retry=RetryPolicy(retries=0))
    try:
        return attempt(client)
    finally:
        client.close()


def _refusal(door: Door, fault: Fault) -> str:
    if fault.kind == "timeout":
        return f"was not ready after {door.limit_s:g} s: it takes connections and does not answer"
    error: InfraError = trouble(
        fault, url=f"{door.endpoint.api_root}/chat/completions", doing=f"asking {door.endpoint.model!r} for one token"
    )
    return f"gave no answer: {error.problem}"


def _met(port: int, last: Fault | None, *, stranger: bool) -> str:
    if stranger:
        return f", and another program answers on port {port}"
    return f": {last.message}" if last else ""


def _holder(door: Door) -> str:
    """Whose the port is: `ours`, `stranger` or nobody's. With SO_REUSEPORT several may hold it: then all must be of our family."""
    try:
        found = listeners(("127.0.0.1",), door.port)
        if not found.sockets:
            return ""
        family = {process.pid for process in door.child.family()}
    except (psutil.Error, OSError):  # the operating system does not tell: whoever listens is taken for ours
        return "ours" if listens("127.0.0.1", door.port) else ""
    return "ours" if found.pids and family.issuperset(found.pids) else "stranger"
