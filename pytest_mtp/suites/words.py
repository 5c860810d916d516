"""Words of messages: what was expected, what came."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pytest_mtp.core.errors import nearest
from pytest_mtp.suites.compiled import twice

_NEAR = 0.7
_MANY = 40
_FEW = 12
"""Longer lists are not read; the nearest word is told instead."""
_TYPES = {
    "string": "text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "object": "a mapping",
    "array": "a list",
    "null": "null",
}


def expected(keyword: str, limit: Any, value: Any, schema: Mapping[str, Any]) -> str:
    """The message for a value that `keyword` of `schema` refuses; `limit` is what stands beside the keyword."""
    comment = str(schema.get("$comment", ""))
    wording = _WORDINGS.get(keyword)
    return wording(limit, value, comment) if wording else comment or f"not accepted: {got(value)}"


def wanted(words: str, value: Any) -> str:
    """`expected WORDS, got VALUE`, with a hint where only quotes are wrong."""
    return f"expected {words}, got {got(value)}{_quote_hint(words, value)}"


def got(value: Any) -> str:
    """A value as a message shows it: its type in words where that may be the surprise."""
    if isinstance(value, str):
        return quoted(value)
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return literal(value)
    if isinstance(value, (int, float)):
        return f"the number {value}" if abs(value) < 1e30 else "a very large number"
    return "a mapping" if isinstance(value, Mapping) else "a list"


def closest(word: str, known: Iterable[str]) -> str:
    """` (did you mean 'x'?)` or nothing: letters in another order, a short form, else the nearest word if it is near."""
    words = list(known)
    for likely in words:
        if sorted(word) == sorted(likely) or _is_short_form(word, likely):
            return f" (did you mean {likely!r}?)"
    return nearest(word, difflib.get_close_matches(word, words, n=1, cutoff=_NEAR))


def _is_short_form(word: str, full: str) -> bool:
    letters = iter(full)
    return len(word) > 2 and word[0] == full[0] and all(letter in letters for letter in word)


def quoted(text: str) -> str:
    """In quotes and short."""
    return repr(text if len(text) <= 60 else text[:59] + "…")


def literal(value: Any) -> str:
    """As YAML writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def listed(words: Iterable[str]) -> str:
    """Known words for the end of a message, not all of them where they are many."""
    known = list(words)
    more = f" and {len(known) - _MANY} more" if len(known) > _MANY else ""
    return ", ".join(word if len(word) <= 60 else word[:59] + "…" for word in known[:_MANY]) + more


def either(words: Sequence[str]) -> str:
    """`a, b or c`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def both(words: Sequence[str]) -> str:
    """`'a', 'b' and 'c'`."""
    shown = [quoted(word) for word in words]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _type(limit: Any, value: Any, _comment: str) -> str:
    return wanted(either([_TYPES[name] for name in ([limit] if isinstance(limit, str) else limit)]), value)


def _enum(limit: Any, value: Any, _comment: str) -> str:
    known = [literal(item) for item in limit]
    words = wanted(either(known) if len(known) <= _FEW else f"one of {len(known)} words", value)
    return f"{words}{closest(value, known)}" if isinstance(value, str) else words


def _too_short(limit: Any, value: Any, _comment: str) -> str:
    what = "list" if isinstance(value, list) else "mapping"
    return f"the {what} needs at least {limit} entries, got {len(value)}" if value else f"the {what} is empty"


def _twice(_limit: Any, value: Any, _comment: str) -> str:
    return f"{got(value[twice(value) or 0])} stands twice in the list"


def _dependencies(limit: Any, value: Any, _comment: str) -> str:
    key, needed = next((key, needs) for key, needs in limit.items() if key in value and not all(need in value for need in needs))
    return f"{quoted(key)} stands beside {both(needed)}, which is missing"


_WORDINGS: Mapping[str, Callable[[Any, Any, str], str]] = {
    "type": _type,
    "enum": _enum,
    "const": lambda limit, value, _: f"expected {literal(limit)}, got {got(value)}",
    "pattern": lambda _, value, comment: f"expected {comment or 'other text'}, got {got(value)}",
    "minLength": lambda *_: "the text is empty",
    "minimum": lambda limit, value, _: f"expected at least {limit}, got {got(value)}",
    "maximum": lambda limit, value, _: f"expected at most {limit}, got {got(value)}",
    "exclusiveMinimum": lambda limit, value, _: f"expected more than {limit}, got {got(value)}",
    "minItems": _too_short,
    "minProperties": _too_short,
    "maxItems": lambda limit, value, _: f"the list may have {limit} entries, got {len(value)}",
    "uniqueItems": _twice,
    "format": lambda limit, value, _: f"expected a {limit}, got {got(value)}",
    "required": lambda limit, value, _: f"the key {both([key for key in limit if key not in value])} is missing",
    "dependencies": _dependencies,
}


def _quote_hint(words: str, value: Any) -> str:
    if isinstance(value, (bool, int, float)) and ("text" in words or "quotes" in words):
        return " (write it in quotes)" if isinstance(value, float) else f' (write it in quotes: "{literal(value)}")'
    if isinstance(value, str) and "number" in words and value.replace(".", "", 1).lstrip("-").isdecimal():
        return " (write it without quotes)"
    if value in ("yes", "no", "on", "off") and "true" in words:
        return " (YAML 1.2 knows true and false alone)"
    return ""
