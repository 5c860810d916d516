"""What every adapter can do when its engine offers nothing: the answers of an engine that tells nothing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.facts import Acceptance, Counters, Load, ProcessFacts, ServerFacts
from pytest_mtp.core.protocols import Client, Engine
from pytest_mtp.core.reply import Reply


class Adapter(ABC):
    """Implements core.protocols.Engine but for `name` and `identify`; an adapter overrides what its engine offers."""

    __slots__ = ()
    name: str

    def recognise(self, reply: Reply) -> Sequence[str]:  # noqa: ARG002 (it signs nowhere in a reply)
        """None."""
        return ()

    @abstractmethod
    def identify(self, client: Client, models: Mapping[str, object]) -> Sequence[str]:
        """As the Protocol says."""

    def bound(self, facts: ServerFacts) -> Engine:  # noqa: ARG002 (nothing of the facts is needed)
        """Itself."""
        return self

    def facts(self, client: Client, facts: ServerFacts) -> ServerFacts:  # noqa: ARG002 (no page tells more)
        """The same facts."""
        return facts

    def counters(self, client: Client) -> Counters | None:  # noqa: ARG002 (no page has them)
        """None."""
        return None

    def load(self, client: Client) -> Load | None:  # noqa: ARG002 (no page has it)
        """None."""
        return None

    def acceptance_of(self, reply: Reply) -> Acceptance | None:  # noqa: ARG002 (no field has it)
        """None."""
        return None

    def instrumented(self, ask: Ask) -> Ask:
        """The same ask: no field of the engine's own is known."""
        return ask

    def unspeculated(self, ask: Ask) -> Ask | None:  # noqa: ARG002 (only a restart helps)
        """None."""
        return None

    def continuation(self, ask: Ask, prefix: str) -> Ask | None:  # noqa: ARG002 (it cannot be said)
        """None."""
        return None

    def read_command(self, command: Sequence[str], environ: Mapping[str, str]) -> ProcessFacts | None:  # noqa: ARG002 (unknown flags)
        """None."""
        return None
