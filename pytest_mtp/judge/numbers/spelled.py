"""Numbers written in words, English and Chinese or Japanese: `thirty-two`, 三十二. Read only where an answer stands alone."""

from __future__ import annotations

import re
from fractions import Fraction

from pytest_mtp.judge.numbers.scan import Token

_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_ONES = {word: value for value, word in enumerate(f"zero one two three four five six seven eight nine {_TEENS}".split())}
_DECADES = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_TENS = {word: 10 * value for value, word in enumerate(_DECADES, start=2)}
_BIG = {"thousand": 10**3, "million": 10**6, "billion": 10**9}
_WORDS = "|".join((*_ONES, *_TENS, "hundred", *_BIG))
_ENGLISH = re.compile(rf"\b(?P<minus>(?:minus|negative)[ ])?(?P<words>(?:{_WORDS})(?:(?:[ -]|[ ]and[ ])(?:{_WORDS}))*)\b", re.IGNORECASE)
_HAN_DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "兩": 2}
_HAN_UNITS = {"十": 10, "百": 100, "千": 1000}
_HAN_BIG = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
_HAN = re.compile(f"(?P<minus>[负負])?(?P<words>[{''.join((*_HAN_DIGITS, *_HAN_UNITS, *_HAN_BIG))}]+)")
_LONGEST = 200


def spelled_number(segment: str) -> Token | None:
    """The only spelled number of a segment, None when there is none or several."""
    if len(segment) > _LONGEST:
        return None
    found = []
    for pattern, read in ((_ENGLISH, _english), (_HAN, _han)):
        for match in pattern.finditer(segment):
            value = read(match["words"])
            if value is not None:
                signed = Fraction(-value if match["minus"] else value)
                found.append(Token(value=signed, percent=False, start=match.start(), end=match.end()))
    return found[0] if len(found) == 1 else None


def _english(words: str) -> int | None:
    total = part = 0
    last = 10**12  # words must fall in size inside a part: `two three` is no number
    for word in re.split(r"[ -]", words.lower()):
        if word == "and":
            continue
        if word == "hundred":
            if not 0 < part < 10:
                return None
            part, last = part * 100, 100
        elif word in _BIG:
            if part == 0:
                return None
            total, part, last = total + part * _BIG[word], 0, 10**12
        else:
            value = _ONES.get(word, _TENS.get(word, 0))
            if last <= 10 or (word in _ONES and last < 100 and value >= 10) or (word in _TENS and last < 100):
                return None
            part, last = part + value, value if value >= 20 else 1
    return total + part


def _han(words: str) -> int | None:
    if len(words) == 1 and words in _HAN_DIGITS:
        return _HAN_DIGITS[words]
    if not any(char in _HAN_UNITS or char in _HAN_BIG for char in words):
        return None
    total = part = digit = 0
    for char in words:
        if char in _HAN_DIGITS:
            digit = _HAN_DIGITS[char]
        elif char in _HAN_UNITS:
            part, digit = part + (digit or 1) * _HAN_UNITS[char], 0
        else:
            total, part, digit = (total + part + digit) * _HAN_BIG[char], 0, 0
    return total + part + digit
