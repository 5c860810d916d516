"""Plain scalars as the core schema of YAML 1.2 reads them.

YAML 1.1, PyYAML's own dialect, turns `no` into False, `12:30` into 750 and `010` into 8: a golden answer would change
without a word.
"""

from __future__ import annotations

import math
import re

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT = re.compile(r"[-+]?[0-9]+\Z")
_OCTAL = re.compile(r"0o[0-7]+\Z")
_HEX = re.compile(r"0x[0-9a-fA-F]+\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)\Z|\.(?:nan|NaN|NAN)\Z")
_FIRST = frozenset("0123456789+-.~nNtTfF")
_MAX_DIGITS = 4000  # below the limit at which int() refuses

Scalar = str | int | float | bool | None


def resolve(text: str) -> Scalar:
    """The value of a plain scalar; raises ValueError with words for the user where the core schema has one that JSON has not."""
    if text and text[0] not in _FIRST:
        return text
    if text in _NULLS:
        return None
    if text in _BOOLS:
        return _BOOLS[text]
    if _INT.match(text):
        return _integer(text, 10)
    if _FLOAT.match(text):
        number = float(text)
        if math.isinf(number):
            raise ValueError(f"{text} is too large for a number")
        return number
    if _OCTAL.match(text):
        return _integer(text[2:], 8)
    if _HEX.match(text):
        return _integer(text[2:], 16)
    if _NOT_FINITE.match(text):
        raise ValueError(f"{text} is no number that JSON can carry; put it in quotes if it is text")
    return text


def _integer(digits: str, base: int) -> int:
    if len(digits) > _MAX_DIGITS:
        raise ValueError(f"a number of {len(digits)} digits is too long; put it in quotes if it is text")
    return int(digits, base)
