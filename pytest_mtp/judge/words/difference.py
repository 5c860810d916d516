"""The first difference of two texts, shown so that the eye finds it."""

from __future__ import annotations

from pytest_mtp.judge.words.normal import excerpt

_AROUND = 30


def first_difference(expected: str, got: str) -> int:
    """Index of the first character that differs; the shorter length when one is the beginning of the other; -1 when equal."""
    if expected == got:
        return -1
    low, high = 0, min(len(expected), len(got))
    while low < high:  # bisect on equal beginnings: slices compare at memory speed
        middle = (low + high + 1) // 2
        if expected[low:middle] == got[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def aligned(expected: str, got: str) -> str:
    """Three lines: both texts around the first difference, one under the other, and a caret under it."""
    at = first_difference(expected, got)
    if at < 0:
        return f"expected  {excerpt(expected)}\n     got  {excerpt(got)}"
    start = max(0, at - _AROUND)
    lead = "…" if start else ""
    wanted, given = (lead + _visible(text[start : at + _AROUND]) + ("…" if len(text) > at + _AROUND else "") for text in (expected, got))
    column = len(lead + _visible(expected[start:at]))
    return f"expected  {wanted}\n     got  {given}\n          {' ' * column}^ first difference, at character {at}"


def _visible(text: str) -> str:
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
