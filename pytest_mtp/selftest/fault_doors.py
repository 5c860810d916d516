"""Faults before any reply: what happens to a request instead of an answer.

Each takes the number of this chat request, 1 for the first and 0 for other paths of the API, and the fault's own number.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """`refuse` sends what follows; `reset` drops the connection; `die` ends the server; `hang` never answers."""

    action: Literal["enter", "refuse", "reset", "die", "hang"] = "enter"
    status: int = 200
    body: str = ""
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)


ENTER = Door()


def _error(status: int, message: str, kind: str, **headers: str) -> Door:
    body = json.dumps({"error": {"message": message, "type": kind, "code": status}})
    return Door(action="refuse", status=status, body=body, headers={name.replace("_", "-"): text for name, text in headers.items()})


def html_body(visit: int, _number: int) -> Door:
    """A page with status 200."""
    page = "<!doctype html><html><head><title>Sign in</title></head><body><h1>Sign in</h1></body></html>"
    return Door(action="refuse", body=page, content_type="text/html; charset=utf-8") if visit else ENTER


def busy(visit: int, number: int) -> Door:
    """The first `number` chats get 429 and may come again at once."""
    return _error(429, "Rate limit reached", "rate_limit_error", Retry_After="0") if 0 < visit <= number else ENTER


def unauthorized(_visit: int, _number: int) -> Door:
    """401 for all of the API."""
    return _error(401, "Incorrect API key provided", "invalid_api_key", WWW_Authenticate="Bearer")


def server_error(visit: int, _number: int) -> Door:
    """500 for every chat."""
    return (
        _error(500, "EngineCore encountered an issue. See stack trace (above) for the root cause.", "InternalServerError")
        if visit
        else ENTER
    )


def reset(visit: int, _number: int) -> Door:
    """The connection of every chat is dropped in the middle of the headers."""
    return Door(action="reset") if visit else ENTER


def hang(visit: int, _number: int) -> Door:
    """No chat is ever answered."""
    return Door(action="hang") if visit else ENTER


def die_after(visit: int, number: int) -> Door:
    """The server ends when chat `number` + 1 comes."""
    return Door(action="die") if visit > number else ENTER
