"""What a probe asks with: the context of its case, and the memory of every exchange that went through it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.exchange import Exchange
from pytest_mtp.core.facts import Control, ServerFacts
from pytest_mtp.core.protocols import CheckContext, Client, Engine
from pytest_mtp.core.verdict import Finding


class Sent:
    """A CheckContext with the same words, that counts. `exchanges` are in the order in which they were asked for."""

    def __init__(self, context: CheckContext) -> None:
        """Nothing is sent."""
        self._context = context
        self.exchanges: list[Exchange] = []

    @property
    def facts(self) -> ServerFacts:
        """Of the server under test."""
        return self._context.server.facts

    @property
    def engine(self) -> Engine:
        """Its adapter."""
        return self._context.server.engine

    @property
    def client(self) -> Client:
        """For pages: `fetch`. Completions go through `ask`."""
        return self._context.server.client

    def control(self) -> Control:
        """The control of the run."""
        return self._context.control()

    def progress(self, words: str) -> None:
        """A line for a waiting person."""
        self._context.progress(words)

    def ask(self, ask: Ask) -> Exchange:
        """One, under the shared lease."""
        return self.many([ask])[0]

    def many(self, asks: Sequence[Ask]) -> Sequence[Exchange]:
        """At the server's concurrency, answers in order."""
        return self._kept(self._context.ask_many(asks))

    def alone(self, ask: Ask) -> Exchange:
        """One; the caller holds the exclusive lease."""
        return self._kept([self._context.ask_alone(ask)])[0]

    def burst(self, asks: Sequence[Ask]) -> Sequence[Exchange]:
        """All at once and none retried; the caller holds the exclusive lease."""
        return self._kept(self._context.burst(asks))

    def _kept(self, exchanges: Sequence[Exchange]) -> Sequence[Exchange]:
        self.exchanges += exchanges
        return exchanges


SERVER_FAILED = frozenset({"server_error", "reset", "malformed"})
"""Kinds of faults that no lawful request may meet: the request arrived, and the server lost its reply."""


_UNSUPPORTED = re.compile(r"\b(not (yet )?supported|unsupported|not (yet )?implemented|does(n't| not) support)\b", re.IGNORECASE)


def declined(exchange: Exchange, most: int = 160) -> str:
    """Why the server declines the request, openly; empty where it does not.

    A refusal with the status of a failure is one too where its message says that this is not supported: the status is wrong, and the
    server within its rights.
    """
    fault = exchange.fault
    if fault is None or fault.kind not in ("refused", "server_error"):
        return ""
    if fault.kind == "server_error" and not _UNSUPPORTED.search(fault.message):
        return ""
    return f"refused: {fault.message[:most]}"


def fault_finding(exchange: Exchange) -> Finding | None:
    """Of an exchange without a reply: the code says whether the surroundings (INFRA) or the protocol are to blame."""
    if exchange.fault is None:
        return None
    evidence = {"kind": exchange.fault.kind, "status": exchange.fault.status, "body": exchange.fault.body[:400]}
    return Finding(code=exchange.fault.code, severity="critical", title=exchange.fault.message, evidence=evidence)
