"""From an opened checkpoint to its heads: the pure middle of the room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_mtp.checkpoint.contradictions import trunk_gaps, with_head, without_head
from pytest_mtp.checkpoint.depth import Promise, promise
from pytest_mtp.checkpoint.families import DRAFTERS, TABLE
from pytest_mtp.checkpoint.family import Family, match
from pytest_mtp.checkpoint.head import Found, count
from pytest_mtp.checkpoint.opened import Opened
from pytest_mtp.checkpoint.recipe import recipe_findings
from pytest_mtp.checkpoint.scopes import Place, Sorted, sort
from pytest_mtp.checkpoint.storage import Storage
from pytest_mtp.checkpoint.unknown import by_shape
from pytest_mtp.checkpoint.weights import weigh
from pytest_mtp.core.verdict import Finding
from pytest_mtp.core.weights import Weights


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """`heads` stand in the order in which they count: known joins first, then by size."""

    family: Family | None
    parts: Sorted
    promised: Promise
    heads: tuple[Found, ...]
    weights: Weights
    findings: tuple[Finding, ...]


def look(opened: Opened) -> Look:
    """Finds heads by tensors, then holds the config against them."""
    facts = opened.facts
    family = match(facts.names, TABLE)
    drafter = family is not None and (family.separate or facts.model_type == family.drafter)
    parts = sort(opened.tensors.values(), layers=facts.layers, drafter=drafter)
    storage = Storage(opened.recipe, opened.tensors, gguf=opened.gguf)
    promised = promise(facts, family, gguf=opened.gguf)
    heads = _heads(opened, parts, family, promised, storage)
    weights = weigh(parts, heads, facts, storage)
    findings = list(opened.findings)
    for found in heads:
        findings += with_head(opened, found, promised, family)
        findings += recipe_findings(found, opened.recipe, storage, body_bits=weights.bits_per_weight)
    if not heads:
        findings += without_head(opened, promised)
    findings += trunk_gaps(opened, parts.trunk)
    return Look(family=family, parts=parts, promised=promised, heads=heads, weights=weights, findings=tuple(findings))


def _heads(opened: Opened, parts: Sorted, family: Family | None, promised: Promise, storage: Storage) -> tuple[Found, ...]:
    places = list(parts.heads)
    shaped = by_shape(parts.other, hidden_size=opened.facts.hidden_size) if not places else []
    head_family = family if family not in DRAFTERS or any(place.scope == "root" for place in places) else None
    found = [
        count(
            place,
            family=head_family if place.scope != "shape" else None,
            depth=promised.depth,
            storage=storage,
            trunk=parts.trunk,
            has_trunk=bool(parts.trunk),
        )
        for place in _worth(places) + shaped
    ]
    return tuple(sorted(found, key=lambda one: (one.join is None, -one.head.nbytes)))


def _worth(places: Sequence[Place]) -> list[Place]:
    """Not a lone embedding under `mtp.` that belongs to a head elsewhere (dots3 keeps one there)."""
    if len(places) < 2:
        return list(places)
    return [place for place in places if sum(map(len, place.layers.values())) > 1]
