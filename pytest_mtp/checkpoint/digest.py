"""A name for a checkpoint's structure: the same for renamed shards, reordered keys and another folder."""

from __future__ import annotations

import hashlib
import json

from pytest_mtp.checkpoint.opened import Opened

_STRUCTURE = (
    "model_type", "text_type", "architectures", "layers", "hidden_size", "vocab_size", "heads", "kv_heads", "head_dim", "experts",
    "experts_per_token", "rope_theta", "declared", "quantised_by",
)  # fmt: skip


def digest(opened: Opened) -> str:
    """SHA-256 over the name, element type and shape of every tensor in the order of names, and over what the config says of them.

    It is taken from headers: two fine-tunes of one model have the same digest.
    """
    facts = opened.facts.to_dict()
    summary = hashlib.sha256(json.dumps({key: facts[key] for key in _STRUCTURE}, sort_keys=True).encode())
    shapes: dict[tuple[int, ...], str] = {}
    lines = []
    for name in sorted(opened.tensors):
        tensor = opened.tensors[name]
        shape = shapes.get(tensor.shape) or shapes.setdefault(tensor.shape, str(tensor.shape))
        lines.append(f"{name}\0{tensor.dtype}\0{shape}")
    summary.update("\n".join(lines).encode("utf-8", "surrogatepass"))
    if opened.vocabulary:
        summary.update(opened.vocabulary[0].encode())
    return f"headers-sha256:{summary.hexdigest()}"
