"""What the config (config.json, or the keys of a GGUF file) says about the model, under one set of names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_mtp.core.record import Record

MAX_LAYERS = 10_000
"""A config that claims more lies, and counts as silent."""

SECTIONS = ("text_config", "llm_config", "language_config", "transformer_layer_config")
"""Where multimodal and drafter configs keep the numbers of the language model."""

DEPTH_KEYS = (
    "num_nextn_predict_layers",
    "mtp_num_hidden_layers",
    "num_mtp_modules",
    "num_mtp_layers",
    "mtp_config.num_nextn_predict_layers",
    "n_predict",
    "nextn_predict_layers",
)
"""Every key that announces MTP layers, over all families; the last one is GGUF's, behind the architecture's name."""

HINT_KEYS = (
    "mtp_layer_types",
    "mtp_hybrid_override_pattern",
    "mtp_n_routed_experts",
    "mtp_num_experts",
    "mtp_num_experts_per_tok",
    "mtp_quant_algo",
    "mtp_loss_factor",
    "mtp_loss_scaling_factor",
    "index_share_for_mtp_iteration",
    "mtp_use_dedicated_embeddings",
)
"""Keys that speak of MTP without a number of layers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared(Record):
    """A depth that the config declares; `key` with the section that it stands in."""

    key: str
    layers: int

    @property
    def name(self) -> str:
        """The key alone, as engines look it up."""
        section, _, rest = self.key.partition(".")
        return rest if section in SECTIONS else self.key


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts(Record):
    """None where the config does not say. `layers` leaves MTP layers out, in GGUF too."""

    model_type: str | None = None
    text_type: str | None = None
    architectures: tuple[str, ...] = ()
    layers: int | None = None
    hidden_size: int | None = None
    target_hidden_size: int | None = None
    vocab_size: int | None = None
    tied: bool | None = None
    heads: int | None = None
    kv_heads: tuple[int, ...] = ()
    head_dim: int | None = None
    value_dim: int | None = None
    kv_lora_rank: int | None = None
    rope_head_dim: int | None = None
    attention_layers: int | None = None
    window: int | None = None
    experts: int | None = None
    experts_per_token: int | None = None
    rope_theta: float | None = None
    context: int | None = None
    block_size: int | None = None
    declared: tuple[Declared, ...] = ()
    hints: tuple[str, ...] = ()
    quantised_by: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Architectures first, as engines look them up, then model types."""
        return tuple(name for name in (*self.architectures, self.model_type, self.text_type) if name)


def from_config(config: Mapping[str, Any]) -> ModelFacts:
    """From a parsed config.json; values of the wrong type count as absent."""
    parts = [config[name] for name in SECTIONS if isinstance(config.get(name), Mapping)]
    inner = [*parts, config]

    def first(*keys: str) -> Any:
        return next((part[key] for key in keys for part in inner if part.get(key) is not None), None)

    rope = first("rope_parameters", "rope_scaling")
    theta = first("rope_theta")
    keys = ("num_layers",) if config.get("model_type") == "longcat_flash" else ("num_hidden_layers", "num_layers", "n_layer", "n_layers")
    layers = whole(first(*keys), most=MAX_LAYERS)
    return ModelFacts(
        model_type=_text(config.get("model_type")) or _text(config.get("speculators_model_type")),
        text_type=next((word for part in parts if (word := _text(part.get("model_type")))), None),
        architectures=_texts(config.get("architectures")),
        layers=layers,
        hidden_size=whole(first("hidden_size", "n_embd", "d_model", "dim")),
        target_hidden_size=whole(config.get("backbone_hidden_size")) or whole(first("target_hidden_size")),
        vocab_size=whole(first("vocab_size")),
        tied=first("tie_word_embeddings") if isinstance(first("tie_word_embeddings"), bool) else None,
        heads=whole(first("num_attention_heads", "n_head")),
        kv_heads=_kv_heads(first("num_key_value_heads", "num_attention_heads")),
        head_dim=whole(first("head_dim")),
        kv_lora_rank=whole(first("kv_lora_rank")) or None,
        rope_head_dim=whole(first("qk_rope_head_dim")),
        attention_layers=_attention_layers(
            first("layer_types"), first("hybrid_override_pattern"), whole(first("full_attention_interval")), layers
        ),
        window=whole(first("sliding_window")) if first("use_sliding_window") is not False else None,
        experts=whole(first("n_routed_experts", "num_experts", "num_local_experts", "moe_num_experts")) or None,
        experts_per_token=whole(first("num_experts_per_tok", "moe_topk", "moe_k", "top_k_experts", "num_experts_per_token")),
        rope_theta=_number(theta if theta is not None else rope.get("rope_theta") if isinstance(rope, Mapping) else None),
        context=whole(first("max_position_embeddings", "n_positions")),
        block_size=whole(config.get("block_size")),
        declared=_declared(config),
        hints=tuple(key for key in HINT_KEYS if any(part.get(key) not in (None, False) for part in inner)),
        quantised_by=_quantised_by(quantisation_of(config)),
    )


def from_gguf(values: Mapping[str, Any], counts: Mapping[str, int]) -> ModelFacts:
    """From the keys of a GGUF file, whose `block_count` includes the MTP blocks."""
    name = _text(values.get("general.architecture"))

    def of(key: str) -> Any:
        return values.get(f"{name}.{key}")

    nextn, blocks = whole(of("nextn_predict_layers"), most=MAX_LAYERS), whole(of("block_count"), most=MAX_LAYERS)
    declared = () if nextn is None else (Declared(key=f"{name}.nextn_predict_layers", layers=nextn),)
    return ModelFacts(
        model_type=name,
        layers=None if blocks is None else max(blocks - (nextn or 0), 0),
        hidden_size=whole(of("embedding_length")),
        target_hidden_size=whole(of("embedding_length_out")),
        vocab_size=counts.get("tokenizer.ggml.tokens") or whole(of("vocab_size")),
        heads=next(iter(_kv_heads(of("attention.head_count"))), None),
        kv_heads=_kv_heads(of("attention.head_count_kv") if of("attention.head_count_kv") is not None else of("attention.head_count")),
        head_dim=whole(of("attention.key_length")),
        value_dim=whole(of("attention.value_length")),
        kv_lora_rank=whole(of("attention.kv_lora_rank")) or None,
        rope_head_dim=whole(of("rope.dimension_count")),
        attention_layers=_attention_layers(None, None, whole(of("full_attention_interval")), blocks and blocks - (nextn or 0)),
        window=whole(of("attention.sliding_window")),
        experts=whole(of("expert_count")) or None,
        experts_per_token=whole(of("expert_used_count")),
        rope_theta=_number(of("rope.freq_base")),
        context=whole(of("context_length")),
        declared=declared,
    )


def whole(value: Any, *, most: int = 1 << 40) -> int | None:
    """A count, else None; `most` bounds what is later counted up to."""
    return value if type(value) is int and 0 <= value <= most else None


def _text(value: Any) -> str | None:
    return value[:200] if isinstance(value, str) and value else None


def _texts(value: Any) -> tuple[str, ...]:
    return (
        tuple(word[:200] for word in value[:8] if isinstance(word, str))
        if isinstance(value, Sequence) and not isinstance(value, str)
        else ()
    )


def _number(value: Any) -> float | None:
    return float(value) if type(value) in (int, float) and abs(value) < 1e30 else None


def _kv_heads(value: Any) -> tuple[int, ...]:
    if isinstance(value, (list, tuple)):
        return tuple(heads for heads in map(whole, value[:4096]) if heads is not None)
    heads = whole(value)
    return () if heads is None else (heads,)


def _attention_layers(types: Any, pattern: Any, interval: int | None, layers: int | None) -> int | None:
    """Layers that keep a KV cache; linear attention and Mamba keep a state of fixed size instead."""
    if isinstance(types, list) and types and all(isinstance(kind, str) for kind in types):
        return sum(1 for kind in types if "attention" in kind and "linear" not in kind)
    if isinstance(pattern, str) and set(pattern) <= set("M*-E"):
        return pattern.count("*")
    return layers // interval if interval and layers else None


def _declared(config: Mapping[str, Any]) -> tuple[Declared, ...]:
    found = []
    for section in ("", *SECTIONS):
        part = config.get(section) if section else config
        if not isinstance(part, Mapping):
            continue
        for key in DEPTH_KEYS:
            outer, _, inner = key.rpartition(".")
            holder = part.get(outer) if outer else part
            layers = whole(holder.get(inner), most=MAX_LAYERS) if isinstance(holder, Mapping) else None
            if layers is not None:
                found.append(Declared(key=f"{section}.{key}" if section else key, layers=layers))
    return tuple(found)


def quantisation_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """The recipe that the weights were quantised by, as it stands; empty for none."""
    for key in ("quantization_config", "quantization", "compression_config"):
        for part in (config, *(config.get(name) for name in SECTIONS)):
            if not isinstance(part, Mapping):
                continue
            value = part.get(key)
            if isinstance(value, Mapping):
                return dict(value)
    return {}


def _quantised_by(recipe: Mapping[str, Any]) -> str | None:
    if not recipe:
        return None
    return _text(recipe.get("quant_method")) or _text(recipe.get("mode")) or ("mlx" if "group_size" in recipe else "unknown")
