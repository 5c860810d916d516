"""Ways in which honest servers differ on the wire. None of them is a fault."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from pytest_mtp.core.errors import UsageError, nearest


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How replies are written. The default is what most servers do."""

    line_end: str = "\n"
    comments: bool = False  # keep-alive comments between events
    done: bool = True  # the [DONE] event
    usage: bool = True
    cached_tokens: bool = True  # told in usage
    logprobs: bool = True
    verified_logprobs: bool = True  # else 0.0 with an empty top for tokens of a verify step, as llama.cpp does
    metrics: bool = True
    timings: bool = True
    prefill: bool = True  # a final assistant message is continued; else answered anew
    tools: bool = True  # else tools are dropped before they reach the model
    grain: Literal["step", "token", "reply"] = "step"
    reasoning: str | None = None  # name of the field, when the model reasons
    content_with_calls: str | None = None
    space_after_colon: bool = True
    split_bytes: int = 0  # writes of this many bytes, which cut code points in two
    role_in_each: bool = False


DIALECTS: dict[str, dict[str, Any]] = {
    "crlf": {"line_end": "\r\n"},
    "keep-alive-comments": {"comments": True},
    "missing-done": {"done": False},
    "coarse-chunks": {"grain": "reply"},
    "fine-chunks": {"grain": "token"},
    "no-usage": {"usage": False},
    "no-cached-tokens": {"cached_tokens": False},
    "no-logprobs": {"logprobs": False},
    "no-verified-logprobs": {"verified_logprobs": False},
    "no-metrics": {"metrics": False},
    "no-timings": {"timings": False},
    "no-prefill": {"prefill": False},
    "no-tools": {"tools": False},
    "reasoning-content": {"reasoning": "reasoning_content"},
    "reasoning": {"reasoning": "reasoning"},
    "empty-content": {"content_with_calls": ""},
    "no-space": {"space_after_colon": False},
    "split-code-points": {"split_bytes": 23},
    "role-in-each": {"role_in_each": True},
}


def dialect(names: Iterable[str]) -> Dialect:
    """The named ways together. Raises UsageError with the nearest word."""
    made = Dialect()
    for name in names:
        if name not in DIALECTS:
            raise UsageError(f"no dialect {name!r}{nearest(name, DIALECTS)}; known: {', '.join(DIALECTS)}")
        made = replace(made, **DIALECTS[name])
    return made
