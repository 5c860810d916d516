"""Words of strangers made printable: what could move a cursor, hide or reorder text becomes a visible escape."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp"})
_MOST_MARKS = 4  # combining marks on one letter; more of them climb over the neighbouring lines


def printable(text: object, *, limit: int = 400) -> str:
    """One line of about `limit` characters. Newlines and tabs are escapes too."""
    whole = str(text)
    shown, complete = _escaped(whole, keep="", limit=limit)
    return shown if complete else f"{shown}… ({len(whole)} characters)"


def printable_lines(text: object, *, limit: int = 4000, lines: int = 40) -> list[str]:
    """Several lines of about `limit` characters together; how much was left out is said in the last one."""
    whole = str(text)
    shown: list[str] = []
    rows = whole[: limit + 1].split("\n")
    for row in rows[:lines]:
        line, complete = _escaped(row.removesuffix("\r"), keep="\t", limit=max(0, limit))
        shown.append(line.replace("\t", "    "))
        limit -= len(line) + 1
        if not complete:
            shown[-1] += f"… ({len(whole)} characters in all)"
            return shown
    if len(rows) > lines:
        shown.append(f"… more lines, {len(whole)} characters in all")
    return shown


def _escaped(text: str, *, keep: str, limit: int) -> tuple[str, bool]:
    """The text and whether all of it is there."""
    if len(text) <= limit and text.isascii() and text.isprintable():
        return text, True
    out: list[str] = []
    size = marks = 0
    for char in text:
        category = unicodedata.category(char)
        marks = marks + 1 if category in ("Mn", "Me") else 0
        hidden = (category in _HIDDEN and char not in keep) or marks > _MOST_MARKS
        out.append(_escape(char) if hidden else " " if category == "Zs" else char)
        size += len(out[-1])
        if size > limit:
            out.pop()
            return "".join(out), False
    return "".join(out), True


def _escape(char: str) -> str:
    point = ord(char)
    named = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(char)
    if named:
        return named
    return f"\\x{point:02x}" if point < 0x100 else f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def columns(text: str) -> int:
    """Terminal cells of a printable text: East Asian wide characters take two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1 for char in text)


def fit(text: str, width: int) -> str:
    """Cut to `width` cells, with `…` where something is gone."""
    return text if columns(text) <= width else _start(text, width - 1) + "…" if width > 0 else ""


def _start(text: str, width: int) -> str:
    """As much of the beginning as `width` cells hold."""
    used = 0
    for at, char in enumerate(text):
        used += columns(char)
        if used > width:
            return text[:at]
    return text


def wrap(text: str, width: int, *, lines: int = 4) -> list[str]:
    """Broken at spaces into at most `lines` rows of `width` cells; a word that is longer is broken where it must."""
    rows: list[str] = []
    rest = text.strip()
    while len(rows) < lines - 1 and columns(rest) > width:
        head = _start(rest, width)
        cut = len(head) if rest[len(head)] == " " else head.rfind(" ")
        rows.append((head[:cut] if cut > 0 else head).rstrip())
        rest = rest[len(rows[-1]) :].lstrip()
    return [*rows, fit(rest, width)] if rest else rows


def pad(text: str, width: int) -> str:
    """Filled with spaces to `width` cells."""
    return text + " " * max(0, width - columns(text))


def labelled(label: str, texts: Sequence[str], *, width: int, indent: int, lines: int = 4) -> list[str]:
    """Paragraphs beside a label, which stands in the first row alone; words of strangers are made printable."""
    rows = [row for text in texts for row in wrap(printable(text), width - indent, lines=lines)]
    return [pad("" if at else label, indent) + row for at, row in enumerate(rows)]
