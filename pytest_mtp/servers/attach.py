"""Attach to a server that is already running."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from functools import partial

from pytest_mtp.core.errors import UsageError
from pytest_mtp.core.exchange import Fault
from pytest_mtp.core.facts import Endpoint, ServerFacts
from pytest_mtp.core.protocols import Client
from pytest_mtp.core.reply import Reply
from pytest_mtp.servers.address import Address, parse_address
from pytest_mtp.servers.discovery import Discovery, choose_model, discover, unlisted
from pytest_mtp.servers.engines.registry import engine_of, identify
from pytest_mtp.servers.probes import attempt, probe, prove_ready
from pytest_mtp.servers.server import BoundServer, open_client
from pytest_mtp.servers.trouble import trouble

DEFAULT_CONCURRENCY = 4

Opener = Callable[[Endpoint], Client]


def attach(url: str, *, model: str | None, api_key_env: str | None, api_key: str | None, timeout_s: float) -> BoundServer:
    """Find the API below `url`, prove that it answers, and learn what it is.

    Raise UsageError for a wrong address or an unset key variable, InfraError with its INFRA code for everything that the
    server or the network did. `timeout_s` bounds each request, and also the wait for a model that still loads.
    """
    address = parse_address(url)
    if api_key is None and api_key_env is not None:
        api_key = os.environ.get(api_key_env)
        if not api_key:
            raise UsageError(f"the environment variable {api_key_env!r}, named for the API key, is not set")
    opener = partial(open_client, api_key=api_key, timeout_s=timeout_s)
    return attach_with(opener, address, model=model, api_key_env=api_key_env, wait_s=timeout_s, key_sent=api_key is not None)


def attach_with(
    opener: Opener, address: Address, *, model: str | None, api_key_env: str | None, wait_s: float, key_sent: bool
) -> BoundServer:
    """The same over any kind of client."""
    scout = opener(Endpoint(root=address.root, api_root=address.api_roots[0], model=model or "", api_key_env=api_key_env))
    try:
        found = discover(scout, address, wait_s=wait_s, key_sent=key_sent)
    finally:
        scout.close()
    evidence = list(address.notes)
    if found is None:
        client, endpoint, first = _blindly(opener, address, model=model, api_key_env=api_key_env, key_sent=key_sent)
        evidence.append(f"{endpoint.api_root}/models is missing: the name {endpoint.model!r} was taken on trust")
        found = Discovery(api_root=endpoint.api_root, names=(endpoint.model,), aliases={}, document={})
    else:
        name, why = choose_model(found, model)
        evidence += why
        endpoint = Endpoint(root=address.root, api_root=found.api_root, model=name, api_key_env=api_key_env)
        client = opener(endpoint)
        try:
            first = prove_ready(client, url=found.api_root, model=name, key_sent=key_sent)
        except BaseException:
            client.close()
            raise
    return BoundServer(introduce(client, endpoint, found, first, evidence), client)


def introduce(client: Client, endpoint: Endpoint, found: Discovery, first: Reply, evidence: Sequence[str]) -> ServerFacts:
    """Everything that a server which answered tells about itself.

    The engine's own pages are read last: some of them fill only after a request.
    """
    engine, reasons = identify(client, found.document)
    probed = probe(client, engine, first)
    facts = ServerFacts(
        endpoint=endpoint,
        engine=engine.name,
        model=endpoint.model,
        models=found.names,
        concurrency=DEFAULT_CONCURRENCY,
        capabilities=probed.capabilities,
        evidence=(*evidence, *reasons, *probed.evidence),
        details=probed.details,
    )
    facts = engine.facts(client, facts)
    bound = engine_of(facts)
    offered = True if bound.acceptance_of(first) else facts.capabilities.request_acceptance
    capabilities = dataclasses.replace(facts.capabilities, metrics=bound.counters(client) is not None, request_acceptance=offered)
    return dataclasses.replace(facts, capabilities=capabilities)


def _blindly(
    opener: Opener, address: Address, *, model: str | None, api_key_env: str | None, key_sent: bool
) -> tuple[Client, Endpoint, Reply]:
    """Without a list of models the first root that completes is the API."""
    fault: Fault | None = None
    for api_root in address.api_roots:
        endpoint = Endpoint(root=address.root, api_root=api_root, model=model or "", api_key_env=api_key_env)
        client = opener(endpoint)
        answer = attempt(client)
        if isinstance(answer, Reply) and model:
            return client, endpoint, answer
        client.close()
        if isinstance(answer, Reply):
            break
        fault = answer
        if answer.kind != "not_found":
            break
    if model is None or fault is None:
        raise unlisted(address, fault)
    raise trouble(fault, url=address.root, doing=f"asking {model!r} for one token", key_sent=key_sent)
