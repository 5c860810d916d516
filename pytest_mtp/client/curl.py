"""A line for a shell that asks the same again; the key is only the name of a variable."""

from __future__ import annotations

import json
import re
import shlex

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.exchange import Exchange

_ONE_ARGUMENT = 100_000  # Linux takes 128 KiB in one argument
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def curl_line(exchange: Exchange, *, api_key_env: str | None = None) -> str:
    """The ask of an exchange, at the URL and with the model that were really used."""
    return curl_of(exchange.ask, url=exchange.url, model=exchange.model, api_key_env=api_key_env)


def curl_of(ask: Ask, *, url: str, model: str, api_key_env: str | None = None) -> str:
    """Plain ASCII and safe in any POSIX shell; a body too long for an argument goes through a here-document.

    Raises ValueError for a name that no shell variable can have.
    """
    plain = ask.body(model)
    body = json.dumps(plain).replace("\x7f", "\\u007f")
    words = ["curl", "-sS", "-N"] if plain.get("stream") else ["curl", "-sS"]
    line = " ".join([*words, shlex.quote(url), "-H 'Content-Type: application/json'"])
    if api_key_env:
        if not _VARIABLE.fullmatch(api_key_env):
            raise ValueError(f"{api_key_env!r} is no name of a shell variable")
        line += f' -H "Authorization: Bearer ${api_key_env}"'
    if len(body) < _ONE_ARGUMENT:
        return f"{line} --data-raw {shlex.quote(body)}"
    return f"{line} --data-binary @- <<'END_OF_BODY'\n{body}\nEND_OF_BODY"
