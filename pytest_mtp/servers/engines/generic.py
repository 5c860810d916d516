"""Any server that speaks the OpenAI API and whose engine we do not know."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.facts import ServerFacts
from pytest_mtp.core.protocols import Client
from pytest_mtp.servers.engines.base import Adapter
from pytest_mtp.servers.engines.document import owners
from pytest_mtp.servers.engines.prefill import with_final_assistant


@dataclass(frozen=True, slots=True, kw_only=True)
class Generic(Adapter):
    """`continues` is what the probe at start saw: whether vLLM's fields for going on with a message work here."""

    name: str = "generic"
    continues: bool = False

    def identify(self, client: Client, models: Mapping[str, object]) -> Sequence[str]:  # noqa: ARG002 (nothing else to ask)
        """Always: it is what remains when no other engine knows itself."""
        signed = ", ".join(sorted(owners(models)))
        return (f"/v1/models: owned_by is '{signed}', for which there is no adapter" if signed else "no engine signs under /v1/models",)

    def bound(self, facts: ServerFacts) -> Generic:
        """With what the probe saw."""
        return dataclasses.replace(self, continues=bool(facts.capabilities.prefill))

    def continuation(self, ask: Ask, prefix: str) -> Ask | None:
        """None unless the server was seen to continue a final assistant message."""
        if not self.continues:
            return None
        return with_final_assistant(ask, prefix, {"continue_final_message": True, "add_generation_prompt": False})
