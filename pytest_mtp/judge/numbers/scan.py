"""Every number of a short segment, and what only looks like one: dates, times, versions, list markers, names."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from fractions import Fraction

from pytest_mtp.judge.numbers.digits import plain
from pytest_mtp.judge.numbers.scales import SCALE, scale_of
from pytest_mtp.judge.numbers.values import VULGAR, has_decimal_comma, read

_MONTH = (
    "(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b"
)
_NUMBERED = ("step", "question", "figure", "table", "equation", "chapter", "case", "option", "problem", "example")
_SKIPPED = (
    r"\d{4}-\d{1,2}-\d{1,2}(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?(?!\d)",
    r"(?<![\d.,])\d{1,2}(?P<sep>[./-])\d{1,2}(?P=sep)(?:\d{4}|\d{2})(?![\d.,/-]*\d)",
    rf"{_MONTH}\.?\s\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s\d{{4}})?(?!\d)",
    rf"\d{{1,2}}(?:st|nd|rd|th)?\.?\s(?:of\s)?{_MONTH}(?:,?\s\d{{4}})?",
    r"\d{4}年\d{1,2}月(?:\d{1,2}日)?",
    r"(?<![\d:])\d{1,2}:\d{2}(?::\d{2})?(?![\d:])",
    r"(?<![\d.,])(?!\d{1,3}(?:\.\d{3})+(?![\d.]))[vV]?\d+(?:\.\d+){2,}",
    r"^[ \t>]{0,8}\d{1,3}[.)][ \t]+(?=\S)",
    rf"\b(?:{'|'.join(f'[{word[0].upper()}{word[0]}]{word[1:]}' for word in _NUMBERED)}|[Ff]ig\.|[Nn]o\.)\s?#?\d+\b",
    r"(?<=[^\s:=({\[])\[\d{1,3}\]",
)
_POWER = r"(?:\^[ ]?\{?[ ]?(?P<power>[-+]?\d{1,5})[ ]?\}?|(?P<super>⁻?[⁰¹²³⁴-⁹]{1,4}))"
_FRAC = r"\\[dt]?frac[ ]?(?:\{[ ]?(?P<num>-?\d{1,40})[ ]?\}[ ]?\{[ ]?(?P<den>\d{1,40})[ ]?\}|(?P<num1>\d)[ ]?(?P<den1>\d))"
_PERCENT = (
    r"(?P<percent>[ \u202f]?(?:\\?%|(?:percent|per[ ]cent|pct|Prozent|por[ ]?ciento|por[ ]?cento|pour[ ]?cent|per[ ]cento|procent"
    r"|процент\w{0,3}|yüzde|persen|phần[ ]trăm|パーセント|퍼센트|प्रतिशत|بالمئة|بالمائة)(?![A-Za-z])))"
)
_NUMBER = (
    r"(?P<sign>[-+–][ ]?)?(?P<money>(?:(?<![A-Za-z])(?:US\$|R\$|Rs\.?|USD|EUR|GBP|CHF|INR|JPY)|\\?\$|[€£¥₹₩₽₺])[ ]?)?(?P<inner>-)?"
    rf"(?:{_FRAC}|(?P<ten>10[ ]?{_POWER})"
    r"|(?P<run>\d+(?:(?:[,.'_\u202f]|\{,\}|\\,)\d+)*|(?<![\w.])\.\d+)"
    r"(?:(?P<vulgar>[ ]?[½-¾⅐-⅞])|[ ](?P<mixnum>\d{1,9})/(?P<mixden>\d{1,9})(?![\d/])|[ ]?/[ ]?(?P<over>\d{1,40})(?![\d/]|[.,]\d)"
    rf"|[ ]?\\[dt]?frac\{{(?P<fnum>\d{{1,9}})\}}\{{(?P<fden>\d{{1,9}})\}}|[eE](?P<exp>[-+]?\d{{1,9}})(?!\w)"
    rf"|[ ]?(?:×|\\times|\\cdot|·|\*|[xX])[ ]?10[ ]?{_POWER.replace('power', 'power2').replace('super', 'super2')})?"
    r"|(?P<alone>[½-¾⅐-⅞]))"
    rf"(?:{_PERCENT}|{SCALE})?"
)
_LETTERS = "A-Za-zÀ-ÖØ-öø-ɏΑ-Ωα-ωА-Яа-я"
_TOKEN = re.compile(
    rf"(?P<skip>{'|'.join(_SKIPPED)})|{_NUMBER}|(?P<name>(?<![{_LETTERS}])[{_LETTERS}]++[-_]?\d[\w-]*(?:\.\d+)*)", re.MULTILINE
)
_WIDE = re.compile(r"(?<![\d.,])([1-9]\d{0,2})((?: \d{3})+)(?![\d]|[,.]\d{3})")
_TIED = re.compile(
    r"[ ]?(?:\^|\\sqrt|√|π|\\pi\b|[²³¹⁰⁴-⁹ⁿ])|[ ]and[ ](?:a|one|two|three)[ ](?:half|third|quarter|fifth)"
    r"|[ ]?(?:[-–+*/×÷·:]|\\times|\\div|\\cdot|[xX](?=[ ]?\d))[ ]?[-(]?\\?[$€£]?\d"
)
_TIED_BEFORE = re.compile(r"(?:√|\\sqrt\{?|\^\{?|_\{?|[<>≤≥≠±])[ ]?$")
_MINUS_WORD = re.compile(r"(?:\b(?:minus|negative|moins|menos|meno|минус)|负|負|マイナス)[ ]?$", re.IGNORECASE)
_NEGATED = re.compile(r"\b(?:not|nicht|pas|не)[ ](?:\w{1,12}[ ])?$")
_MAX_EXPONENT = 400
_SUPERS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A number at (start, end) of the segment. `value` is None where it belongs to an expression or is no one number."""

    value: Fraction | None
    percent: bool
    start: int
    end: int
    money: str = ""


def scan(segment: str, *, decimal_comma: bool = False, marked: bool = False) -> list[Token]:
    """Numbers in order. `marked` segments hold an answer alone: there `1 234 567` is one number, and `- 5` and `5.` open no list."""
    text = plain(segment)
    if marked:
        text = ":" + _WIDE.sub(lambda match: match[0].replace(" ", "\u202f"), text)
    comma = decimal_comma or has_decimal_comma(text)
    tokens = [token for match in _TOKEN.finditer(text) for token in _tokens(text, match, comma=comma)]
    return [dataclasses.replace(token, start=token.start - 1, end=token.end - 1) for token in tokens] if marked else tokens


def _tokens(text: str, match: re.Match[str], *, comma: bool) -> list[Token]:
    if match["skip"] is not None or match["name"] is not None:
        return []
    start, end = match.span()
    before = text[max(0, start - 24) : start]
    if _NEGATED.search(before):
        return []
    value = _magnitude(match, comma=comma)
    if value is None and match["run"] and "," in match["run"]:
        return _listed(text, match)
    if value is not None and match["scale"]:
        value *= scale_of(match["scale"])
    tied = _TIED.match(text, end) or _tied_before(before) or re.match(r"\d", text[end : end + 1])
    if value is None or tied:
        return [Token(value=None, percent=False, start=start, end=end)]
    percent = match["percent"] is not None or before.endswith("百分之")
    value = -value if _negative(before, match) else value
    money = (match["money"] or "").strip().removeprefix("\\")
    return [Token(value=value, percent=percent, start=start, end=end, money=money)]


def _tied_before(before: str) -> bool:
    """A root, a power, a comparison; but `> 32` at the beginning of a line is a quotation of Markdown."""
    return _TIED_BEFORE.search(before) is not None and before.rpartition("\n")[2].strip() != ">"


def _negative(before: str, match: re.Match[str]) -> bool:
    """A minus sign after a digit, a letter or a closing bracket is subtraction or a hyphen; `- 5` opening a line is a bullet."""
    if match["inner"]:
        return True
    sign = (match["sign"] or "").strip()
    if not sign:
        word = _MINUS_WORD.search(before)
        return word is not None and not before[: word.start()].rstrip()[-1:].isdigit()
    if sign == "+":
        return False
    spaced = match["sign"] != sign
    line = before.rpartition("\n")[2]
    last = line.rstrip()[-1:]
    if not last:
        return not spaced
    if last.isalpha():
        return not spaced and line[-1:] != last
    if last.isdigit() or last in {")", "]", "}", "%"}:
        return False
    return not spaced or last in {"=", ":", "(", "[", "{", "$", "≈"}


def _magnitude(match: re.Match[str], *, comma: bool) -> Fraction | None:
    if match["num"] or match["num1"]:
        return _ratio(match["num"] or match["num1"], match["den"] or match["den1"])
    if match["alone"]:
        return VULGAR[match["alone"]]
    if match["ten"]:
        return _power(match["power"], match["super"])
    value = read(match["run"], decimal_comma=comma)
    if value is None:
        return None
    if match["vulgar"]:
        return value + VULGAR[match["vulgar"].strip()]
    if match["mixnum"] or match["fnum"]:
        part = _ratio(match["mixnum"] or match["fnum"], match["mixden"] or match["fden"])
        return None if part is None else value + part
    if match["over"]:
        return _ratio(match["run"], match["over"]) if match["run"].isdigit() else None
    if match["exp"]:
        power = _power(match["exp"], None)
        return None if power is None else value * power
    if match["power2"] or match["super2"]:
        power = _power(match["power2"], match["super2"])
        return None if power is None else value * power
    return value


def _ratio(numerator: str, denominator: str) -> Fraction | None:
    return Fraction(int(numerator), int(denominator)) if int(denominator) else None


def _power(exponent: str | None, superscript: str | None) -> Fraction | None:
    power = int(exponent) if exponent else int((superscript or "0").translate(_SUPERS))
    return Fraction(10) ** power if abs(power) <= _MAX_EXPONENT else None


def _listed(text: str, match: re.Match[str]) -> list[Token]:
    """`3,4,5` without spaces is a list, not a number."""
    found = re.finditer(r"\d+(?:\.\d+)?", text[match.start() : match.end()])
    return [
        Token(value=read(piece[0]), percent=False, start=match.start() + piece.start(), end=match.start() + piece.end()) for piece in found
    ]
