"""Ollama. Written from its source of August 2026; not run here."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from pytest_mtp.core.facts import ProcessFacts, ServerFacts, SpecDecode
from pytest_mtp.core.protocols import Client
from pytest_mtp.core.record import Json
from pytest_mtp.core.reply import Reply
from pytest_mtp.servers.engines.base import Adapter
from pytest_mtp.servers.engines.document import count, fetch_json, items, mapping, owners, text

_FINGERPRINT = "fp_ollama"
_NOT_OFFERED = (
    "acceptance: draft counts are in the server's log only; no reply and no page has them",
    "server counters: there is no page of metrics",
    "speculation off for a single request: /v1 drops draft_num_predict; a second model with PARAMETER draft_num_predict 0 is the other arm",
    "cached prompt tokens: usage has none",
)
# a separate draft model is used with 4 drafts a step by default, MTP tensors of the model's own only where the parameter is set
_UNTOLD = "no page tells whether the model drafts: that follows from its files and from PARAMETER draft_num_predict"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ollama(Adapter):
    """Nothing in its API tells of drafts; text and speed are all there is to compare."""

    name: str = "ollama"

    def recognise(self, reply: Reply) -> Sequence[str]:
        """By the fingerprint that every reply carries."""
        return (f"system_fingerprint is '{_FINGERPRINT}'",) if reply.system_fingerprint == _FINGERPRINT else ()

    def identify(self, client: Client, models: Mapping[str, object]) -> Sequence[str]:
        """By its version beside the owner `library`, which is only the folder of its models, else by the words at its root."""
        if "library" in owners(models) and text(mapping(fetch_json(client, "/api/version")).get("version")):
            return ("/v1/models: owned_by is 'library', and /api/version answers",)
        root = client.fetch("/")
        return ("/ says that Ollama is running",) if root.ok and root.text.strip() == "Ollama is running" else ()

    def facts(self, client: Client, facts: ServerFacts) -> ServerFacts:
        """Version, and what `/api/ps` says of the loaded model."""
        version = text(mapping(fetch_json(client, "/api/version")).get("version"))
        loaded = items(mapping(fetch_json(client, "/api/ps")).get("models"))
        names = (facts.model, f"{facts.model}:latest")
        entry = next((one for one in loaded if one.get("name") in names or one.get("model") in names), {})
        about = mapping(entry.get("details"))
        told: dict[str, Json] = {key: text(about.get(key)) for key in ("format", "family", "parameter_size", "quantization_level")}
        told["digest"] = text(entry.get("digest"))
        return dataclasses.replace(
            facts,
            engine_version=version or facts.engine_version,
            context_length=count(entry.get("context_length")) or facts.context_length,
            capabilities=dataclasses.replace(facts.capabilities, request_acceptance=False, switch_off=False, cache_proof=False),
            speculation=SpecDecode(evidence=(_UNTOLD,)),
            not_offered=(*facts.not_offered, *_NOT_OFFERED),
            details={**facts.details, **{key: value for key, value in told.items() if value is not None}},
        )

    def read_command(self, command: Sequence[str], environ: Mapping[str, str]) -> ProcessFacts | None:
        """`ollama serve`, which is configured by variables; the models run in processes of their own."""
        if not command or PurePath(command[0]).name not in ("ollama", "ollama.exe") or "serve" not in command[1:]:
            return None
        width = environ.get("OLLAMA_NUM_PARALLEL", "")
        plain = width.isascii() and width.isdecimal() and len(width) < 12
        return ProcessFacts(pid=0, started_at=0.0, command=(), sequences=int(width) or None if plain else None)
