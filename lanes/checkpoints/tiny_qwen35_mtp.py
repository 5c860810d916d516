"""`python lanes/checkpoints/tiny_qwen35_mtp.py FOLDER exact[:NOISE]|random [WIDTH]`: Qwen3.5's native multi-token prediction, in 29 MB.

The layout is that of the real checkpoints: three gated-delta layers and one of full attention, a vision tower, and the head
under `mtp.*`. Acceptance is dialled by construction, without training. With every residual block of the trunk silenced the
hidden state is the embedding of the last token, so that the next token is a fixed function of it; the head sees that
embedding too, and passes it on unchanged. It is then never wrong. Gaussian noise of standard deviation NOISE on the one
matrix that passes it on makes it wrong more and more often. `random` silences nothing, and the head knows nothing.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from common import BOS, CONTEXT, EOS, VOCABULARY, Tensors, normal, only_words, write_checkpoint

WIDTH = int(sys.argv[3]) if len(sys.argv) == 4 else 64
INNER, LAYERS = 128, 4
HEADS, KV_HEADS, HEAD_WIDTH = 4, 2, 32
DELTA_HEADS, DELTA_KEY_HEADS, DELTA_WIDTH, KERNEL = 4, 2, 32, 4
SIGHT_WIDTH, SIGHT_INNER, PATCH, PATCH_TIME, POSITIONS, MERGE = 32, 64, 16, 2, 64, 2
SCALE = 0.1

TRUNK, HEAD, SIGHT = "model.language_model.", "mtp.", "model.visual."

TEXT = {
    "model_type": "qwen3_5_text",
    "dtype": "float32",
    "vocab_size": VOCABULARY,
    "hidden_size": WIDTH,
    "intermediate_size": INNER,
    "num_hidden_layers": LAYERS,
    "full_attention_interval": LAYERS,
    "layer_types": ["linear_attention"] * (LAYERS - 1) + ["full_attention"],
    "num_attention_heads": HEADS,
    "num_key_value_heads": KV_HEADS,
    "head_dim": HEAD_WIDTH,
    "attn_output_gate": True,
    "attention_bias": False,
    "linear_num_value_heads": DELTA_HEADS,
    "linear_num_key_heads": DELTA_KEY_HEADS,
    "linear_key_head_dim": DELTA_WIDTH,
    "linear_value_head_dim": DELTA_WIDTH,
    "linear_conv_kernel_dim": KERNEL,
    "hidden_act": "silu",
    "rms_norm_eps": 1e-6,
    "max_position_embeddings": CONTEXT,
    "rope_parameters": {
        "rope_type": "default",
        "rope_theta": 100000.0,
        "partial_rotary_factor": 0.25,
        "mrope_section": [2, 1, 1],
        "mrope_interleaved": True,
    },
    "mtp_num_hidden_layers": 1,
    "mtp_use_dedicated_embeddings": False,
    "initializer_range": SCALE,
    "tie_word_embeddings": False,
    "bos_token_id": BOS,
    "eos_token_id": EOS,
}

VISION = {
    "model_type": "qwen3_5",
    "depth": 1,
    "hidden_size": SIGHT_WIDTH,
    "intermediate_size": SIGHT_INNER,
    "num_heads": 2,
    "out_hidden_size": WIDTH,
    "patch_size": PATCH,
    "spatial_merge_size": MERGE,
    "temporal_patch_size": PATCH_TIME,
    "in_channels": 3,
    "num_position_embeddings": POSITIONS,
    "deepstack_visual_indexes": [],
}

CONFIG = {
    "architectures": ["Qwen3_5ForConditionalGeneration"],
    "model_type": "qwen3_5",
    "dtype": "float32",
    "text_config": TEXT,
    "vision_config": VISION,
    "tie_word_embeddings": False,
    "bos_token_id": BOS,
    "eos_token_id": EOS,
}


def decoder(rng: np.random.Generator, prefix: str, *, attention: bool, silent: bool) -> Tensors:
    """One layer. `silent`: both of its residual branches add nothing. Norms multiply by 1 + weight, so 0 does nothing."""

    def out(rows: int, columns: int) -> np.ndarray:
        values = normal(rng, rows, columns, scale=SCALE)
        return np.zeros_like(values) if silent else values

    key, value = DELTA_KEY_HEADS * DELTA_WIDTH, DELTA_HEADS * DELTA_WIDTH
    mixer: Tensors
    if attention:
        mixer = {
            "self_attn.q_proj.weight": normal(rng, 2 * HEADS * HEAD_WIDTH, WIDTH, scale=SCALE),  # twice: the output gate
            "self_attn.k_proj.weight": normal(rng, KV_HEADS * HEAD_WIDTH, WIDTH, scale=SCALE),
            "self_attn.v_proj.weight": normal(rng, KV_HEADS * HEAD_WIDTH, WIDTH, scale=SCALE),
            "self_attn.o_proj.weight": out(WIDTH, HEADS * HEAD_WIDTH),
            "self_attn.q_norm.weight": np.zeros(HEAD_WIDTH, np.float32),
            "self_attn.k_norm.weight": np.zeros(HEAD_WIDTH, np.float32),
        }
    else:
        mixer = {
            "linear_attn.in_proj_qkv.weight": normal(rng, 2 * key + value, WIDTH, scale=SCALE),
            "linear_attn.in_proj_z.weight": normal(rng, value, WIDTH, scale=SCALE),
            "linear_attn.in_proj_b.weight": normal(rng, DELTA_HEADS, WIDTH, scale=SCALE),
            "linear_attn.in_proj_a.weight": normal(rng, DELTA_HEADS, WIDTH, scale=SCALE),
            "linear_attn.conv1d.weight": normal(rng, 2 * key + value, 1, KERNEL, scale=SCALE),
            "linear_attn.dt_bias": np.ones(DELTA_HEADS, np.float32),
            "linear_attn.A_log": np.log(rng.uniform(1, 16, DELTA_HEADS)).astype(np.float32),
            "linear_attn.norm.weight": np.ones(DELTA_WIDTH, np.float32),
            "linear_attn.out_proj.weight": out(WIDTH, value),
        }
    rest: Tensors = {
        "mlp.gate_proj.weight": normal(rng, INNER, WIDTH, scale=SCALE),
        "mlp.up_proj.weight": normal(rng, INNER, WIDTH, scale=SCALE),
        "mlp.down_proj.weight": out(WIDTH, INNER),
        "input_layernorm.weight": np.zeros(WIDTH, np.float32),
        "post_attention_layernorm.weight": np.zeros(WIDTH, np.float32),
    }
    return {prefix + name: values for name, values in {**mixer, **rest}.items()}


def trunk(rng: np.random.Generator, *, silent: bool) -> Tensors:
    """The model without its head."""
    tensors: Tensors = {
        f"{TRUNK}embed_tokens.weight": normal(rng, VOCABULARY, WIDTH, scale=SCALE),
        f"{TRUNK}norm.weight": np.zeros(WIDTH, np.float32),
        "lm_head.weight": only_words(normal(rng, VOCABULARY, WIDTH, scale=SCALE)),
    }
    for layer, kind in enumerate(TEXT["layer_types"]):
        tensors |= decoder(rng, f"{TRUNK}layers.{layer}.", attention=kind == "full_attention", silent=silent)
    return tensors


def head(rng: np.random.Generator, noise: float | None) -> Tensors:
    """One layer after `fc`, which joins the embedding of the last token with the trunk's hidden state. None: random."""
    noisy = normal(rng, WIDTH, 2 * WIDTH, scale=SCALE if noise is None else noise)
    passing = np.eye(WIDTH, 2 * WIDTH, dtype=np.float32)
    return {
        f"{HEAD}fc.weight": noisy if noise is None else passing + noisy,
        **{f"{HEAD}{name}.weight": np.zeros(WIDTH, np.float32) for name in ("norm", "pre_fc_norm_embedding", "pre_fc_norm_hidden")},
        **decoder(rng, f"{HEAD}layers.0.", attention=True, silent=noise is not None),
    }


def sight(rng: np.random.Generator) -> Tensors:
    """The vision tower, which no test looks through: servers refuse the checkpoint without it."""
    merged = SIGHT_WIDTH * MERGE**2
    matrices = {
        "patch_embed.proj": (SIGHT_WIDTH, 3, PATCH_TIME, PATCH, PATCH),
        "blocks.0.attn.qkv": (3 * SIGHT_WIDTH, SIGHT_WIDTH),
        "blocks.0.attn.proj": (SIGHT_WIDTH, SIGHT_WIDTH),
        "blocks.0.mlp.linear_fc1": (SIGHT_INNER, SIGHT_WIDTH),
        "blocks.0.mlp.linear_fc2": (SIGHT_WIDTH, SIGHT_INNER),
        "merger.linear_fc1": (merged, merged),
        "merger.linear_fc2": (WIDTH, merged),
    }
    tensors: Tensors = {f"{SIGHT}pos_embed.weight": normal(rng, POSITIONS, SIGHT_WIDTH, scale=SCALE)}
    for name, shape in matrices.items():
        tensors[f"{SIGHT}{name}.weight"] = normal(rng, *shape, scale=SCALE)
        tensors[f"{SIGHT}{name}.bias"] = np.zeros(shape[0], np.float32)
    for name in ("blocks.0.norm1", "blocks.0.norm2", "merger.norm"):
        tensors[f"{SIGHT}{name}.weight"] = np.ones(SIGHT_WIDTH, np.float32)
        tensors[f"{SIGHT}{name}.bias"] = np.zeros(SIGHT_WIDTH, np.float32)
    return tensors


def main(folder: Path, mode: str) -> None:
    """Write the checkpoint. Seeds are fixed and the trunk does not depend on NOISE: heads of one kind share their text."""
    kind, _, noise = mode.partition(":")
    if kind not in ("exact", "random") or (kind == "random" and noise):
        raise SystemExit(__doc__)
    silent = kind == "exact"
    tensors = trunk(np.random.default_rng(0), silent=silent)
    tensors |= head(np.random.default_rng(1), float(noise or 0) if silent else None)
    tensors |= sight(np.random.default_rng(2))
    write_checkpoint(folder, config=CONFIG, tensors=tensors)


if __name__ == "__main__":
    if not 3 <= len(sys.argv) <= 4:
        raise SystemExit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2])
