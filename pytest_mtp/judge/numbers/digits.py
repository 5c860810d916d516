"""Digits and number signs of every script as ASCII, character by character, so that positions stay."""

from __future__ import annotations

import re
import unicodedata

_SIGNS = {
    "−": "-",  # minus sign
    "－": "-",
    "﹣": "-",
    "＋": "+",
    "．": ".",
    "٫": ".",  # Arabic decimal separator
    "٬": ",",  # Arabic thousands separator
    "％": "%",
    "٪": "%",
    "﹪": "%",
    "’": "'",
    "＝": "=",
    "／": "/",
    "⁄": "/",
    "∕": "/",
    "＄": "$",
    "：": ":",
    "\u00a0": "\u202f",
    "\u2009": "\u202f",  # every narrow or no-break space is one of them below
}
_FOREIGN = re.compile(r"[^\x00-\x7f]")


def plain(segment: str) -> str:
    """The same length, digits and signs in ASCII. Superscript digits stay, since 10² is not 102."""
    return segment if segment.isascii() else _FOREIGN.sub(_plain_char, segment)


def _plain_char(match: re.Match[str]) -> str:
    char = match[0]
    if char in _SIGNS:
        return _SIGNS[char]
    return str(unicodedata.decimal(char)) if char.isdecimal() else char
