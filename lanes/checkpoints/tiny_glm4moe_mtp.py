"""`python lanes/checkpoints/tiny_glm4moe_mtp.py FOLDER exact[:NOISE]|random`: GLM-4.5's native multi-token prediction, in 58 MB.

The layout is that of GLM-4.5-Air: dense layers, a mixture of experts after them, and the head as one more such layer behind the
last, `model.layers.46.*`. There are 46 layers since transformers looks for the head of this family at that number and no other.
The shapes are tiny, and all layers but the last are dense, since mixtures take most of the time on a processor. Acceptance is
dialled as in `tiny_qwen35_mtp.py`: silent layers make the next token a fixed function of the last one, the head passes that
token's embedding on and is never wrong, and Gaussian noise of standard deviation NOISE makes it wrong more and more often.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from common import BOS, CONTEXT, EOS, VOCABULARY, Tensors, normal, write_checkpoint

WIDTH, INNER, EXPERT_INNER, LAYERS = 64, 128, 64, 46
HEADS, KV_HEADS, HEAD_WIDTH = 4, 2, 16
EXPERTS, ACTIVE = 4, 2
SCALE = 0.1

CONFIG = {
    "architectures": ["Glm4MoeForCausalLM"],
    "model_type": "glm4_moe",
    "dtype": "float32",
    "vocab_size": VOCABULARY,
    "hidden_size": WIDTH,
    "intermediate_size": INNER,
    "moe_intermediate_size": EXPERT_INNER,
    "num_hidden_layers": LAYERS,
    "num_nextn_predict_layers": 1,
    "first_k_dense_replace": LAYERS - 1,
    "num_attention_heads": HEADS,
    "num_key_value_heads": KV_HEADS,
    "head_dim": HEAD_WIDTH,
    "attention_bias": False,
    "use_qk_norm": False,
    "n_routed_experts": EXPERTS,
    "num_experts_per_tok": ACTIVE,
    "n_shared_experts": 1,
    "n_group": 1,
    "topk_group": 1,
    "norm_topk_prob": True,
    "routed_scaling_factor": 1.0,
    "hidden_act": "silu",
    "rms_norm_eps": 1e-5,
    "max_position_embeddings": CONTEXT,
    "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5},
    "initializer_range": SCALE,
    "tie_word_embeddings": False,
    "bos_token_id": BOS,
    "eos_token_id": EOS,
    "pad_token_id": EOS,
}


def decoder(rng: np.random.Generator, layer: int, *, silent: bool) -> Tensors:
    """One layer, the head's own among them. `silent`: both of its residual branches add nothing."""

    def out(rows: int, columns: int) -> np.ndarray:
        values = normal(rng, rows, columns, scale=SCALE)
        return np.zeros_like(values) if silent else values

    def gated(name: str, inner: int) -> Tensors:
        return {
            f"{name}.gate_proj.weight": normal(rng, inner, WIDTH, scale=SCALE),
            f"{name}.up_proj.weight": normal(rng, inner, WIDTH, scale=SCALE),
            f"{name}.down_proj.weight": out(WIDTH, inner),
        }

    tensors: Tensors = {
        "self_attn.q_proj.weight": normal(rng, HEADS * HEAD_WIDTH, WIDTH, scale=SCALE),
        "self_attn.k_proj.weight": normal(rng, KV_HEADS * HEAD_WIDTH, WIDTH, scale=SCALE),
        "self_attn.v_proj.weight": normal(rng, KV_HEADS * HEAD_WIDTH, WIDTH, scale=SCALE),
        "self_attn.o_proj.weight": out(WIDTH, HEADS * HEAD_WIDTH),
        "input_layernorm.weight": np.ones(WIDTH, np.float32),
        "post_attention_layernorm.weight": np.ones(WIDTH, np.float32),
    }
    if layer < CONFIG["first_k_dense_replace"]:
        tensors |= gated("mlp", INNER)
    else:
        for expert in range(EXPERTS):
            tensors |= gated(f"mlp.experts.{expert}", EXPERT_INNER)
        tensors |= gated("mlp.shared_experts", EXPERT_INNER)
        tensors["mlp.gate.weight"] = normal(rng, EXPERTS, WIDTH, scale=SCALE)
        tensors["mlp.gate.e_score_correction_bias"] = np.zeros(EXPERTS, np.float32)
    return {f"model.layers.{layer}.{name}": values for name, values in tensors.items()}


def trunk(rng: np.random.Generator, *, silent: bool) -> Tensors:
    """The model without its head."""
    tensors: Tensors = {
        "model.embed_tokens.weight": normal(rng, VOCABULARY, WIDTH, scale=SCALE),
        "model.norm.weight": np.ones(WIDTH, np.float32),
        "lm_head.weight": normal(rng, VOCABULARY, WIDTH, scale=SCALE),
    }
    for layer in range(LAYERS):
        tensors |= decoder(rng, layer, silent=silent)
    return tensors


def head(rng: np.random.Generator, of: Tensors, noise: float | None) -> Tensors:
    """One layer after `eh_proj`, which joins the embedding of the last token with the trunk's hidden state. None: random.

    Embedding and output matrix are copies of the trunk's, as in the real checkpoints.
    """
    noisy = normal(rng, WIDTH, 2 * WIDTH, scale=SCALE if noise is None else noise)
    passing = np.eye(WIDTH, 2 * WIDTH, dtype=np.float32)
    prefix = f"model.layers.{LAYERS}"
    return {
        **decoder(rng, LAYERS, silent=noise is not None),
        f"{prefix}.eh_proj.weight": noisy if noise is None else passing + noisy,
        **{f"{prefix}.{name}.weight": np.ones(WIDTH, np.float32) for name in ("enorm", "hnorm", "shared_head.norm")},
        f"{prefix}.embed_tokens.weight": of["model.embed_tokens.weight"],
        f"{prefix}.shared_head.head.weight": of["lm_head.weight"],
    }


def main(folder: Path, mode: str) -> None:
    """Write the checkpoint. Seeds are fixed and the trunk does not depend on NOISE: heads of one kind share their text."""
    kind, _, noise = mode.partition(":")
    if kind not in ("exact", "random") or (kind == "random" and noise):
        raise SystemExit(__doc__)
    silent = kind == "exact"
    tensors = trunk(np.random.default_rng(0), silent=silent)
    tensors |= head(np.random.default_rng(1), tensors, float(noise or 0) if silent else None)
    write_checkpoint(folder, config=CONFIG, tensors=tensors)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2])
