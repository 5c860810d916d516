"""One head, counted: what it is made of, what it shares with the trunk, what is missing in it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_mtp.checkpoint.completeness import hollow, joined, lacking, mixed, name_of, numbers
from pytest_mtp.checkpoint.family import Family
from pytest_mtp.checkpoint.joins import Join, Kind
from pytest_mtp.checkpoint.scopes import Part, Place
from pytest_mtp.checkpoint.storage import Storage
from pytest_mtp.checkpoint.tensor import Tensor
from pytest_mtp.core.record import Record

_EMBEDDING = re.compile(r"(?:^|[._])(?:embed_tokens|tok_embeddings|word_embeddings|tok_emb|token_embd|embeddings)(?:\.|$)")
_OUTPUT = re.compile(r"(?:^|\.)(?:lm_head|shared_head_head|shared_head\.head|shared_head\.output)(?:\.|$)|^(?:output|head)\.weight$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Head(Record):
    """`layers` counts drafting layers; `where` is the prefix of the names.

    `parameters` are weights, packed ones unpacked; `nbytes` is everything stored for the head, scales included;
    `storage` maps each element type to its bytes, the largest first. `bits_per_weight` is taken over the matrices alone,
    since those are what a recipe quantises. `depth` is how many layers the config promises. `missing` names what should be
    there. `own_file`: there is no trunk beside it.
    """

    kind: Kind
    family: str | None
    join: str | None
    scope: str
    where: str
    layers: int
    depth: int | None
    tensors: int
    parameters: int
    nbytes: int
    storage: Mapping[str, int]
    bits_per_weight: float
    own_embeddings: bool
    own_output: bool
    own_file: bool
    files: tuple[str, ...]
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A head with its tensors, for the checks that need them."""

    head: Head
    place: Place
    join: Join | None

    @property
    def parts(self) -> list[Part]:
        """All of it."""
        return [part for layer in self.place.layers.values() for part in layer]

    def of(self, word: str) -> list[Tensor]:
        """The tensors of one of the join's modules."""
        return [tensor for rest, tensor in self.parts if rest.partition(".")[0] == word]


def count(
    place: Place, *, family: Family | None, depth: int | None, storage: Storage, trunk: Mapping[int, Sequence[Part]], has_trunk: bool
) -> Found:
    """The head that stands in this place. `trunk` is empty where comparing with it would say nothing."""
    join, missing = joined(place, family)
    torn = [*missing, *hollow(place, family, join)]
    if family and not torn and not mixed(place, family):
        torn = lacking(place, trunk)
    parts = [part for layer in place.layers.values() for part in layer]
    weights = nbytes = matrix_weights = 0
    matrix_bits = 0.0
    by_label: dict[str, int] = {}
    for _, tensor in parts:
        held = storage.held(tensor)
        nbytes += tensor.nbytes
        if held.weights:
            weights += held.weights
            by_label[held.label] = by_label.get(held.label, 0) + tensor.nbytes
            if len(tensor.shape) > 1:
                matrix_weights += held.weights
                matrix_bits += held.weights * held.bits
    layers = numbers(place)
    head = Head(
        kind=_kind(join, place),
        family=family.name if family else None,
        join=join.name if join else None,
        scope=place.scope,
        where=name_of(place, layers[0]) if place.scope == "block" else place.where,
        layers=_drafting_layers(place, family, join),
        depth=depth,
        tensors=len(parts),
        parameters=weights,
        nbytes=nbytes,
        storage=dict(sorted(by_label.items(), key=_by_bytes)),
        bits_per_weight=round(matrix_bits / matrix_weights, 2) if matrix_weights else 0.0,
        own_embeddings=any(_EMBEDDING.search(rest) for rest, _ in parts),
        own_output=any(_OUTPUT.search(rest) for rest, _ in parts),
        own_file=not has_trunk,
        files=tuple(sorted({tensor.file for _, tensor in parts})),
        missing=tuple(torn),
    )
    return Found(head=head, place=place, join=join)


def _by_bytes(item: tuple[str, int]) -> int:
    return -item[1]


def _kind(join: Join | None, place: Place) -> Kind:
    """EAGLE-3 without a draft vocabulary is told from EAGLE by its projection, which takes three hidden states."""
    if join is None:
        return "unknown"
    if join.name == "eagle":
        shapes = [tensor.shape for rest, tensor in place.layers.get(None, ()) if rest in ("fc.weight", "fc")]
        if any(len(shape) == 2 and shape[1] == 3 * shape[0] for shape in shapes):
            return "eagle3"
    return join.kind


def _drafting_layers(place: Place, family: Family | None, join: Join | None) -> int:
    """Nemotron-H's and Gemma's blocks make one layer together; Medusa has one head a position."""
    if mixed(place, family) or (join and join.name == "pre-post"):
        return 1
    if join and join.name == "medusa":
        return len({rest.partition(".")[0] for rest, _ in place.layers.get(None, ())})
    return max(len(numbers(place)), 1)
