"""Words that multiply a number: 3 million is not 3."""

from __future__ import annotations

import re

_WORDS: dict[int, str] = {
    12: "dozen|dozens|Dutzend",
    10**3: "thousand|thousands|Tausend|mille|mila|mil|тысяча|тысячи|тысяч|bin|ribu|nghìn|tysiąc|tysiące|tysięcy|हज़ार|हजार|ألف|آلاف",
    10**5: "lakh|lakhs|लाख",
    10**6: "million|millions|mn|Million|Millionen|Mio|millón|millones|milhão|milhões|milione|milioni|миллион|миллиона|миллионов|млн"
    "|milyon|juta|triệu|miljoen|miljoner|milion|miliony|milionów|مليون|ملايين",
    10**7: "crore|crores|करोड़",
    10**9: "billion|billions|bn|Milliarde|Milliarden|Mrd|milliard|milliards|mil millones|bilhão|bilhões|miliardo|miliardi"
    "|миллиард|миллиарда|миллиардов|млрд|milyar|miliar|tỷ|miljard|miljarder|miliard|miliardy|miliardów|مليار",
    10**12: "trillion|trillions|Billionen|billones|biliones|триллион|триллионов|трлн",
}
_CJK = {"百": 10**2, "千": 10**3, "万": 10**4, "萬": 10**4, "만": 10**4, "億": 10**8, "亿": 10**8, "억": 10**8, "兆": 10**12}
_SUFFIX = {"k": 10**3, "M": 10**6, "B": 10**9}  # only where they touch the digits: 5k, 7B
_VALUE = {word: value for value, words in _WORDS.items() for word in words.split("|")} | _CJK | _SUFFIX

SCALE = (
    r"(?P<scale>(?<=\d)[kMB](?![\w/²³])|\s?[百千万萬만億亿억兆]"
    rf"|[ \t\u202f]?(?:{'|'.join(re.escape(word) for word in sorted(_VALUE, key=len, reverse=True) if len(word) > 1)})\b\.?)"
)
"""One scale word after a number, in the group `scale`."""


def scale_of(word: str) -> int:
    """What a matched scale word multiplies by."""
    return _VALUE[word.strip(" \t\u202f.")]


def scale_named(unit: str) -> int | None:
    """The factor of a declared unit that is a scale word (`unit: million`), else None."""
    return _VALUE.get(unit)
