"""SmolLM2 and the trained head as the tensors of a MiMo checkpoint, which vLLM drafts with.

A MiMo decoder is Qwen2's, that is Llama's with biases on q, k and v, here zero. Its head takes the hidden state before the
final norm for the first draft, but its own output after `final_layernorm` for the next ones. Ours was trained on states
without that norm throughout. So the weight g of the norm goes into the output matrix, W (g * x) = (W g) x, and both norms
become ones: normalising a second time what is normalised changes nothing.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_mtp.servers.demo.conversion import Shape, read_safetensors, split_half

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Tensors = dict[str, NDArray[np.float32]]

_TOP = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
_LAYER = {
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_HEAD = {  # in the head's file, in the checkpoint
    "enorm": "token_layernorm",
    "hnorm": "hidden_layernorm",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "q_proj": "self_attn.q_proj",
    "k_proj": "self_attn.k_proj",
    "v_proj": "self_attn.v_proj",
    "o_proj": "self_attn.o_proj",
    "gate_proj": "mlp.gate_proj",
    "up_proj": "mlp.up_proj",
    "down_proj": "mlp.down_proj",
}


def trunk(reader: Any, shape: Shape) -> Tensors:
    """The base model in float32 under the names of Llama checkpoints; `reader` is a `gguf.GGUFReader`."""
    import gguf  # noqa: PLC0415 (an extra)
    import numpy as np  # noqa: PLC0415 (an extra)

    tensors: Tensors = {}
    for tensor in reader.tensors:
        values = gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32, copy=False)
        stem = tensor.name.removesuffix(".weight")
        if stem in _TOP:
            tensors[f"{_TOP[stem]}.weight"] = values
            continue
        _, number, part = stem.split(".")
        if part in ("attn_q", "attn_k"):
            values = split_half(values, shape.heads if part == "attn_q" else shape.kv_heads, shape.head_width)
        tensors[f"model.layers.{number}.{_LAYER[part]}.weight"] = values
    return tensors


def add_head(tensors: Tensors, head: Path, shape: Shape) -> None:
    """Make a MiMo checkpoint of the trunk, in place."""
    import numpy as np  # noqa: PLC0415 (an extra)

    norm = tensors["model.norm.weight"]
    tensors["lm_head.weight"] = tensors.get("lm_head.weight", tensors["model.embed_tokens.weight"]) * norm
    tensors["model.norm.weight"] = np.ones_like(norm)
    layer = "model.mtp_layers.0"
    trained = read_safetensors(head)
    for name, ours in _HEAD.items():
        tensors[f"{layer}.{ours}.weight"] = trained[name]
    embedding, hidden = np.split(trained["eh_proj"], 2, axis=1)
    tensors[f"{layer}.input_proj.weight"] = np.concatenate([hidden, embedding], axis=1)
    tensors[f"{layer}.final_layernorm.weight"] = np.ones_like(norm)
    for owner in (*(f"model.layers.{number}" for number in range(shape.layers)), layer):
        for part, heads in (("q", shape.heads), ("k", shape.kv_heads), ("v", shape.kv_heads)):
            tensors[f"{owner}.self_attn.{part}_proj.bias"] = np.zeros(heads * shape.head_width, np.float32)


def write_safetensors(target: Path, tensors: Mapping[str, NDArray[np.float32]]) -> None:
    """Float32, little-endian, in the order given."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, values in tensors.items():
        begin, end = end, end + 4 * values.size
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [begin, end]}
    head = json.dumps(header, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)  # readers map the data, and want it aligned
    with target.open("wb") as file:
        file.write(struct.pack("<Q", len(head)) + head)
        for values in tensors.values():
            file.write(values.astype("<f4", order="C", copy=False).data)
