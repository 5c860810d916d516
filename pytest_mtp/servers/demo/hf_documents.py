"""The documents beside the tensors: configuration, generation settings and tokenizer, from GGUF metadata."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_mtp.core.record import Json
from pytest_mtp.servers.demo.conversion import Shape

_CONTROL = 3  # the type of special tokens under tokenizer.ggml.token_type


def config(shape: Shape, *, mtp: bool) -> Mapping[str, Json]:
    """`MiMoForCausalLM` with one layer that predicts further tokens, else plain Llama.

    `model_type` is `qwen2` even so: transformers has no class for the first MiMo, whose decoder is Qwen2's.
    """
    common: dict[str, Json] = {
        "hidden_size": shape.width,
        "intermediate_size": shape.of("feed_forward_length"),
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.kv_heads,
        "head_dim": shape.head_width,
        "max_position_embeddings": shape.of("context_length"),
        # GGUF holds a float32; the nearest short decimal is what the model was made with.
        "rms_norm_eps": float(f"{shape.of('attention.layer_norm_rms_epsilon'):.6g}"),
        "rope_theta": float(shape.of("rope.freq_base")),
        "vocab_size": shape.of("vocab_size"),
        "hidden_act": "silu",
        "bos_token_id": 1,
        "eos_token_id": 2,
        "pad_token_id": 2,
        "torch_dtype": "float32",
    }
    if not mtp:
        return {
            "architectures": ["LlamaForCausalLM"],
            "model_type": "llama",
            "tie_word_embeddings": True,
            "attention_bias": False,
            **common,
        }
    return {
        "architectures": ["MiMoForCausalLM"],
        "model_type": "qwen2",
        "num_nextn_predict_layers": 1,
        "tie_word_embeddings": False,
        "attention_bias": True,
        "use_sliding_window": False,
        **common,
    }


def generation_config() -> Mapping[str, Json]:
    """Ends of text; no sampling settings, so that a server's own defaults hold."""
    return {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 2}


def tokenizer(fields: Mapping[str, Any]) -> Mapping[str, Json]:
    """`tokenizer.json`: byte-level BPE that takes digits one by one. `fields` are those of a `gguf.GGUFReader`."""
    tokens, kinds, merges = (fields[f"tokenizer.ggml.{key}"].contents() for key in ("tokens", "token_type", "merges"))
    byte_level: dict[str, Json] = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    flags: dict[str, Json] = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    special: list[Json] = [
        {"id": number, "content": token, **flags}
        for number, (token, kind) in enumerate(zip(tokens, kinds, strict=True))
        if kind == _CONTROL
    ]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": special,
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": True}, byte_level]},
        "post_processor": None,
        "decoder": byte_level,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {token: number for number, token in enumerate(tokens)},
            "merges": [merge.split(" ") for merge in merges],
        },
    }


def tokenizer_config(shape: Shape) -> Mapping[str, Json]:
    """Which class reads `tokenizer.json`, and the tokens with a meaning. The chat template is a file of its own."""
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": "<|im_start|>",
        "eos_token": "<|im_end|>",
        "pad_token": "<|im_end|>",
        "unk_token": "<|endoftext|>",
        "add_prefix_space": False,
        "clean_up_tokenization_spaces": False,
        "model_max_length": shape.of("context_length"),
    }
