"""A name for a checkpoint's structure: the same for renamed shards, reordered keys and another folder."""

from __future__ import annotations

import hashlib
import json
from operator import itemgetter

from pytest_mtp.checkpoint.opened import Opened

_STRUCTURE = (
    "model_type", "text_type", "architectures", "layers", "hidden_size", "vocab_size", "heads", "kv_heads", "head_dim", "experts",
    "experts_per_token", "rope_theta", "declared", "quantised_by",
)  # fmt: skip
_PIECE = 20_000  # names hashed at once


class _Shapes(dict[tuple[int, ...], str]):
    """The words of each distinct shape, of which a large checkpoint has few."""

    def __missing__(self, shape: tuple[int, ...]) -> str:
        self[shape] = str(shape)
        return self[shape]


def digest(opened: Opened) -> str:
    """SHA-256 over the name, element type and shape of every tensor in the order of names, and over what the config says of them.

    It is taken from headers: two fine-tunes of one model have the same digest.
    """
    facts = opened.facts.to_dict()
    summary = hashlib.sha256(json.dumps({key: facts[key] for key in _STRUCTURE}, sort_keys=True).encode())
    shapes = _Shapes()
    ordered = sorted(opened.tensors.values(), key=itemgetter(0))
    for begin in range(0, len(ordered), _PIECE):
        lines = [f"{name}\0{dtype}\0{shapes[shape]}\n" for name, dtype, shape, _, _, _ in ordered[begin : begin + _PIECE]]
        summary.update("".join(lines).encode("utf-8", "surrogatepass"))
    if opened.vocabulary:
        summary.update(opened.vocabulary[0].encode())
    return f"headers-sha256:{summary.hexdigest()}"
