"""Words of strangers made printable: what could move a cursor, hide or reorder text becomes a visible escape."""

from __future__ import annotations

import unicodedata

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp"})
_MOST_MARKS = 4  # combining marks on one letter; more of them climb over the neighbouring lines


def printable(text: object, *, limit: int = 400) -> str:
    """One line of at most `limit` characters of the original. Newlines and tabs are escapes too."""
    whole = str(text)
    return _escaped(whole[:limit], keep="") + _tail(whole, limit)


def printable_lines(text: object, *, limit: int = 4000, lines: int = 40) -> list[str]:
    """Several lines; how much was left out is said in the last one."""
    whole = str(text)
    rows = whole[:limit].split("\n")
    shown = [_escaped(row.removesuffix("\r"), keep="\t").replace("\t", "    ") for row in rows[:lines]]
    if len(rows) > lines:
        shown.append(f"… {len(rows) - lines} more lines" + (f", {len(whole)} characters in all" if len(whole) > limit else ""))
    elif len(whole) > limit:
        shown[-1] += _tail(whole, limit)
    return shown


def _tail(whole: str, limit: int) -> str:
    return f"… ({len(whole)} characters)" if len(whole) > limit else ""


def _escaped(text: str, *, keep: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    out, marks = [], 0
    for char in text:
        category = unicodedata.category(char)
        marks = marks + 1 if category in ("Mn", "Me") else 0
        hidden = (category in _HIDDEN and char not in keep) or marks > _MOST_MARKS
        out.append(_escape(char) if hidden else " " if category == "Zs" else char)
    return "".join(out)


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
    if columns(text) <= width:
        return text
    kept, used = [], 0
    for char in text:
        used += columns(char)
        if used > width - 1:
            break
        kept.append(char)
    return "".join(kept) + "…" if width > 0 else ""


def pad(text: str, width: int) -> str:
    """Filled with spaces to `width` cells."""
    return text + " " * max(0, width - columns(text))
