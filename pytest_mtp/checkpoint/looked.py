"""What was looked for, and how often it was found: a negative that can be checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from pytest_mtp.checkpoint.family import SCOPE_PATTERNS, Scope
from pytest_mtp.checkpoint.joins import JOINS
from pytest_mtp.checkpoint.look import Look
from pytest_mtp.checkpoint.model import DEPTH_KEYS, HINT_KEYS, ModelFacts
from pytest_mtp.core.record import Record

_PIECE = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked(Record):
    """`found` counts tensors for places, names for words, and is the declared number for config keys (None: not there)."""

    kind: Literal["place", "words", "config"]
    what: str
    found: int | None


def looked_for(seen: Look, facts: ModelFacts) -> tuple[Looked, ...]:
    """Every place, every spelling of a join, and every key. The trunk's names count once for a run of equal layers."""
    heads = seen.heads
    at: dict[str, int] = {}
    for found in heads:
        at[found.head.scope] = at.get(found.head.scope, 0) + found.head.tensors
    scopes: dict[Scope, str] = SCOPE_PATTERNS
    rows = [Looked(kind="place", what=_numbered(pattern, facts), found=at.get(scope, 0)) for scope, pattern in scopes.items()]
    counts = dict.fromkeys((word for join in JOINS for word in join.words), 0)
    for names in _pieces(seen):
        text = "." + "\n.".join(names) + "\n"
        for word in counts:
            counts[word] += text.count(f".{word}.") + text.count(f".{word}\n")
    for join in JOINS:
        what = " + ".join(join.words) + (" (drafter files)" if join.own_file else "")
        rows.append(Looked(kind="words", what=what, found=min(counts[word] for word in join.words)))
    declared = {found.name.rpartition(".")[2]: found.layers for found in facts.declared}
    rows += [Looked(kind="config", what=key, found=declared.get(key.rpartition(".")[2])) for key in DEPTH_KEYS]
    rows += [Looked(kind="config", what=key, found=1 if key in facts.hints else None) for key in HINT_KEYS]
    return tuple(rows)


def _pieces(seen: Look) -> Iterator[Iterable[str]]:
    """All names in handy pieces, those of the trunk without their layer, and only where they differ from the layer before."""
    before: frozenset[str] = frozenset()
    for block in seen.parts.trunk.values():
        rests = frozenset(rest for rest, _ in block)
        yield rests - before
        before = rests
    for begin in range(0, len(seen.parts.other), _PIECE):
        yield [tensor.name for tensor in seen.parts.other[begin : begin + _PIECE]]
    for found in seen.heads:
        yield [tensor.name for _, tensor in found.parts]


def _numbered(pattern: str, facts: ModelFacts) -> str:
    return pattern if facts.layers is None else pattern.replace("{N+i}", f"{{{facts.layers}+i}}")
