"""Careful hands for JSON documents that a stranger wrote: what is missing or of another type becomes empty."""

from __future__ import annotations

import math
from collections.abc import Mapping

from pytest_mtp.client.document import DocumentError, parse_json
from pytest_mtp.core.protocols import Client

_TOO_MANY = 2**63  # ratios of larger numbers may not fit into a float


def mapping(value: object) -> Mapping[str, object]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def items(value: object) -> tuple[Mapping[str, object], ...]:
    """The objects of a list, other entries left out."""
    return tuple(item for item in value if isinstance(item, Mapping)) if isinstance(value, list) else ()


def text(value: object) -> str | None:
    """A string that says something."""
    return value if isinstance(value, str) and value else None


def count(value: object) -> int | None:
    """A number of things: a non-negative integer of 63 bits, also where it came as 3.0."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return int(value) if 0 <= value < _TOO_MANY and value == int(value) else None


def fetch_json(client: Client, path: str) -> object:
    """The parsed body of a GET, None when there is no 2xx with JSON."""
    got = client.fetch(path)
    if not got.ok:
        return None
    return parsed(got.text)


def parsed(body: str) -> object:
    """JSON within the bounds of the client, else None."""
    try:
        value: object = parse_json(body, [])
    except DocumentError:
        return None
    return value


def owners(models: Mapping[str, object]) -> frozenset[str]:
    """The `owned_by` values under `/v1/models`: most engines sign there."""
    return frozenset(owner for model in items(models.get("data")) if (owner := text(model.get("owned_by"))))
