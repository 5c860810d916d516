"""The doors between rooms: what a check may ask of a client, a lease and a server without importing them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.exchange import Exchange, Fault
from pytest_mtp.core.facts import Acceptance, Control, Counters, Load, ProcessFacts, ServerFacts
from pytest_mtp.core.reply import Reply
from pytest_mtp.core.weights import Weights


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A plain GET: exactly one of `fault` and (`status`, `text`) tells. Statuses other than 2xx are not faults here."""

    status: int = 0
    text: str = ""
    headers: Mapping[str, str] | None = None
    fault: Fault | None = None

    @property
    def ok(self) -> bool:
        """A 2xx with no fault."""
        return self.fault is None and 200 <= self.status < 300


class Client(Protocol):
    """Asks one server. Thread-safe. Never raises for anything that a server or the network did."""

    def ask(self, ask: Ask, *, retried: bool = True) -> Exchange:
        """One exchange, retries inside; with `retried` False one attempt, whatever becomes of it."""

    def abandon(self, ask: Ask, *, after_reads: int, patience_s: float) -> bool:
        """Send it and hang up after that many pieces of the answer, or after `patience_s`. True: it was cut short."""

    def fetch(self, path: str) -> Fetched:
        """GET `path` below the server's root (`/metrics`, `/props`); absolute URLs are not taken."""

    def close(self) -> None:
        """Close the connections."""


class Lease(Protocol):
    """Who may talk to the server: many at once, or one alone. Across threads and processes."""

    def shared(self) -> AbstractContextManager[None]:
        """Held around each ordinary request."""

    def exclusive(self) -> AbstractContextManager[None]:
        """Held around a measurement: no other request overlaps it."""


class Engine(Protocol):
    """One kind of server: how to know it, read it, and speak its dialect. Stateless, but for what `bound` gave it.

    `servers.engines.base.Adapter` answers every method with "not offered": an adapter says what differs.
    """

    @property
    def name(self) -> str:
        """Lower case, as on the command line."""

    def recognise(self, reply: Reply) -> Sequence[str]:
        """Reasons from the first reply alone, its headers and its fingerprint; none where these do not tell. No request."""

    def identify(self, client: Client, models: Mapping[str, object]) -> Sequence[str]:
        """Reasons to believe that this is the engine, none when it is not; `models` is the parsed `/v1/models`."""

    def bound(self, facts: ServerFacts) -> Engine:
        """The adapter of this one server: itself, or a copy that holds what the facts say of its dialect."""

    def facts(self, client: Client, facts: ServerFacts) -> ServerFacts:
        """The same facts with what this engine tells about itself."""

    def counters(self, client: Client) -> Counters | None:
        """Cumulative counters of the whole server, or None where it has none."""

    def load(self, client: Client) -> Load | None:
        """How busy it is now, or None where it does not tell."""

    def acceptance_of(self, reply: Reply) -> Acceptance | None:
        """Draft counts of one reply. None: not offered. drafted 0: offered, and nothing was drafted."""

    def instrumented(self, ask: Ask) -> Ask:
        """The same ask with the engine's own fields that make its reply tell token ids, cached tokens and drafts."""

    def unspeculated(self, ask: Ask) -> Ask | None:
        """The same ask answered without speculation, or None where only a restart switches it off."""

    def continuation(self, ask: Ask, prefix: str) -> Ask | None:
        """An ask that continues `prefix` as the assistant's own words, or None where this cannot be said."""

    def read_command(self, command: Sequence[str], environ: Mapping[str, str]) -> ProcessFacts | None:
        """What the command line of a process says, `pid` 0 and the command itself left out; None: not this engine's."""


class Server(Protocol):
    """A server under test, attached or launched."""

    @property
    def facts(self) -> ServerFacts:
        """As known at start."""

    @property
    def engine(self) -> Engine:
        """Its adapter."""

    @property
    def client(self) -> Client:
        """Bound to its endpoint."""

    def alive(self) -> bool:
        """False once the process that we launched has ended, or an attached server refuses connections."""

    def log_tail(self, lines: int = 20) -> str:
        """The last lines of its log; empty for an attached server."""


class CheckContext(Protocol):
    """What the plugin hands to a check."""

    @property
    def server(self) -> Server:
        """Under test."""

    @property
    def lease(self) -> Lease:
        """Of that server."""

    @property
    def weights(self) -> Weights | None:
        """Of the checkpoint that the user named beside the server; None where none was."""

    def control(self) -> Control:
        """The control of this run: measured at the first call in any process, the same value afterwards."""

    def ask(self, ask: Ask) -> Exchange:
        """Under the shared lease, recorded as evidence."""

    def ask_many(self, asks: Sequence[Ask]) -> Sequence[Exchange]:
        """Each under the shared lease, at the server's concurrency, answers in order."""

    def ask_alone(self, ask: Ask) -> Exchange:
        """Recorded; the caller holds the exclusive lease."""

    def burst(self, asks: Sequence[Ask]) -> Sequence[Exchange]:
        """All sent at once, none of them twice, answers in order; recorded; the caller holds the exclusive lease."""

    def progress(self, words: str) -> None:
        """A line for a waiting person; may go nowhere."""

    def again(self) -> bool:
        """Whether a check that repeats itself has room for once more; False when the budget of the run is used up."""
