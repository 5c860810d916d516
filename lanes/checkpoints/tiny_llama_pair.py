"""`python lanes/checkpoints/tiny_llama_pair.py FOLDER [NOISE]`: a random model and a draft model that nearly agrees with it.

Writes FOLDER/target and FOLDER/draft, both Llama of two layers. The draft's weights are the target's plus Gaussian noise
(standard deviation 0.01 by default, that of the target's layers being 0.2): some of its drafts are accepted, some are not.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from common import BOS, CONTEXT, EOS, VOCABULARY, Tensors, normal, only_words, write_checkpoint

LAYERS, WIDTH, INNER, HEADS, KV_HEADS, HEAD_WIDTH = 2, 64, 128, 4, 2, 16
SCALE = 0.2
OUTPUT_SCALE = 1.0  # of the output matrix: large, so that it is as sure of a token as trained models are

CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "dtype": "float32",
    "vocab_size": VOCABULARY,
    "hidden_size": WIDTH,
    "intermediate_size": INNER,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "num_key_value_heads": KV_HEADS,
    "head_dim": HEAD_WIDTH,
    "max_position_embeddings": CONTEXT,
    "rms_norm_eps": 1e-6,
    "rope_theta": 10000.0,
    "hidden_act": "silu",
    "attention_bias": False,
    "mlp_bias": False,
    "tie_word_embeddings": False,
    "initializer_range": SCALE,
    "bos_token_id": BOS,
    "eos_token_id": EOS,
    "pad_token_id": EOS,
}


def target(rng: np.random.Generator) -> Tensors:
    """Random matrices, and norms that do nothing."""
    tensors: Tensors = {
        "model.embed_tokens.weight": normal(rng, VOCABULARY, WIDTH, scale=SCALE),
        "lm_head.weight": only_words(normal(rng, VOCABULARY, WIDTH, scale=OUTPUT_SCALE)),
        "model.norm.weight": np.ones(WIDTH, np.float32),
    }
    shapes = {
        "self_attn.q_proj": (HEADS * HEAD_WIDTH, WIDTH),
        "self_attn.k_proj": (KV_HEADS * HEAD_WIDTH, WIDTH),
        "self_attn.v_proj": (KV_HEADS * HEAD_WIDTH, WIDTH),
        "self_attn.o_proj": (WIDTH, HEADS * HEAD_WIDTH),
        "mlp.gate_proj": (INNER, WIDTH),
        "mlp.up_proj": (INNER, WIDTH),
        "mlp.down_proj": (WIDTH, INNER),
    }
    for layer in range(LAYERS):
        for name, shape in shapes.items():
            tensors[f"model.layers.{layer}.{name}.weight"] = normal(rng, *shape, scale=SCALE)
        for name in ("input_layernorm", "post_attention_layernorm"):
            tensors[f"model.layers.{layer}.{name}.weight"] = np.ones(WIDTH, np.float32)
    return tensors


def main(folder: Path, noise: float) -> None:
    """Both models. The same seed, so that the same noise gives the same bytes."""
    tensors = target(np.random.default_rng(0))
    rng = np.random.default_rng(1)
    nearly = {name: values + normal(rng, *values.shape, scale=noise) for name, values in tensors.items()}
    write_checkpoint(folder / "target", config=CONFIG, tensors=tensors)
    write_checkpoint(folder / "draft", config=CONFIG, tensors=nearly)


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 3:
        raise SystemExit(__doc__)
    main(Path(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) == 3 else 0.01)
