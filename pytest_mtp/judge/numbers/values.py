"""One run of digits and separators as an exact value.

Separators are believed only where they are well-formed. `1,234` is a thousand in English and a fraction in German: it
counts as thousands unless the text itself shows that its comma is decimal (0,5 · 12,75 · 1.234,5 are unmistakable).
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

MAX_DIGITS = 400
"""A longer number is not read: nobody's accepted answer has as many digits, and arithmetic on them costs time."""

_GROUPED = {
    sep: re.compile(rf"[1-9]\d{{0,2}}(?:{mark}\d{{3}})+")
    for sep, mark in (
        (",", ","),
        (".", r"\."),
        ("'", "'"),
        ("_", "_"),
        ("\u202f", "\u202f"),
        (" ", " "),
        ("{,}", r"\{,\}"),
        ("\\,", r"\\,"),
    )
}
_INDIAN = re.compile(r"[1-9]\d?(?:,\d{2})+,\d{3}")
_DECIMAL_COMMA = re.compile(r"(?<![\d.,])(?:0,\d+|\d{1,3}(?:\.\d{3})+,\d+|\d+,(?:\d{1,2}|\d{4,}))(?![\d.,]*\d)")
VULGAR = {
    "½": Fraction(1, 2), "⅓": Fraction(1, 3), "⅔": Fraction(2, 3), "¼": Fraction(1, 4), "¾": Fraction(3, 4), "⅕": Fraction(1, 5),
    "⅖": Fraction(2, 5), "⅗": Fraction(3, 5), "⅘": Fraction(4, 5), "⅙": Fraction(1, 6), "⅚": Fraction(5, 6), "⅐": Fraction(1, 7),
    "⅛": Fraction(1, 8), "⅜": Fraction(3, 8), "⅝": Fraction(5, 8), "⅞": Fraction(7, 8), "⅑": Fraction(1, 9), "⅒": Fraction(1, 10),
}  # fmt: skip


def has_decimal_comma(segment: str) -> bool:
    """Whether some number in an ASCII segment can only be read with a decimal comma."""
    return _DECIMAL_COMMA.search(segment) is not None


def read(run: str, *, decimal_comma: bool = False) -> Fraction | None:
    """The value of a run such as `1,234.5`; None when it is not one well-formed number."""
    if len(run) > MAX_DIGITS:
        return None
    for spaced in ("'", "_", "\u202f", " ", "{,}", "\\,"):
        if spaced in run:
            whole, point, rest = _last_point(run)
            if not _GROUPED[spaced].fullmatch(whole):
                return None
            run = whole.replace(spaced, "") + point + rest
    return _with_points(run, decimal_comma=decimal_comma)


def _last_point(run: str) -> tuple[str, str, str]:
    """Digits before, the decimal mark, digits after, where the groups are set apart by something else than , and ."""
    found = re.search(r"[.,]\d+$", run)
    if found and not run.endswith(("{,}", "\\,")) and run[found.start() - 1 : found.start()] not in {"{", "\\"}:
        return run[: found.start()], ".", run[found.start() + 1 :]
    return run, "", ""


def _with_points(run: str, *, decimal_comma: bool) -> Fraction | None:
    commas, points = run.count(","), run.count(".")
    if commas and points:
        decimal = "," if run.rfind(",") > run.rfind(".") else "."
        group = "." if decimal == "," else ","
        whole, _, rest = run.rpartition(decimal)
        if decimal in whole or not (_GROUPED[group].fullmatch(whole) or (group == "," and _INDIAN.fullmatch(whole))):
            return None
        return _exact(whole.replace(group, "") + "." + rest)
    if commas > 1 or points > 1:
        mark = "," if commas else "."
        grouped = _GROUPED[mark].fullmatch(run) or (commas and _INDIAN.fullmatch(run))
        return _exact(run.replace(mark, "")) if grouped else None
    if commas:
        thousands = _GROUPED[","].fullmatch(run) is not None and not decimal_comma
        return _exact(run.replace(",", "" if thousands else "."))
    if points and decimal_comma and _GROUPED["."].fullmatch(run):
        return _exact(run.replace(".", ""))
    return _exact(run)


def _exact(digits: str) -> Fraction | None:
    return Fraction(Decimal(digits)) if digits.strip(".").replace(".", "").isdigit() else None


def shown(value: Fraction) -> str:
    """The canonical form: an integer, a terminating decimal in full, else a reduced fraction."""
    if value.denominator == 1:
        return str(value.numerator)
    twos = fives = 0
    rest = value.denominator
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    places = max(twos, fives)
    if rest != 1 or places > 40:
        return f"{value.numerator}/{value.denominator}"
    scaled = abs(value.numerator) * 10**places // value.denominator
    digits = str(scaled).rjust(places + 1, "0")
    return f"{'-' if value < 0 else ''}{digits[:-places]}.{digits[-places:]}"
