"""Any server that speaks the OpenAI API and whose engine we do not know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.facts import Acceptance, ServerFacts
from pytest_mtp.core.protocols import Client
from pytest_mtp.core.reply import Reply
from pytest_mtp.servers.engines.document import owners
from pytest_mtp.servers.engines.prefill import with_final_assistant


@dataclass(frozen=True, slots=True, kw_only=True)
class Generic:
    """`continues` is what the probe at start saw: whether vLLM's fields for going on with a message work here."""

    name: str = "generic"
    continues: bool = False

    def identify(self, client: Client, models: Mapping[str, object]) -> Sequence[str]:  # noqa: ARG002 (nothing else to ask)
        """Always: it is what remains when no other engine knows itself."""
        signed = ", ".join(sorted(owners(models)))
        return (f"/v1/models: owned_by is '{signed}', for which there is no adapter" if signed else "no engine signs under /v1/models",)

    def facts(self, client: Client, facts: ServerFacts) -> ServerFacts:  # noqa: ARG002 (no common place tells more)
        """The same facts."""
        return facts

    def counters(self, client: Client) -> Acceptance | None:  # noqa: ARG002 (names of counters differ by engine)
        """None: no name of a counter is common to all engines."""
        return None

    def acceptance_of(self, reply: Reply) -> Acceptance | None:  # noqa: ARG002 (no field is common to all engines)
        """None: the OpenAI format has no field for it."""
        return None

    def continuation(self, ask: Ask, prefix: str) -> Ask | None:
        """None unless the server was seen to continue a final assistant message."""
        if not self.continues:
            return None
        return with_final_assistant(ask, prefix, {"continue_final_message": True, "add_generation_prompt": False})
