"""Attach to a server that is already running."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from functools import partial

from pytest_mtp.client.redaction import scrubbed
from pytest_mtp.core.codes import CODES
from pytest_mtp.core.errors import InfraError, UsageError
from pytest_mtp.core.exchange import Fault
from pytest_mtp.core.facts import Endpoint
from pytest_mtp.core.protocols import Client
from pytest_mtp.core.reply import Reply
from pytest_mtp.servers.address import Address, parse_address
from pytest_mtp.servers.discovery import Discovery, choose_model, discover
from pytest_mtp.servers.engines.mlx_lm import STARTED_WITH, MlxLm
from pytest_mtp.servers.introduction import introduce
from pytest_mtp.servers.probes import attempt, prove_ready
from pytest_mtp.servers.server import BoundServer, open_client
from pytest_mtp.servers.trouble import trouble

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
    return attach_with(opener, address, model=model, api_key_env=api_key_env, api_key=api_key, wait_s=timeout_s)


def attach_with(
    opener: Opener, address: Address, *, model: str | None, api_key_env: str | None, api_key: str | None, wait_s: float
) -> BoundServer:
    """The same over any kind of client; `api_key` is only here to be kept out of messages that quote a server."""
    start = Endpoint(root=address.root, api_root=address.api_roots[0], model=model or "", api_key_env=api_key_env)
    try:
        return _attach(opener, address, start, model=model, key_sent=api_key is not None, wait_s=wait_s)
    except InfraError as error:
        raise InfraError(scrubbed(error.problem, api_key), code=error.code, hint=error.hint) from None


def _attach(opener: Opener, address: Address, start: Endpoint, *, model: str | None, key_sent: bool, wait_s: float) -> BoundServer:
    scout = opener(start)
    try:
        found = discover(scout, address, wait_s=wait_s, key_sent=key_sent)
    finally:
        scout.close()
    evidence = list(address.notes)
    started = None if found is None or found.binding else _as_started(opener, start, found, model=model, key_sent=key_sent)
    if found is not None and started is not None:
        endpoint = started
        evidence.append(f"{endpoint.api_root}/models does not tell what is served: the name {endpoint.model!r} was answered")
        found = Discovery(api_root=endpoint.api_root, names=(endpoint.model,), aliases={}, document={})
    elif found is None:
        endpoint = _blindly(opener, address, start, model=model, key_sent=key_sent)
        evidence.append(f"{endpoint.api_root}/models is missing: the name {endpoint.model!r} was taken on trust")
        found = Discovery(api_root=endpoint.api_root, names=(endpoint.model,), aliases={}, document={})
    else:
        name, why = choose_model(found, model)
        evidence += why
        endpoint = dataclasses.replace(start, api_root=found.api_root, model=name)
    client = opener(endpoint)
    try:
        first = prove_ready(client, url=endpoint.api_root, model=endpoint.model, key_sent=key_sent)
        return BoundServer(introduce(client, endpoint, found, first, evidence), client)
    except BaseException:
        client.close()
        raise


def _as_started(opener: Opener, start: Endpoint, found: Discovery, *, model: str | None, key_sent: bool) -> Endpoint | None:
    """By the name that was given, else by mlx-lm's for what it was started with. None where the list has to do after all."""
    if model in (*found.names, *found.aliases):
        return None
    endpoint = dataclasses.replace(start, api_root=found.api_root, model=model or STARTED_WITH)
    client = opener(endpoint)
    answer = attempt(client)
    client.close()
    if isinstance(answer, Reply):
        return endpoint if MlxLm().recognise(answer) or (model and not found.names) else None
    if model and not found.names and answer.code != "INFRA.path":  # mlx-lm's 404 speaks of the model
        raise trouble(answer, url=f"{found.api_root}/chat/completions", doing=f"asking {model!r} for one token", key_sent=key_sent)
    return None


def _blindly(opener: Opener, address: Address, start: Endpoint, *, model: str | None, key_sent: bool) -> Endpoint:
    """Without a list of models, the first root where chat completions exist is the API."""
    for api_root in address.api_roots:
        endpoint = dataclasses.replace(start, api_root=api_root)
        client = opener(endpoint)
        answer = attempt(client)
        client.close()
        if isinstance(answer, Fault) and _absent(answer):
            continue
        if isinstance(answer, Fault) and (model or answer.kind not in ("refused", "not_found")):
            raise trouble(answer, url=f"{api_root}/chat/completions", doing=f"asking {model or 'it'!r} for one token", key_sent=key_sent)
        if model is None:
            problem = f"{api_root} does not list its models, so the name of one is needed"
            raise InfraError(problem, code="INFRA.model", hint="Give it with --mtp-model NAME.")
        return endpoint
    problem = f"{address.root}: neither a list of models nor chat completions, at {' or '.join(address.api_roots)}"
    raise InfraError(problem, code="INFRA.path", hint=CODES["INFRA.path"].hint)


def _absent(fault: Fault) -> bool:
    """Nothing is served at this path; a 404 may also speak of the model."""
    return fault.code == "INFRA.path" or (fault.status == 404 and fault.code != "INFRA.model")
