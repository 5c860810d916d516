"""The header of a GGUF file (versions 2 and 3, either byte order): key-value pairs, then tensor descriptions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from pytest_mtp.checkpoint.errors import CheckpointError
from pytest_mtp.checkpoint.gguf_cursor import Cursor
from pytest_mtp.checkpoint.source import Source
from pytest_mtp.checkpoint.tensor import GGML_TYPES, MAX_TENSORS, Tensor

_STRING, _ARRAY = 8, 9
_KEPT_TEXT = 1 << 20
_KEPT_NUMBERS = 4096
_VOCABULARY = "tokenizer.ggml.tokens"

Value = int | float | bool | str | tuple[int | float | bool, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GgufHeader:
    """`values` leaves out long texts and long arrays; `counts` has the length of every array.

    `vocabulary` is the digest of the token list and the number of its tokens without padding, None where there is none.
    """

    version: int
    values: Mapping[str, Value]
    counts: Mapping[str, int] = field(default_factory=dict)
    vocabulary: tuple[str, int] | None = None
    tensors: tuple[Tensor, ...] = ()
    length: int = 0


def read_gguf(source: Source, file: str) -> GgufHeader:
    """Everything but the weights. Raises CheckpointError where the file contradicts the format."""
    cursor = Cursor(source, file)
    if cursor.size == 0:
        raise cursor.fail("is empty")
    magic = cursor.take(min(8, cursor.size))
    if magic == b"version ":
        raise cursor.fail("is a Git LFS pointer, not the weights: fetch them with `git lfs pull`")
    if magic[:4] != b"GGUF" or len(magic) < 8:
        raise cursor.fail(f"does not begin with GGUF but with {magic[:4]!r}")
    version = int.from_bytes(magic[4:], "little")
    if version & 0xFFFF == 0 and version:
        version, cursor.order = int.from_bytes(magic[4:], "big"), ">"
    if version not in (2, 3):
        raise cursor.fail(f"is GGUF version {version}; versions 2 and 3 are read")
    tensor_count, pair_count = cursor.u64(), cursor.u64()
    if tensor_count > MAX_TENSORS or pair_count > 100_000:
        raise cursor.fail(f"claims {tensor_count} tensors and {pair_count} keys")
    values, counts, vocabulary = _pairs(cursor, pair_count)
    described = [_tensor(cursor) for _ in range(tensor_count)]
    alignment = values.get("general.alignment", 32)
    if not isinstance(alignment, int) or alignment < 1 or alignment > 1 << 20 or alignment & (alignment - 1):
        raise cursor.fail(f"general.alignment is {alignment!r}, not a power of two")
    length = cursor.position
    base = -(-length // alignment) * alignment
    tensors = _laid_out(described, cursor=cursor, path=source.shown(file), file=file, base=base, alignment=alignment)
    return GgufHeader(version=version, values=values, counts=counts, vocabulary=vocabulary, tensors=tensors, length=length)


def _pairs(cursor: Cursor, pair_count: int) -> tuple[dict[str, Value], dict[str, int], tuple[str, int] | None]:
    values: dict[str, Value] = {}
    counts: dict[str, int] = {}
    vocabulary, seen = None, set()
    for _ in range(pair_count):
        key = cursor.text(limit=65_535, what="a key")
        if key in seen:
            raise cursor.fail(f"the key {key[:80]!r} stands there twice")
        seen.add(key)
        kind = cursor.u32()
        if kind == _ARRAY:
            counts[key], value, digest = _array(cursor, key)
            vocabulary = digest or vocabulary
        else:
            value = _single(cursor, key, kind)
        if value is not None:
            values[key] = value
    return values, counts, vocabulary


def _single(cursor: Cursor, key: str, kind: int) -> Value | None:
    if kind == _STRING:
        length = cursor.u64()
        if length <= _KEPT_TEXT:
            return cursor.take(length).decode("utf-8", "replace")
        cursor.skip(length)
        return None
    if kind > 12:
        raise cursor.fail(f"the key {key[:80]!r} has the unknown type {kind}")
    return cursor.scalar(kind)


def _array(cursor: Cursor, key: str) -> tuple[int, Value | None, tuple[str, int] | None]:
    item, count = cursor.u32(), cursor.u64()
    if item == _STRING and key == _VOCABULARY:
        return count, None, cursor.digest_of_strings(count)
    if item == _STRING:
        for _ in cursor.string_bytes(count):
            pass
        return count, None, None
    if item == _ARRAY or item > 12:
        raise cursor.fail(f"the array {key[:80]!r} has items of type {item}")
    if count <= _KEPT_NUMBERS:
        return count, cursor.numbers(item, count), None
    cursor.skip(count * cursor.width(item))
    return count, None, None


def _tensor(cursor: Cursor) -> tuple[str, tuple[int, ...], int, int]:
    name = cursor.text(limit=1024, what="a tensor name")
    dimensions = cursor.u32()
    if dimensions > 8:
        raise cursor.fail(f"the tensor {name[:80]!r} claims {dimensions} dimensions")
    shape = tuple(int(size) for size in cursor.numbers(10, dimensions))
    if math.prod(shape) >= 1 << 60:
        raise cursor.fail(f"the tensor {name[:80]!r} has the impossible shape {shape}")
    return name, shape, cursor.u32(), cursor.u64()


def _laid_out(
    described: list[tuple[str, tuple[int, ...], int, int]], *, cursor: Cursor, path: str, file: str, base: int, alignment: int
) -> tuple[Tensor, ...]:
    found: dict[str, Tensor] = {}
    starts = sorted({offset for _, _, _, offset in described})
    following = dict(pairwise([*starts, max(cursor.size - base, 0)]))
    for name, shape, kind, offset in described:
        where = f"the tensor {name[:80]!r}"
        if name in found:
            raise CheckpointError(f"{where} stands in the header twice", path=path)
        if offset % alignment:
            raise CheckpointError(f"{where} begins at {offset}, not at a multiple of {alignment}", path=path)
        dtype, block, width = GGML_TYPES.get(kind, (f"TYPE_{kind}", 0, 0))
        if block and shape and shape[0] % block:
            raise CheckpointError(f"{where} has rows of {shape[0]}, which {dtype} cannot hold in blocks of {block}", path=path)
        nbytes = math.prod(shape) // block * width if block else max(following[offset] - offset, 0)
        if base + offset + nbytes > cursor.size:
            needed = base + offset + nbytes
            raise CheckpointError(f"is cut short: {where} needs bytes up to {needed} and the file has {cursor.size}", path=path)
        found[name] = Tensor(name, dtype, shape[::-1], nbytes, file, base + offset)
    at, previous = base, ""
    for tensor in sorted(found.values(), key=lambda tensor: (tensor.start, tensor.nbytes)):
        if tensor.start < at:
            raise CheckpointError(f"the data of {tensor.name[:80]!r} and of {previous[:80]!r} overlap", path=path)
        at, previous = tensor.start + tensor.nbytes, tensor.name
    return tuple(found.values())
