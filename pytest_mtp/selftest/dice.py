"""Repeatable chance: the same key rolls the same number in every process, on every machine."""

from __future__ import annotations

import hashlib


def roll(*key: object) -> float:
    """A number in [0, 1) that depends on the key alone."""
    return pick(*key) / 2**64


def pick(*key: object) -> int:
    """A 64-bit whole number that depends on the key alone."""
    words = "\x1f".join(map(str, key)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(words, digest_size=8).digest(), "big")


def digest(*key: object) -> str:
    """Sixteen hexadecimal digits that depend on the key alone."""
    return f"{pick(*key):016x}"
