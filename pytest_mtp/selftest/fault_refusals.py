"""Faults in how a server says no: to requests that it should take, and in the wrong way to those that it should not."""

from __future__ import annotations

import json
from collections.abc import Callable

from pytest_mtp.selftest.fault_doors import Door
from pytest_mtp.selftest.request import BadRequest
from pytest_mtp.selftest.scene import Scene

_PAGE = "<html><body><h1>Bad Request</h1></body></html>"


def failing(words: str) -> Callable[[Scene], BadRequest]:
    """500 with these words."""
    return lambda _: BadRequest(words, status=500, kind="InternalServerError")


def failing_logprobs(scene: Scene) -> BadRequest | None:
    """500 for who asks for log-probabilities."""
    asked = scene.request.top_logprobs is not None
    return BadRequest("top_logprobs is not in the speculative worker's output", status=500, kind="InternalServerError") if asked else None


def failing_choices(scene: Scene) -> BadRequest | None:
    """500 for several choices."""
    return BadRequest("n > 1 is not handled by the proposer", status=500, kind="InternalServerError") if scene.request.n > 1 else None


def as_500(status: int, body: str) -> Door:
    """A refusal becomes a failure of the server."""
    if not 400 <= status < 500:
        return Door(action="refuse", status=status, body=body)
    told = json.dumps({"error": {"message": "Internal Server Error", "type": "InternalServerError", "code": 500}})
    return Door(action="refuse", status=500, body=told)


def as_page(status: int, _body: str) -> Door:
    """The status stays, the body is a page."""
    return Door(action="refuse", status=status, body=_PAGE, content_type="text/html; charset=utf-8")


def as_reset(_status: int, _body: str) -> Door:
    """The connection is dropped."""
    return Door(action="reset")


def as_end(_status: int, _body: str) -> Door:
    """It is the last thing that the server does."""
    return Door(action="die")
