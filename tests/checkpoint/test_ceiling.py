"""Bytes a token, and the speed that memory allows."""

from __future__ import annotations

import dataclasses

import pytest

from pytest_mtp.checkpoint.ceiling import ceiling
from pytest_mtp.checkpoint.verdict import inspect_checkpoint
from pytest_mtp.core.weights import Weights

DENSE = Weights(
    total_bytes=4_000_000_000,
    trunk_bytes=3_000_000_000,
    expert_bytes=0,
    embedding_bytes=400_000_000,
    output_bytes=600_000_000,
    head_bytes=0,
    other_bytes=0,
    parameters=0,
    active_bytes=3_600_000_000,
    draft_bytes=900_000_000,
    routed_bytes=0,
    experts=None,
    experts_per_token=None,
    kv_bytes_per_token=100_000,
    bits_per_weight=8,
)


def test_the_example_that_this_project_began_with() -> None:
    """273 GB/s over about 3.6 GB of active weights is about 76 tokens a second."""
    limit = ceiling(DENSE, bandwidth_gb_s=273)
    assert limit.tokens_s == pytest.approx(75.83, abs=0.01)


def test_speculation_reads_the_head_for_every_draft_and_the_body_once_a_step() -> None:
    limit = ceiling(DENSE, bandwidth_gb_s=273, acceptance_length=2.5, depth=3)
    assert limit.verify_bytes == 3_600_000_000 + 3 * 900_000_000
    assert limit.speculating_tokens_s == pytest.approx(2.5 * 273e9 / 6.3e9)


def test_the_cache_is_read_too() -> None:
    assert ceiling(DENSE, bandwidth_gb_s=273, context=36_000).step_bytes == 7_200_000_000


def test_a_verify_step_wakes_more_experts() -> None:
    sparse = dataclasses.replace(DENSE, expert_bytes=1_600_000_000, routed_bytes=200_000_000, experts=8, experts_per_token=1)
    limit = ceiling(sparse, bandwidth_gb_s=100, acceptance_length=1.5, depth=1)
    assert limit.verify_bytes == 3_600_000_000 - 200_000_000 + round(1_600_000_000 * (1 - (7 / 8) ** 2)) + 900_000_000


@pytest.mark.parametrize("bandwidth", [0, -1])
def test_no_bandwidth_no_ceiling(bandwidth: float) -> None:
    assert ceiling(DENSE, bandwidth_gb_s=bandwidth) is None


def test_a_dense_model_reads_everything_but_the_rows_of_its_embedding(make) -> None:
    weights = inspect_checkpoint(str(make.folder(make.trunk(), make.config()))).weights
    assert weights.active_bytes == weights.total_bytes - weights.embedding_bytes
    assert weights.output_bytes == weights.embedding_bytes == 40 * 16 * 2


def test_a_tied_embedding_is_read_as_the_output_matrix(make) -> None:
    weights = inspect_checkpoint(str(make.folder(make.trunk(tied=True), make.config(tie_word_embeddings=True)))).weights
    assert weights.active_bytes == weights.total_bytes


def test_a_sparse_model_reads_the_experts_of_one_token_and_the_shared_ones(make) -> None:
    tensors = make.trunk(1, experts=4) | make.named("model.layers.0.mlp.shared_experts.up_proj.weight")
    weights = inspect_checkpoint(
        str(make.folder(tensors, make.config(num_hidden_layers=1, n_routed_experts=4, num_experts_per_tok=1)))
    ).weights
    assert weights.expert_bytes == 4 * 3 * 24 * 16 * 2
    assert weights.active_bytes == weights.total_bytes - weights.embedding_bytes - weights.expert_bytes * 3 // 4


def test_a_vision_tower_is_not_read_for_a_token(make) -> None:
    plain = inspect_checkpoint(str(make.folder(make.trunk(), make.config(), name="a"))).weights
    seeing = inspect_checkpoint(str(make.folder(make.trunk() | make.block("vision_tower.layers.0."), make.config(), name="b"))).weights
    assert seeing.active_bytes == plain.active_bytes
    assert seeing.total_bytes > plain.total_bytes


CACHES = {
    "grouped": ({"num_key_value_heads": 2, "head_dim": 8}, 3 * 2 * (8 + 8) * 2),
    "head size from the width": ({"num_key_value_heads": 1, "num_attention_heads": 2}, 3 * 1 * (8 + 8) * 2),
    "latent": ({"kv_lora_rank": 5, "qk_rope_head_dim": 3}, 3 * (5 + 3) * 2),
    "hybrid by types": ({"head_dim": 8, "layer_types": ["linear_attention", "linear_attention", "full_attention"]}, 1 * (8 + 8) * 2),
    "hybrid by interval": ({"head_dim": 8, "full_attention_interval": 3}, 1 * (8 + 8) * 2),
    "mamba": ({"head_dim": 8, "hybrid_override_pattern": "M-*"}, 1 * (8 + 8) * 2),
    "not said": ({"num_key_value_heads": None, "num_attention_heads": None, "head_dim": None}, None),
}


@pytest.mark.parametrize(("config", "nbytes"), CACHES.values(), ids=CACHES)
def test_the_cache_of_a_token(make, config: dict[str, object], nbytes: int | None) -> None:
    assert inspect_checkpoint(str(make.folder(make.trunk(), make.config(**config)))).weights.kv_bytes_per_token == nbytes


def test_the_cache_by_gguf_keys_a_layer(make) -> None:
    path = make.gguf(make.gguf_trunk(), nextn=None, arch="llama", **{"llama.attention.key_length": 8, "llama.attention.value_length": 4})
    assert inspect_checkpoint(str(path)).weights.kv_bytes_per_token == 3 * (8 + 4) * 2


def test_a_draft_reads_the_head_and_the_output_matrix_that_it_uses(make) -> None:
    config = make.config(num_nextn_predict_layers=1)
    sharing = inspect_checkpoint(str(make.folder(make.trunk() | make.nextn(), config, name="a")))
    own = make.nextn() | make.named("model.layers.3.shared_head.head.weight", "model.layers.3.embed_tokens.weight")
    owning = inspect_checkpoint(str(make.folder(make.trunk() | own, config, name="b")))
    assert sharing.weights.draft_bytes == owning.weights.draft_bytes == sharing.heads[0].nbytes + 40 * 16 * 2
    assert (sharing.heads[0].own_output, owning.heads[0].own_output, owning.heads[0].own_embeddings) == (False, True, True)
