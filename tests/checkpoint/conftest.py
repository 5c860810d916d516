"""Tiny checkpoints in the real formats, written by the safetensors and the gguf package."""

from __future__ import annotations

import ctypes
import functools
import json
import math
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import safetensors

BYTES = {"F64": 8, "F32": 4, "BF16": 2, "F16": 2, "F8_E4M3": 1, "U8": 1, "I8": 1, "U32": 4, "I32": 4, "I64": 8}
LIBRARY_WORDS = {
    "F64": "float64", "F32": "float32", "BF16": "bfloat16", "F16": "float16", "F8_E4M3": "float8_e4m3fn", "U8": "uint8", "I8": "int8",
    "U32": "uint32", "I32": "int32", "I64": "int64",
}  # fmt: skip
HIDDEN, WIDE, WORDS = 16, 24, 40

Spec = tuple[str, tuple[int, ...]] | tuple[str, tuple[int, ...], bytes]


@functools.cache
def filled(nbytes: int, seed: int = 1) -> bytes:
    """Neither zero nor constant, and finite in every float type."""
    return bytes((index * 7 + seed) % 59 + 1 for index in range(nbytes))


def shape_of(name: str) -> tuple[int, ...]:
    """By the words of a name: joins are (H, 2H), norms (H,), feed-forward matrices (I, H) or (H, I), the rest (H, H)."""
    word = name.removesuffix(".weight").rpartition(".")[2]
    if "norm" in word or word in ("enorm", "hnorm", "m", "bias", "A_log") or name.endswith(".bias"):
        return (HIDDEN,)
    if word in ("eh_proj", "fc", "input_proj", "mtp_linear_proj") or "mtp_linear_proj.0" in name:
        return (HIDDEN, 2 * HIDDEN)
    if word in ("embed_tokens", "lm_head", "head", "word_embeddings", "tok_emb", "output", "embeddings"):
        return (WORDS, HIDDEN)
    if word in ("gate_proj", "up_proj"):
        return (WIDE, HIDDEN)
    if word == "down_proj":
        return (HIDDEN, WIDE)
    return (HIDDEN, HIDDEN)


def safetensors_bytes(tensors: Mapping[str, Spec], metadata: Mapping[str, str] | None = None) -> bytes:
    """The format by hand, for files that are then damaged, and in the order that is given: the package sorts."""
    header: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    pieces, at = [], 0
    for name, spec in tensors.items():
        data = spec[2] if len(spec) == 3 else filled(math.prod(spec[1]) * BYTES[spec[0]])
        header[name] = {"dtype": spec[0], "shape": list(spec[1]), "data_offsets": [at, at + len(data)]}
        pieces.append(data)
        at += len(data)
    raw = json.dumps(header, separators=(",", ":")).encode()
    raw += b" " * (-len(raw) % 8)
    return struct.pack("<Q", len(raw)) + raw + b"".join(pieces)


class Maker:
    """Writes checkpoints below one folder."""

    hidden, wide, words = HIDDEN, WIDE, WORDS
    safetensors_bytes = staticmethod(safetensors_bytes)
    filled = staticmethod(filled)

    def __init__(self, base: Path) -> None:
        self.base = base

    def named(self, *names: str, dtype: str = "BF16") -> dict[str, Spec]:
        """Tensors of these names with fitting shapes."""
        return {name: (dtype, shape_of(name)) for name in names}

    def block(self, prefix: str, *, experts: int = 0, dtype: str = "BF16") -> dict[str, Spec]:
        """A decoder layer; `prefix` ends in a dot."""
        attention = [f"self_attn.{word}_proj.weight" for word in "qkvo"]
        groups = [f"mlp.experts.{number}." for number in range(experts)] or ["mlp."]
        feed = [f"{group}{word}_proj.weight" for group in groups for word in ("gate", "up", "down")]
        norms = ["input_layernorm.weight", "post_attention_layernorm.weight"]
        return self.named(*(prefix + name for name in (*attention, *feed, *norms)), dtype=dtype)

    def trunk(
        self, layers: int = 3, *, prefix: str = "model.", experts: int = 0, tied: bool = False, dtype: str = "BF16"
    ) -> dict[str, Spec]:
        """A language model without a head for drafting."""
        tensors = self.named(f"{prefix}embed_tokens.weight", f"{prefix}norm.weight", *([] if tied else ["lm_head.weight"]))
        for layer in range(layers):
            tensors |= self.block(f"{prefix}layers.{layer}.", experts=experts, dtype=dtype)
        return tensors

    def config(self, **more: Any) -> dict[str, Any]:
        """A config.json of that trunk."""
        plain = {
            "model_type": "deepseek_v3",
            "hidden_size": HIDDEN,
            "num_hidden_layers": 3,
            "vocab_size": WORDS,
            "num_attention_heads": 2,
            "num_key_value_heads": 1,
        }
        return {**plain, **more}

    def nextn(self, layer: int = 3, *, dtype: str = "BF16") -> dict[str, Spec]:
        """DeepSeek's MTP layer."""
        prefix = f"model.layers.{layer}."
        join = self.named(*(f"{prefix}{word}.weight" for word in ("enorm", "hnorm", "eh_proj", "shared_head.norm")), dtype=dtype)
        return join | self.block(prefix, dtype=dtype)

    def save(self, path: Path, tensors: Mapping[str, Spec], metadata: Mapping[str, str] | None = None) -> Path:
        """One file, written by the safetensors package."""
        path.parent.mkdir(parents=True, exist_ok=True)
        pieces = {name: spec[2] if len(spec) == 3 else filled(math.prod(spec[1]) * BYTES[spec[0]]) for name, spec in tensors.items()}
        held = {name: ctypes.create_string_buffer(data, len(data)) for name, data in pieces.items()}
        safetensors.serialize_file(
            {
                name: safetensors.TensorSpec(
                    dtype=LIBRARY_WORDS[spec[0]], shape=spec[1], data_ptr=ctypes.addressof(held[name]), data_len=len(pieces[name])
                )
                for name, spec in tensors.items()
            },
            path,
            metadata=dict(metadata) if metadata else None,
        )
        return path

    def save_in_order(self, path: Path, tensors: Mapping[str, Spec], metadata: Mapping[str, str] | None = None) -> Path:
        """The same by hand: another writer may keep another order, and the package must still read it."""
        path.write_bytes(safetensors_bytes(tensors, metadata))
        if "F8_E4M3" not in {spec[0] for spec in tensors.values()}:
            with safetensors.safe_open(path, framework="numpy") as real:
                assert set(real.keys()) == set(tensors)
        return path

    def folder(
        self,
        tensors: Mapping[str, Spec],
        config: Mapping[str, Any] | None = None,
        *,
        shards: int = 1,
        index: bool = True,
        name: str = "model",
        metadata: Mapping[str, str] | None = None,
        sorted_by_package: bool = True,
    ) -> Path:
        """A model folder; with several shards the tensors are dealt out in order. The package sorts the names of each file."""
        folder = self.base / name
        folder.mkdir(parents=True, exist_ok=True)
        save = self.save if sorted_by_package else self.save_in_order
        if config is not None:
            (folder / "config.json").write_text(json.dumps(config))
        if shards == 1:
            save(folder / "model.safetensors", tensors, metadata)
            return folder
        names = list(tensors)
        size = math.ceil(len(names) / shards)
        weight_map: dict[str, str] = {}
        for number in range(shards):
            file = f"model-{number + 1:05d}-of-{shards:05d}.safetensors"
            held = names[number * size : (number + 1) * size]
            save(folder / file, {name: tensors[name] for name in held}, metadata)
            weight_map |= dict.fromkeys(held, file)
        if index:
            self.write_index(folder, weight_map)
        return folder

    def write_index(self, folder: Path, weight_map: Mapping[str, str]) -> None:
        """As transformers writes it."""
        document = {"metadata": {"total_size": 0}, "weight_map": dict(weight_map)}
        (folder / "model.safetensors.index.json").write_text(json.dumps(document, indent=2))

    def read_index(self, folder: Path) -> dict[str, str]:
        """What stands in it."""
        return dict(json.loads((folder / "model.safetensors.index.json").read_text())["weight_map"])

    def gguf(
        self, tensors: Sequence[str], *, arch: str = "glm4moe", nextn: int | None = 1, blocks: int = 3, name: str = "m.gguf", **keys: Any
    ) -> Path:
        """Written by the gguf package; every matrix is (H, H) or what its name asks for, in F32."""
        import gguf  # noqa: PLC0415  # these two cost half a second, which the tests of safetensors need not wait for
        import numpy as np  # noqa: PLC0415

        path = self.base / name
        writer = gguf.GGUFWriter(path, arch)
        writer.add_block_count(blocks + (nextn or 0))
        writer.add_embedding_length(HIDDEN)
        writer.add_head_count(2)
        writer.add_head_count_kv(1)
        if nextn is not None:
            writer.add_uint32(f"{arch}.nextn_predict_layers", nextn)
        writer.add_token_list([f"t{number}" for number in range(WORDS)])
        for key, value in keys.items():
            writer.add_uint32(key, value)
        for number, tensor in enumerate(tensors):
            shape = self.gguf_shape(tensor)
            writer.add_tensor(tensor, (np.arange(math.prod(shape), dtype=np.float32).reshape(shape) + number) / 97)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        return path

    @staticmethod
    def gguf_shape(name: str) -> tuple[int, ...]:
        """As numpy sees it: rows first."""
        if "norm" in name:
            return (HIDDEN,)
        if "eh_proj" in name:
            return (HIDDEN, 2 * HIDDEN)
        return (WORDS, HIDDEN) if name in ("token_embd.weight", "output.weight") else (HIDDEN, HIDDEN)

    @staticmethod
    def gguf_block(number: int, *, nextn: bool = False) -> list[str]:
        """A block of a GGUF file, dense."""
        words = ["attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down", "attn_norm", "ffn_norm"]
        words += ["nextn.eh_proj", "nextn.enorm", "nextn.hnorm"] if nextn else []
        return [f"blk.{number}.{word}.weight" for word in words]

    def gguf_trunk(self, blocks: int = 3) -> list[str]:
        """All of a model but its head."""
        return ["token_embd.weight", "output_norm.weight", "output.weight", *(name for n in range(blocks) for name in self.gguf_block(n))]


@pytest.fixture
def make(tmp_path: Path) -> Maker:
    """Checkpoints below the test's own folder."""
    return Maker(tmp_path)
