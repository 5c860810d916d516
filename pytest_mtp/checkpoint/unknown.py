"""Heads of families that nobody told us of, known by their shape: a projection of 2H to H beside two vectors of H."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pytest_mtp.checkpoint.scopes import Place
from pytest_mtp.checkpoint.tensor import Tensor

_FOREIGN = re.compile(r"(?i)vision|visual|vit\b|image|audio|speech|encoder|projector|resampler|merger|connector|tower|pooler|classifier")
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
    places = []
    for parent, group in beside.items():
        if any(_joins(tensor, group, hidden_size) for tensor in group):
            begin = f"{parent}." if parent else ""
            owned = [
                tensor for name, members in beside.items() if name == parent or (begin and name.startswith(begin)) for tensor in members
            ]
            own = [tensor for tensor in owned if parent or not _TRUNK_ENDS.match(tensor.name)]
            place = Place("shape", parent or "(top level)")
            place.layers[None] = [(tensor.name.removeprefix(begin), tensor) for tensor in own]
            places.append(place)
    return [place for place in places if not any(place.where.startswith(f"{other.where}.") for other in places)]


def _joins(tensor: Tensor, group: list[Tensor], hidden_size: int | None) -> bool:
    if len(tensor.shape) != 2 or min(tensor.shape) < 8 or max(tensor.shape) != 2 * min(tensor.shape):
        return False
    size = min(tensor.shape)
    if hidden_size is not None and size != hidden_size:
        return False
    return sum(1 for other in group if other.shape == (size,) and not other.name.endswith("bias")) >= 2
