"""Normal forms of text: what may differ without a difference in meaning."""

from __future__ import annotations

import hashlib
import re
import unicodedata

_INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_SUPER_RUN = re.compile(f"[{_SUPERSCRIPTS}]+")
_SUPER_DIGITS = str.maketrans(_SUPERSCRIPTS, "0123456789")
_PLAIN = {**dict.fromkeys(_INVISIBLE, ""), **dict.fromkeys("‘’‚‛", "'"), **dict.fromkeys("“”„‟«»「」", '"'), **dict.fromkeys("‐‑−", "-")}
_WRAPS = ("**", "__", "*", "_", "`", "~~", '"', "'", "$")
_LONG = 50_000
_TRAIL = ".。．! \n\t"


def fold(text: str, *, case: bool = False) -> str:
    """NFKC, no invisible characters, single spaces, plain quotes and hyphens; lower case unless `case`.

    Superscripts become `^2` first, since NFKC alone would make 10² the text 102. Inner punctuation stays: -5, 1.5 and
    src/a are not 5, 15 and srca.
    """
    if not text.isascii():
        text = _SUPER_RUN.sub(lambda run: "^" + run[0].translate(_SUPER_DIGITS), text)
        if not unicodedata.is_normalized("NFKC", text):
            text = unicodedata.normalize("NFKC", text)
        for char in filter(text.__contains__, _PLAIN):
            text = text.replace(char, _PLAIN[char])
    text = " ".join(text.split())
    return text if case else text.casefold()


def bare(text: str) -> str:
    """Without the emphasis, code ticks, quotes and full stop around it. A mark that does not come in a pair stays."""
    text = text.strip()
    while True:
        shorter = text.rstrip(_TRAIL) if text.rstrip(_TRAIL) and not text.endswith("...") else text
        for mark in _WRAPS:
            inner = shorter[len(mark) : -len(mark)]
            if len(shorter) > 2 * len(mark) and shorter.startswith(mark) and shorter.endswith(mark) and mark not in inner:
                shorter = inner.strip()
        if shorter == text:
            return text
        text = shorter


def canonical(text: str, *, case: bool = False) -> str:
    """The normal form in which two short answers are compared."""
    return bare(fold(text, case=case))


def words_of(text: str) -> str:
    """A whole text as the graded answer; a very long one by its beginning and its digest."""
    if len(text) <= _LONG:
        return canonical(text)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{canonical(text[:60])}… ({len(text)} characters, sha256 {digest[:16]})"


def excerpt(text: str, limit: int = 60) -> str:
    """One line for a title: the end is cut, control characters are shown by their escapes."""
    line = " ".join(text.split())
    line = line if len(line) <= limit else line[: limit - 1] + "…"
    return "".join(char if char.isprintable() or char == " " else char.encode("unicode_escape").decode() for char in line)
