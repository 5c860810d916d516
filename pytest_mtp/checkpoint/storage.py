"""How many weights a tensor holds and in how many bits each, over the packings in use."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from pytest_mtp.checkpoint.tensor import GGML_TYPES, SAFETENSORS_BITS, Tensor

_FLOATS = frozenset({"F64", "F32", "F16", "BF16", "F8_E4M3", "F8_E5M2", "F8_E4M3FNUZ", "F8_E5M2FNUZ"})
_GGML = {name: width * 8 / block for name, block, width in GGML_TYPES.values()}
_BESIDE = frozenset(
    {
        "scales", "biases", "qzeros", "g_idx", "zeros", "weight_scale", "weight_scale_inv", "weight_scale_2", "weight_zero_point",
        "weight_shape", "weight_g_idx", "input_scale", "input_zero_point", "output_scale", "k_scale", "v_scale", "weight_global_scale",
        "input_global_scale", "SCB", "weight_format", "scale", "scale_inv",
    }
)  # fmt: skip
"""Last components of names that hold no weights of their own but what is needed to unpack them."""

_PACKED = frozenset({"qweight", "weight_packed", "weight", "gate_up_proj", "down_proj", "gate_up_proj_blocks", "down_proj_blocks"})


class Held(NamedTuple):
    """Of one tensor. `bits` is 0 for tensors that hold no weights; `label` is how it is called (BF16, Q4_1, 4-bit)."""

    weights: int
    bits: float
    label: str


class Storage:
    """Reads one checkpoint's packings; `recipe` is its quantisation config."""

    def __init__(self, recipe: Mapping[str, Any], tensors: Mapping[str, Tensor], *, gguf: bool) -> None:
        """Both are only looked into, never changed."""
        self._recipe, self._tensors, self._gguf = recipe, tensors, gguf
        self._bits = _bits_of(recipe)
        self._known: dict[tuple[str, tuple[int, ...], str], Held] = {}

    def held(self, tensor: Tensor) -> Held:
        """Unread tensors (of shards that are missing) hold nothing."""
        return next(self.of([(tensor.name, tensor)]))[0]

    def of(self, parts: Iterable[tuple[str, Tensor]]) -> Iterator[tuple[Held, str, Tensor]]:
        """Of many tensors. A large checkpoint has few distinct types, shapes and last words, and these are asked once."""
        known = self._known
        for rest, tensor in parts:
            key = (tensor[1], tensor[2], rest[rest.rfind(".") :])
            held = known.get(key)
            if held is None:
                held = self._held(tensor)
                if key[0] in _FLOATS and key[2] not in (".scale", ".biases"):
                    known[key] = held
            yield held, rest, tensor

    def _held(self, tensor: Tensor) -> Held:
        if self._gguf:
            elements = math.prod(tensor.shape)
            bits = _GGML.get(tensor.dtype) or (tensor.nbytes * 8 / elements if elements else 0)
            return Held(elements, bits, tensor.dtype)
        if not tensor.dtype:
            return Held(0, 0, "")
        module, _, last = tensor.name.rpartition(".")
        if last in _BESIDE and (last not in ("scale", "biases") or f"{module}.weight" in self._tensors):
            return Held(0, 0, "")
        if last.endswith(("_scales", "_scale_inv")) or ".quant_state." in tensor.name or last in ("absmax", "quant_map"):
            return Held(0, 0, "")
        if tensor.dtype in _FLOATS:
            return Held(math.prod(tensor.shape), SAFETENSORS_BITS[tensor.dtype], tensor.dtype)
        return self._packed(tensor, module, last)

    def _packed(self, tensor: Tensor, module: str, last: str) -> Held:
        if last not in _PACKED or len(tensor.shape) < 2:
            return Held(0, 0, "")  # position ids, draft-to-target maps
        if tensor.dtype.startswith(("F4", "F6")):
            bits = SAFETENSORS_BITS[tensor.dtype]
        elif tensor.dtype == "U8":
            bits = 4
        elif tensor.dtype == "I8":
            bits = 8
        else:
            bits = self._module_bits(module, tensor) or self._bits or 4
        return Held(tensor.nbytes * 8 // bits, bits, f"{bits}-bit")

    def _module_bits(self, module: str, tensor: Tensor) -> int | None:
        """From MLX's per-module entry, else from the scales: columns = packed * 32 / bits = groups * group size."""
        own = self._recipe.get(module)
        if isinstance(own, Mapping) and own.get("bits") in range(1, 9):
            return int(own["bits"])
        scales = self._tensors.get(f"{module}.scales")
        if scales is None or tensor.dtype != "U32" or not scales.shape:
            return None
        sizes = [size for size in (self._recipe.get("group_size"), 64, 32, 128, 16) if isinstance(size, int) and size > 0]
        for size in sizes:
            columns = scales.shape[-1] * size
            bits = tensor.shape[-1] * 32 // columns if columns else 0
            if bits in (2, 3, 4, 5, 6, 8) and bits * columns == tensor.shape[-1] * 32:
                return bits
        return None


def _bits_of(recipe: Mapping[str, Any]) -> int | None:
    """GPTQ, AWQ and MLX say `bits`; compressed-tensors says `num_bits` in its config groups."""
    bits = recipe.get("bits", recipe.get("w_bit"))
    if bits in range(1, 9):
        return int(bits)
    groups = recipe.get("config_groups")
    for group in groups.values() if isinstance(groups, Mapping) else ():
        weights = group.get("weights") if isinstance(group, Mapping) else None
        if isinstance(weights, Mapping) and weights.get("num_bits") in range(1, 9):
            return int(weights["num_bits"])
    return None
