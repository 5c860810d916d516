"""The header of a safetensors file: 8 bytes of length, then JSON. The data behind it is never read."""

from __future__ import annotations

import math
import operator
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

from pytest_mtp.checkpoint.errors import CheckpointError
from pytest_mtp.checkpoint.json_bytes import Walker, parse_object
from pytest_mtp.checkpoint.source import Source
from pytest_mtp.checkpoint.tensor import MAX_NAME, MAX_TENSORS, SAFETENSORS_BITS, Tensor

MAX_HEADER = 40_000_000
"""Bytes. The format allows 100 MB; the headers of all 163 shards of a 671B model together have 13 MB."""

_FAST_ANY, _FAST_ASCII = 12 << 20, MAX_HEADER  # beyond ASCII, text takes up to four bytes a character
_WORD = (
    r'"([^"\\\x00-\x1f]{1,1024}+)"\s*+:\s*+\{\s*+"dtype"\s*+:\s*+"([A-Z0-9_]{1,32}+)"\s*+,\s*+"shape"\s*+:\s*+\[([\d,\s]{0,200}+)\]\s*+,'
    r'\s*+"data_offsets"\s*+:\s*+\[\s*+(\d{1,18}+)\s*+,\s*+(\d{1,18}+)\s*+\]\s*+\}'
)
_ENTRIES = re.compile(_WORD, flags=re.ASCII)
_UNCAUGHT = re.sub(r"\((?!\?)", "(?:", _WORD)
_METADATA = r'"__metadata__"\s*+:\s*+(\{(?:\s*+"[^"\\\x00-\x1f]*+"\s*+:\s*+"(?:[^"\\\x00-\x1f]|\\.)*+"\s*+,?)*+\})\s*+,'
_PLAIN = re.compile(rf"\s*+\{{\s*+(?:{_METADATA})?\s*+{_UNCAUGHT}(?:\s*+,\s*+{_UNCAUGHT})*+\s*+\}}\s*+", flags=re.ASCII)
"""A header whose entries stand in the library's own order: one look says so, a second takes it apart. 92,000 entries take
0.2 s this way; anything else takes the careful way."""

_make = tuple.__new__  # a named tuple's own constructor takes twice as long, and this runs 100,000 times
_SHAPE = re.compile(r"\s*+(?:\d{1,18}\s*+(?:,\s*+\d{1,18}\s*+){0,15})?", flags=re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """`metadata` is the file's own `__metadata__`; `length` counts the header's bytes with its length field."""

    tensors: tuple[Tensor, ...]
    length: int
    metadata: Mapping[str, str] = field(default_factory=dict)


def read_header(source: Source, file: str) -> Header:
    """Every tensor of one file. Raises CheckpointError for whatever the safetensors library would refuse."""
    path, size = source.shown(file), source.size(file)
    if size < 8:
        raise CheckpointError("is empty" if not size else f"has {size} bytes, too few for a safetensors file", path=path)
    first = source.read(file, 0, 8)
    if first == b"version ":
        raise CheckpointError("is a Git LFS pointer, not the weights: fetch them with `git lfs pull`", path=path)
    length = int.from_bytes(first, "little")
    if length > size - 8:
        words = f"the header claims {length} bytes and {size - 8} are there: not safetensors, or cut short while copying"
        raise CheckpointError(words, path=path)
    if length > MAX_HEADER:
        raise CheckpointError(f"the header has {length} bytes; no model's has more than {MAX_HEADER}", path=path)
    raw = source.read(file, 8, length)
    reader = _Reader(raw, path=path, file=file, base=8 + length)
    tensors = reader.entries()
    _check_layout(tensors, path=path, base=8 + length, size=size)
    return Header(tensors=tuple(tensors), length=8 + length, metadata=reader.metadata)


class _Reader:
    def __init__(self, raw: bytes, *, path: str, file: str, base: int) -> None:
        self.walker, self.path, self.file, self.base = Walker(raw, path=path), path, file, base
        self.metadata: dict[str, str] = {}

    def entries(self) -> list[Tensor]:
        tensors = self._plain()
        if tensors is None:
            tensors = []
            going = self.walker.enter()
            while going:
                tensor = self._careful()
                if tensor is not None:
                    tensors.append(tensor)
                if len(tensors) > MAX_TENSORS:
                    raise CheckpointError(f"more than {MAX_TENSORS} tensors in one file", path=self.path)
                going = self.walker.more()
            self.walker.finish()
        if len({tensor.name for tensor in tensors}) != len(tensors):
            twice = next(name for name, times in Counter(tensor.name for tensor in tensors).items() if times > 1)
            raise CheckpointError(f"the tensor {twice[:80]!r} stands in the header twice", path=self.path)
        return tensors

    def _plain(self) -> list[Tensor] | None:
        """All entries of a header in the library's own spelling, else None."""
        raw = self.walker.raw
        if len(raw) > (_FAST_ASCII if raw.isascii() else _FAST_ANY) or raw.count(b"}") > MAX_TENSORS:
            return None
        try:
            text = raw.decode()
        except UnicodeDecodeError as error:
            raise CheckpointError(f"the header is not UTF-8 (byte {error.start})", path=self.path) from error
        whole = _PLAIN.fullmatch(text)
        if whole is None:
            return None
        names, dtypes, shapes, firsts, lasts = zip(*_ENTRIES.findall(text, whole.end(1) if whole[1] else 0), strict=True)
        kinds = list(zip(dtypes, shapes, strict=True))
        known = {kind: _kind(*kind) for kind in set(kinds)}  # few distinct ones: parsed once, shared
        if None in known.values():
            return None
        told = [known[kind] or ("", (), 0) for kind in kinds]
        starts = list(map(int, firsts))
        nbytes = list(map(operator.sub, map(int, lasts), starts))
        begins = [self.base + start for start in starts]
        columns = zip(names, [kind[0] for kind in told], [kind[1] for kind in told], nbytes, repeat(self.file), begins, strict=False)
        tensors = list(map(_make, repeat(Tensor), columns))
        for tensor, (_, _, bits) in zip(tensors, told, strict=True):
            if tensor[3] * 8 != bits and (bits >= 0 or tensor[3] < 0):
                raise self._size_problem(tensor)
        if whole[1]:
            self.metadata = _short(parse_object(whole[1].encode(), path=self.path))
        return tensors

    def _careful(self) -> Tensor | None:
        name = self.walker.key()
        if name == "__metadata__":
            words = self.walker.value(limit=MAX_HEADER // 10)
            if not isinstance(words, dict) or not all(isinstance(word, str) for word in words.values()):
                raise CheckpointError("__metadata__ is not a mapping of strings", path=self.path)
            self.metadata = _short(words)
            return None
        if len(name) > MAX_NAME:
            raise self.walker.fail(f"a tensor name of {len(name)} characters")
        entry = self.walker.value(limit=4096)
        where = f"the entry of {name[:80]!r}"
        if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
            raise CheckpointError(f"{where} is not {{dtype, shape, data_offsets}}", path=self.path)
        dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
        if not isinstance(dtype, str) or len(dtype) > 32:
            raise CheckpointError(f"{where} has no element type", path=self.path)
        if not _sizes(shape) or len(shape) > 16:
            raise CheckpointError(f"{where} has the impossible shape {str(shape)[:80]}", path=self.path)
        if not _sizes(offsets) or len(offsets) != 2 or offsets[1] < offsets[0]:
            raise CheckpointError(f"{where} has the impossible offsets {str(offsets)[:80]}", path=self.path)
        tensor = Tensor(name, dtype, tuple(shape), offsets[1] - offsets[0], self.file, self.base + offsets[0])
        bits = SAFETENSORS_BITS.get(dtype)
        if bits is not None and tensor.elements * bits != tensor.nbytes * 8:
            raise self._size_problem(tensor)
        return tensor

    def _size_problem(self, tensor: Tensor) -> CheckpointError:
        said = f"{tensor.dtype} {list(tensor.shape)} in {tensor.nbytes} bytes"
        return CheckpointError(f"shape and offsets of {tensor.name[:80]!r} contradict each other: {said}", path=self.path)


def _kind(dtype: str, shape: str) -> tuple[str, tuple[int, ...], int] | None:
    """Type, shape, and the bits that such a tensor has (-1: not known); None for a shape that wants a careful look."""
    if _SHAPE.fullmatch(shape) is None:
        return None
    sizes = tuple(map(int, shape.split(","))) if shape.strip() else ()
    bits = SAFETENSORS_BITS.get(dtype)
    return dtype, sizes, -1 if bits is None else math.prod(sizes) * bits


def _short(words: Mapping[str, str]) -> dict[str, str]:
    return {key: word for key, word in words.items() if len(word) <= 4096}


def _sizes(value: Any) -> bool:
    return isinstance(value, list) and all(type(size) is int and 0 <= size < 10**18 for size in value)


def _check_layout(tensors: list[Tensor], *, path: str, base: int, size: int) -> None:
    at, previous = base, "the header"
    starts = [(tensor.start, tensor.nbytes) for tensor in tensors]
    in_order = all(map(operator.le, starts, starts[1:]))  # as the library writes them
    for tensor in tensors if in_order else sorted(tensors, key=lambda tensor: (tensor.start, tensor.nbytes)):
        if tensor.start < at:
            raise CheckpointError(f"the data of {tensor.name[:80]!r} and of {previous[:80]!r} overlap", path=path)
        if tensor.start > at:
            raise CheckpointError(f"{tensor.start - at} unclaimed bytes before {tensor.name[:80]!r}: the format forbids holes", path=path)
        at, previous = tensor.start + tensor.nbytes, tensor.name
    if at > size:
        raise CheckpointError(f"is cut short: its tensors need {at} bytes and it has {size}", path=path)
    if at < size:
        raise CheckpointError(f"has {size - at} bytes after its last tensor: the format forbids them", path=path)
