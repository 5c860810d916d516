"""Heads of families that nobody told us of, known by their shape: a projection of 2H to H beside two vectors of H."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from pytest_mtp.checkpoint.scopes import Place
from pytest_mtp.checkpoint.tensor import Tensor

_FOREIGN = re.compile(r"(?i)vision|visual|vit\b|image|audio|speech|encoder|projector|resampler|merger|connector|tower|pooler|classifier")
_MOST = 32
_TRUNK_ENDS = re.compile(
    r"^(?:model\.|language_model\.|backbone\.|transformer\.)*(?:embed|lm_head|output|norm|token_embd|wte|final|ln_f|word_emb|rope)"
)


def by_shape(tensors: Iterable[Tensor], *, hidden_size: int | None) -> list[Place]:
    """Groups of tensors that join two hidden states. `hidden_size` None takes H from each projection itself."""
    beside: dict[str, list[Tensor]] = {}
    for tensor in tensors:
        if not _FOREIGN.search(tensor.name):
            module = tensor.name.rpartition(".")[0]
            beside.setdefault(module.rpartition(".")[0], []).append(tensor)
    places: list[Place] = []
    for parent, group in beside.items():
        vectors = Counter(tensor.shape[0] for tensor in group if len(tensor.shape) == 1 and not tensor.name.endswith("bias"))
        if any(_joins(tensor.shape, vectors, hidden_size) for tensor in group):
            begin = f"{parent}." if parent else ""
            inside = [name for name in beside if name == parent or (begin and name.startswith(begin))]
            own = [tensor for name in inside for tensor in beside[name] if parent or not _TRUNK_ENDS.match(tensor.name)]
            place = Place("shape", parent or "(top level)")
            place.layers[None] = [(tensor.name.removeprefix(begin), tensor) for tensor in own]
            places.append(place)
            if len(places) == _MOST:
                break
    return [place for place in places if not any(place.where.startswith(f"{other.where}.") for other in places)]


def _joins(shape: tuple[int, ...], vectors: Mapping[int, int], hidden_size: int | None) -> bool:
    if len(shape) != 2 or min(shape) < 8 or max(shape) != 2 * min(shape):
        return False
    return hidden_size in (None, min(shape)) and vectors.get(min(shape), 0) >= 2
