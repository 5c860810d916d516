"""What must not be written down: values of secret headers, and the key that we were given."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast
from urllib.parse import urlsplit, urlunsplit

from pytest_mtp.core.record import Json
from pytest_mtp.core.reply import Reply

MASK = "***"
_SECRET_HEADER = re.compile(
    r"(^|[-_])(authorization|auth|cookies?|set-cookie2?|secrets?|passw(or)?d|api[-_]?keys?|credentials?|token|session|signature)($|[-_])",
    re.IGNORECASE,
)
_SECRET_LAST = frozenset(
    {
        "key",
        "keys",
        "token",
        "secret",
        "secrets",
        "password",
        "passwd",
        "passphrase",
        "pwd",
        "pw",
        "credential",
        "credentials",
        "auth",
        "sig",
    }
)
_SECRET_WHOLE = frozenset({"apikey", "bearer", "authorization", "secret"})
_SECRET_ENDS = ("apikey", "token", "password", "secret")  # words that were run together: hftoken
_SHORTEST_KEY = 6  # a shorter word would be found in innocent text


def masked_headers(headers: Iterable[tuple[str, str]] | Mapping[str, str]) -> dict[str, str]:
    """Lower-case names; secret values masked; a repeated header joined by commas."""
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    masked: dict[str, str] = {}
    for raw_name, raw_value in pairs:
        name = raw_name.lower()
        value = MASK if _SECRET_HEADER.search(name) else raw_value
        masked[name] = value if name not in masked else f"{masked[name]}, {value}"
    return masked


def is_secret_name(name: str) -> bool:
    """Whether a parameter or variable of this name holds a secret: `api_key`, `HF_TOKEN`, and not `max_tokens` or `token_delay_ms`."""
    words = [word for word in re.split(r"[^a-z0-9]+", name.lower()) if word]
    while words and words[-1].isdigit():  # api-key-2
        words.pop()
    return bool(words) and (words[-1] in _SECRET_LAST or words[-1].endswith(_SECRET_ENDS) or not _SECRET_WHOLE.isdisjoint(words))


def scrubbed(text: str, key: str | None) -> str:
    """The text without the key: servers quote it in their complaints."""
    return text.replace(key, MASK) if key and len(key) >= _SHORTEST_KEY else text


def bare_url(url: str, *, query: bool = True) -> str:
    """Without user and password; with `query` False also without query and fragment, where tokens like to be."""
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
    except ValueError:  # a broken IPv6 address
        return "(unreadable URL)"
    return urlunsplit((parts.scheme, host, parts.path, parts.query if query else "", parts.fragment if query else ""))


def without_key(reply: Reply, key: str | None) -> Reply:
    """The reply without the key in any of its texts: a proxy may quote the request it got in its answer."""
    plain = reply.to_dict()
    clean = _without(plain, key)
    return reply if clean == plain else Reply.from_dict(cast("dict[str, Any]", clean))


def _without(plain: Json, key: str | None) -> Json:
    if isinstance(plain, str):
        return scrubbed(plain, key)
    if isinstance(plain, Mapping):
        return {scrubbed(name, key): _without(value, key) for name, value in plain.items()}
    if isinstance(plain, Sequence):
        return [_without(value, key) for value in plain]
    return plain
