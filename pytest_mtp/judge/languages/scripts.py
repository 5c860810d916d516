"""Scripts by code point, in one pass of the regex engine a script."""

from __future__ import annotations

import re
from collections.abc import Mapping

_RANGES: Mapping[str, str] = {
    "Latin": "A-Za-zªºÀ-ÖØ-öø-ʯḀ-ỿＡ-Ｚａ-ｚ",
    "Cyrillic": "Ѐ-ԯᲀ-ᲈ",
    "Greek": "Ͱ-Ͽἀ-῿",
    "Han": "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff",
    "Kana": "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fd-\u30ff\u31f0-\u31ff\uff66-\uff9d",
    "Hangul": "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3",
    "Arabic": "\u0620-\u064a\u066e-\u06d3\u06d5\u06ee\u06ef\u06fa-\u06ff\u0750-\u077f\u08a0-\u08ff\ufb50-\ufdff\ufe70-\ufefc",
    "Hebrew": "\u05d0-\u05f2\ufb1d-\ufb4f",
    "Devanagari": "\u0900-\u0963\u0971-\u097f",
    "Bengali": "\u0980-\u09e3\u09f0\u09f1",
    "Gurmukhi": "\u0a00-\u0a65\u0a70-\u0a76",
    "Gujarati": "\u0a80-\u0ae3",
    "Tamil": "\u0b80-\u0be5",
    "Telugu": "\u0c00-\u0c65",
    "Kannada": "\u0c80-\u0ce3",
    "Malayalam": "\u0d00-\u0d65",
    "Sinhala": "\u0d80-\u0df4",
    "Thai": "\u0e01-\u0e3a\u0e40-\u0e4e",
    "Lao": "\u0e81-\u0ecd",
    "Khmer": "\u1780-\u17d3",
    "Myanmar": "\u1000-\u103f\u1050-\u109f",
    "Ethiopic": "\u1200-\u137c",
    "Georgian": "\u10a0-\u10ff\u1c90-\u1cbf",
    "Armenian": "\u0531-\u0587",
    "Tibetan": "\u0f40-\u0fbc",
    "Mongolian": "\u1820-\u1878",
    "Cherokee": "\u13a0-\u13f5",
    "Gothic": "\U00010330-\U0001034a",
    "Thaana": "\u0780-\u07b1",
    "Syriac": "\u0710-\u074f",
    "Javanese": "\ua980-\ua9c0",
    "Yi": "\ua000-\ua4c6",
    "Tifinagh": "\u2d30-\u2d67",
}
_RUN = {script: re.compile(f"[{ranges}]+") for script, ranges in _RANGES.items()}
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_LETTER = re.compile("|".join(f"(?P<{script}>[{ranges}]+)" for script, ranges in _RANGES.items() if script != "Latin"))

FAMILY: Mapping[str, str] = {"Kana": "Han"}
"""Scripts that stand in one text as a matter of course: Japanese mixes kana and Han."""


def letters_by_script(text: str) -> dict[str, int]:
    """How many letters of each script; scripts without a letter are left out."""
    counts = {"Latin": sum(len(run) for run in _RUN["Latin"].findall(text))}
    if not text.isascii():
        for match in _LETTER.finditer(text):
            script = match.lastgroup or ""
            counts[script] = counts.get(script, 0) + match.end() - match.start()
    return {script: count for script, count in counts.items() if count}


def runs_of(script: str, text: str) -> list[re.Match[str]]:
    """The runs of letters of one script."""
    return list(_RUN[script].finditer(text))
