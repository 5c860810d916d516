"""The bytes of a checkpoint by what they are for, and how many of them one token needs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pytest_mtp.checkpoint.head import Found
from pytest_mtp.checkpoint.model import ModelFacts
from pytest_mtp.checkpoint.scopes import Sorted
from pytest_mtp.checkpoint.storage import Storage
from pytest_mtp.checkpoint.tensor import Tensor
from pytest_mtp.core.weights import Weights

_EMBEDDING = re.compile(
    r"(?:^|\.)(?:embed_tokens|tok_embeddings|word_embeddings|token_embd|embeddings|wte|embed)\.(?:weight|scales|biases|qweight)$"
)
_OUTPUT = re.compile(r"(?:^|\.)(?:lm_head|unembed|embed_out)\.|^output\.(?:weight|scales|biases)$")
_MODALITY = re.compile(r"(?i)vision|visual|vit\.|image|audio|speech|projector|resampler|merger")


def weigh(parts: Sorted, heads: Sequence[Found], facts: ModelFacts, storage: Storage) -> Weights:
    """One pass over all tensors."""
    trunk = experts = weights = matrices = 0
    bits = 0.0
    for block in parts.trunk.values():
        for held, rest, tensor in storage.of(block):
            if _is_expert(rest):
                experts += tensor[3]
            else:
                trunk += tensor[3]
            if held[0]:
                weights += held[0]
                if len(tensor[2]) > 1:
                    matrices += held[0]
                    bits += held[0] * held[1]
    embedding = output = other = modal = 0
    for tensor in parts.other:
        weights += storage.held(tensor).weights
        if _MODALITY.search(tensor.name):
            modal += tensor.nbytes
        elif _EMBEDDING.search(tensor.name):
            embedding += tensor.nbytes
        elif _OUTPUT.search(tensor.name):
            output += tensor.nbytes
        else:
            other += tensor.nbytes
    head = sum(found.head.nbytes for found in heads)
    weights += sum(found.head.parameters for found in heads)
    share = _share(facts)
    routed = round(experts * share)
    written = output or embedding
    return Weights(
        total_bytes=trunk + experts + embedding + output + other + modal + head,
        trunk_bytes=trunk,
        expert_bytes=experts,
        embedding_bytes=embedding,
        output_bytes=output,
        head_bytes=head,
        other_bytes=other + modal,
        parameters=weights,
        active_bytes=trunk + routed + written + other,
        draft_bytes=_draft(heads[0], share, written) if heads else 0,
        routed_bytes=routed,
        experts=facts.experts if experts else None,
        experts_per_token=facts.experts_per_token if experts else None,
        kv_bytes_per_token=kv_bytes(facts),
        bits_per_weight=round(bits / matrices, 2) if matrices else 0.0,
    )


def kv_bytes(facts: ModelFacts) -> int | None:
    """Of one token over all layers at 16 bits. Multi-head latent attention keeps one compressed vector and one rope key."""
    layers = facts.attention_layers if facts.attention_layers is not None else facts.layers
    if layers is None:
        return None
    if facts.kv_lora_rank is not None:
        return None if facts.rope_head_dim is None else layers * (facts.kv_lora_rank + facts.rope_head_dim) * 2
    size = facts.head_dim or (facts.hidden_size // facts.heads if facts.hidden_size and facts.heads else None)
    if size is None or not facts.kv_heads:
        return None
    heads = sum(facts.kv_heads[:layers]) if len(facts.kv_heads) > 1 else facts.kv_heads[0] * layers
    return heads * (size + (facts.value_dim or size)) * 2


def _is_expert(rest: str) -> bool:
    return ("experts" in rest or "_exps" in rest or "switch_mlp" in rest or rest.startswith("moe.")) and "shared" not in rest


def _share(facts: ModelFacts) -> float:
    """Of the routed experts, what one token uses; 1 where the config does not say."""
    if facts.experts and facts.experts_per_token and facts.experts_per_token < facts.experts:
        return facts.experts_per_token / facts.experts
    return 1.0


def _draft(found: Found, share: float, written: int) -> int:
    experts = _bytes(tensor for rest, tensor in found.parts if _is_expert(rest))
    lookups = _bytes(tensor for rest, tensor in found.parts if _EMBEDDING.search(rest))
    return found.head.nbytes - lookups - experts + round(experts * share) + (0 if found.head.own_output else written)


def _bytes(tensors: Iterable[Tensor]) -> int:
    return sum(tensor.nbytes for tensor in tensors)
