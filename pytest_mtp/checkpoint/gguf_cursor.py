"""A forward cursor over the start of a GGUF file: reads in windows, checks every length against the file."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator

from pytest_mtp.checkpoint.errors import CheckpointError
from pytest_mtp.checkpoint.source import Source

WINDOW = 1 << 16
"""Bytes a read. At most one window of tensor data is read, the one that the header ends in."""

MAX_STRINGS = 4_000_000
"""In all string arrays of a file. The largest vocabularies have 262,000 tokens and half a million merges."""

_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "B", 10: "Q", 11: "q", 12: "d"}


class Cursor:
    """`order` is the struct prefix of the file's byte order, known after the version."""

    def __init__(self, source: Source, file: str) -> None:
        """At the first byte."""
        self._source, self._file = source, file
        self.size = source.size(file)
        self.order = "<"
        self.strings = 0
        self._window, self._base, self._at = b"", 0, 0

    @property
    def position(self) -> int:
        """Of the next byte, in the file."""
        return self._base + self._at

    def fail(self, problem: str) -> CheckpointError:
        """The error to raise, with the place."""
        return CheckpointError(f"{problem} (at byte {self.position} of {self.size})", path=self._source.shown(self._file))

    def take(self, length: int) -> bytes:
        """These bytes; only for lengths that a caller has bounded."""
        end = self._at + length
        if end > len(self._window):
            if length > self.size - self.position:
                raise self.fail(f"is cut short: {length} more bytes were expected")
            base = self.position
            self._window = self._source.read(self._file, base, min(max(length, WINDOW), self.size - base))
            self._base, self._at, end = base, 0, length
        piece = self._window[self._at : end]
        self._at = end
        return piece

    def skip(self, length: int) -> None:
        """Step over bytes without reading them."""
        if length > self.size - self.position:
            raise self.fail(f"is cut short: {length} more bytes were expected")
        if self._at + length <= len(self._window):
            self._at += length
        else:
            self._window, self._base, self._at = b"", self.position + length, 0

    def u32(self) -> int:
        """Four bytes."""
        return int(struct.unpack(self.order + "I", self.take(4))[0])

    def u64(self) -> int:
        """Eight bytes."""
        return int(struct.unpack(self.order + "Q", self.take(8))[0])

    def text(self, *, limit: int, what: str) -> str:
        """A string that must be short."""
        length = self.u64()
        if length > limit:
            raise self.fail(f"{what} claims {length} bytes; at most {limit} make sense")
        try:
            return self.take(length).decode()
        except UnicodeDecodeError as error:
            raise self.fail(f"{what} is not UTF-8") from error

    def scalar(self, kind: int) -> int | float | bool:
        """A number or a truth value of this GGUF type id."""
        code = _SCALARS[kind]
        value = struct.unpack(self.order + code, self.take(struct.calcsize(self.order + code)))[0]
        return bool(value) if kind == 7 else value

    def numbers(self, kind: int, count: int) -> tuple[int | float | bool, ...]:
        """A short array."""
        code = _SCALARS[kind]
        width = struct.calcsize(self.order + code)
        values = struct.unpack(f"{self.order}{count}{code}", self.take(count * width))
        return tuple(bool(value) for value in values) if kind == 7 else values

    def width(self, kind: int) -> int:
        """Bytes of a scalar of this type id."""
        return struct.calcsize(self.order + _SCALARS[kind])

    def string_bytes(self, count: int) -> Iterator[bytes]:
        """The strings of an array, one by one, as they stand."""
        self.strings += count
        if self.strings > MAX_STRINGS or count * 8 > self.size - self.position:
            raise self.fail(f"an array claims {count} strings")
        unpack = struct.Struct(self.order + "Q").unpack
        for _ in range(count):
            length = unpack(self.take(8))[0]
            if length > WINDOW:
                raise self.fail(f"a string in an array claims {length} bytes")
            yield self.take(length)

    def digest_of_strings(self, count: int) -> tuple[str, int]:
        """SHA-256 over the strings in order, each with its length, and the number of strings that are no padding.

        Converters pad a vocabulary at its end with `[PAD123]`; those are left out, so that two files with the same
        tokenizer agree.
        """
        digest, held, real = hashlib.sha256(), [], 0
        for index, piece in enumerate(self.string_bytes(count)):
            if piece.startswith(b"[PAD") and piece.endswith(b"]"):
                held.append(piece)
                continue
            for waiting in (*held, piece):
                digest.update(len(waiting).to_bytes(4, "little") + waiting)
            held.clear()
            real = index + 1
        return digest.hexdigest(), real
