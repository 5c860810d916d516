"""The identity card of a server that has answered."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from pytest_mtp.core.facts import Endpoint, ProcessFacts, ServerFacts
from pytest_mtp.core.protocols import Client
from pytest_mtp.core.record import Json
from pytest_mtp.core.reply import Reply
from pytest_mtp.servers.discovery import Discovery
from pytest_mtp.servers.engines.document import count, items
from pytest_mtp.servers.engines.registry import engine_of, identify
from pytest_mtp.servers.local import process_behind
from pytest_mtp.servers.probes import probe

DEFAULT_CONCURRENCY = 4


def introduce(client: Client, endpoint: Endpoint, found: Discovery, first: Reply, evidence: Sequence[str]) -> ServerFacts:
    """Everything that a server which answered tells about itself.

    The engine's own pages are read last: some of them fill only after a request. `details.reply_model` is the name under which
    it answered, which need not be the one that was asked for; `details.system_fingerprint` stands beside it.
    """
    engine, reasons = identify(client, found.document, first)
    probed = probe(client, engine, first)
    facts = ServerFacts(
        endpoint=endpoint,
        engine=engine.name,
        model=endpoint.model,
        models=found.names,
        concurrency=DEFAULT_CONCURRENCY,
        context_length=_context_length(found, endpoint.model),
        capabilities=dataclasses.replace(probed.capabilities, request_acceptance=True if engine.acceptance_of(first) else None),
        evidence=(*evidence, *reasons, *probed.evidence),
        details={**probed.details, **_signed(first)},
    )
    facts = engine.facts(client, facts)
    bound = engine_of(facts)
    offered = True if bound.acceptance_of(first) else facts.capabilities.request_acceptance
    capabilities = dataclasses.replace(facts.capabilities, metrics=bound.counters(client) is not None, request_acceptance=offered)
    seen = process_behind(facts, bound)
    return dataclasses.replace(
        facts,
        capabilities=capabilities,
        concurrency=_concurrency(facts, seen.process),
        process=seen.process,
        evidence=(*facts.evidence, *seen.evidence),
        details={**facts.details, **({"port_shared_by": list(seen.rivals)} if seen.rivals else {})},
    )


def _concurrency(facts: ServerFacts, process: ProcessFacts | None) -> int | None:
    """What the engine tells; where it does not, no more than its command line lets run at once."""
    if facts.sequences is None and facts.concurrency and process is not None and process.sequences:
        return min(facts.concurrency, process.sequences)
    return facts.concurrency


def _signed(first: Reply) -> dict[str, Json]:
    told = {"reply_model": first.model, "system_fingerprint": first.system_fingerprint}
    return {name: value for name, value in told.items() if value}


def _context_length(found: Discovery, model: str) -> int | None:
    """Some servers, vLLM among them, say it under `/v1/models`."""
    name = found.aliases.get(model, model)
    return next((count(entry.get("max_model_len")) for entry in items(found.document.get("data")) if entry.get("id") == name), None)
