"""SmolLM2 and the trained head as one GGUF that llama.cpp can draft with.

llama.cpp has no multi-token-prediction graph for the `llama` architecture. `mimo2` has one, and with a dense feed-forward
it computes the same function, provided that

- the rows of q and k are laid out for the split-half rotary embedding instead of the interleaved one;
- the output matrix is a tensor of its own, a copy of the tied embedding;
- some layer counts as sliding-window, for an assertion: layer 0, with a window as wide as the context.

The head is one more block. It has no output norm of its own, so that llama.cpp applies the target's, as in training.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ARCHITECTURE = "mimo2"

_HEAD_TENSORS = (
    # in the head's file, in the GGUF block
    ("enorm", "nextn.enorm"),
    ("hnorm", "nextn.hnorm"),
    ("attn_norm", "attn_norm"),
    ("ffn_norm", "ffn_norm"),
    ("o_proj", "attn_output"),
    ("gate_proj", "ffn_gate"),
    ("up_proj", "ffn_up"),
    ("down_proj", "ffn_down"),
)


class Shape:
    """The sizes of the base model, read from its GGUF metadata."""

    def __init__(self, reader: Any) -> None:
        """`reader` is a `gguf.GGUFReader` of a `llama` file; raises KeyError where a size is missing."""
        self._fields = reader.fields
        self.layers: int = self.of("block_count")
        self.width: int = self.of("embedding_length")
        self.heads: int = self.of("attention.head_count")
        self.kv_heads: int = self.of("attention.head_count_kv")
        self.head_width = self.width // self.heads

    def of(self, key: str) -> Any:
        """A value under `llama.`."""
        return self._fields[f"llama.{key}"].contents()


def convert(base: Path, head: Path, target: Path) -> None:
    """Write `target`. The bytes depend on the files and on the version of `gguf` alone."""
    import gguf  # noqa: PLC0415 (an extra)

    reader = gguf.GGUFReader(base)
    shape = Shape(reader)
    writer = gguf.GGUFWriter(target, ARCHITECTURE)
    _write_sizes(writer, shape)
    if "general.file_type" in reader.fields:
        writer.add_file_type(reader.fields["general.file_type"].contents())
    _copy_tokenizer(writer, reader)
    _write_trunk(writer, reader, shape)
    _write_head(writer, read_safetensors(head), shape)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def read_safetensors(path: Path) -> dict[str, NDArray[np.float32]]:
    """Float16 and float32 tensors, as float32."""
    import numpy as np  # noqa: PLC0415 (an extra)

    kinds = {"F16": np.float16, "F32": np.float32}
    content = path.read_bytes()
    (length,) = struct.unpack_from("<Q", content)
    start = 8 + length
    tensors = {}
    for name, entry in json.loads(content[8:start]).items():
        if name == "__metadata__":
            continue
        first, last = entry["data_offsets"]
        flat = np.frombuffer(content[start + first : start + last], kinds[entry["dtype"]])
        tensors[name] = flat.reshape(entry["shape"]).astype(np.float32)
    return tensors


def _write_sizes(writer: Any, shape: Shape) -> None:
    context, rope_base = shape.of("context_length"), shape.of("rope.freq_base")
    writer.add_name("SmolLM2-135M-Instruct-MTP")
    writer.add_license("apache-2.0")
    writer.add_block_count(shape.layers + 1)  # the head counts
    writer.add_context_length(context)
    writer.add_embedding_length(shape.width)
    writer.add_feed_forward_length(shape.of("feed_forward_length"))
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.kv_heads)
    writer.add_key_length(shape.head_width)
    writer.add_value_length(shape.head_width)
    writer.add_layer_norm_rms_eps(shape.of("attention.layer_norm_rms_epsilon"))
    writer.add_rope_freq_base(rope_base)
    writer.add_rope_dimension_count(shape.head_width)
    writer.add_float32(f"{ARCHITECTURE}.rope.freq_base_swa", rope_base)
    writer.add_sliding_window(context)
    writer.add_array(f"{ARCHITECTURE}.attention.sliding_window_pattern", [1] + [0] * shape.layers)
    writer.add_uint32(f"{ARCHITECTURE}.expert_feed_forward_length", 0)
    writer.add_uint32(f"{ARCHITECTURE}.nextn_predict_layers", 1)
    writer.add_vocab_size(shape.of("vocab_size"))


def _copy_tokenizer(writer: Any, reader: Any) -> None:
    import gguf  # noqa: PLC0415 (an extra)

    for key, field in reader.fields.items():
        if not key.startswith("tokenizer."):
            continue
        kind = field.types[0]
        inner = field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(key, field.contents(), kind, sub_type=inner)


def _write_trunk(writer: Any, reader: Any, shape: Shape) -> None:
    """The base model's tensors as they are, quantised blocks included: whole rows may move without decoding them."""
    import numpy as np  # noqa: PLC0415 (an extra)

    tied = all(tensor.name != "output.weight" for tensor in reader.tensors)
    for tensor in reader.tensors:
        rows = np.array(tensor.data)
        if tensor.name.endswith("attn_q.weight"):
            rows = split_half(rows, shape.heads, shape.head_width)
        elif tensor.name.endswith("attn_k.weight"):
            rows = split_half(rows, shape.kv_heads, shape.head_width)
        writer.add_tensor(tensor.name, rows, raw_dtype=tensor.tensor_type)
        if tied and tensor.name == "token_embd.weight":
            writer.add_tensor("output.weight", rows, raw_dtype=tensor.tensor_type)


def split_half(rows: NDArray[Any], heads: int, head_width: int) -> NDArray[Any]:
    """Rows 0 1 2 3 ... of each head become 0 2 ... 1 3 ...: from the interleaved to the split-half rotary layout."""
    import numpy as np  # noqa: PLC0415 (an extra)

    by_head = rows.reshape(heads, head_width, *rows.shape[1:])
    return np.concatenate([by_head[:, 0::2], by_head[:, 1::2]], axis=1).reshape(rows.shape)


def _write_head(writer: Any, head: dict[str, NDArray[np.float32]], shape: Shape) -> None:
    """The block after the last layer: matrices as Q8_0, vectors as they are."""
    import gguf  # noqa: PLC0415 (an extra)
    import numpy as np  # noqa: PLC0415 (an extra)

    def put(name: str, values: NDArray[np.float32]) -> None:
        full = f"blk.{shape.layers}.{name}.weight"
        plain = np.ascontiguousarray(values, np.float32)
        if plain.ndim == 1:
            writer.add_tensor(full, plain)
        else:
            kind = gguf.GGMLQuantizationType.Q8_0
            writer.add_tensor(full, gguf.quants.quantize(plain, kind), raw_dtype=kind)

    put("nextn.eh_proj", head["eh_proj"])
    for ours, theirs in _HEAD_TENSORS:
        put(theirs, head[ours])
    put("attn_qkv", np.concatenate([head["q_proj"], head["k_proj"], head["v_proj"]]))
