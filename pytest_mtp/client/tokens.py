"""Token counts, token ids and logprobs in the shapes that servers give them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pytest_mtp.client.document import shown
from pytest_mtp.core.reply import TokenLogprob, TopToken, Usage, WireNote

_TOO_MANY = 2**63  # ratios of larger numbers may not fit into a float


def usage_of(plain: Any, notes: list[WireNote]) -> Usage | None:
    """None for null; a count that is no integer becomes None with a PROTO.usage note."""
    if plain is None:
        return None
    if not isinstance(plain, Mapping):
        notes.append(WireNote(code="PROTO.usage", detail=f"usage is not an object: {shown(plain)}"))
        return None

    def count(holder: Any, name: str) -> int | None:
        value = holder.get(name) if isinstance(holder, Mapping) else None
        if value is None or (isinstance(value, int) and not isinstance(value, bool) and abs(value) < _TOO_MANY):
            return value
        notes.append(WireNote(code="PROTO.usage", detail=f"{name} is not an integer of 63 bits: {shown(value)}"))
        return None

    details = plain.get("completion_tokens_details")
    reasoning = count(details, "reasoning_tokens")
    return Usage(
        prompt_tokens=count(plain, "prompt_tokens"),
        completion_tokens=count(plain, "completion_tokens"),
        total_tokens=count(plain, "total_tokens"),
        cached_tokens=count(plain.get("prompt_tokens_details"), "cached_tokens"),
        reasoning_tokens=count(plain, "reasoning_tokens") if reasoning is None else reasoning,
    )


def token_ids_of(plain: Any) -> tuple[int, ...]:
    """The `token_ids` that vLLM gives in a choice; empty unless it is a list of integers."""
    return tuple(plain) if isinstance(plain, list) and all(type(item) is int for item in plain) else ()


def logprobs_of(plain: Any, notes: list[WireNote]) -> tuple[TokenLogprob, ...]:
    """OpenAI's `{"content": [...]}` with llama.cpp's `id`; also the legacy arrays `tokens` and `token_logprobs`."""
    if plain is None:
        return ()
    if isinstance(plain, Mapping) and isinstance(plain.get("token_logprobs"), list):
        return _legacy(plain)
    items = plain.get("content") if isinstance(plain, Mapping) else plain
    if items is None:
        return ()
    if not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
        notes.append(WireNote(code="PROTO.json", detail=f"logprobs are not a list of objects: {shown(items)}"))
        return ()
    return tuple(_one(item) for item in items)


def _one(item: Mapping[str, Any]) -> TokenLogprob:
    top = item.get("top_logprobs")
    return TokenLogprob(
        token=_token(item),
        logprob=_number(item.get("logprob")),
        token_id=_token_id(item),
        top=tuple(
            TopToken(token=_token(other), logprob=_number(other.get("logprob")), token_id=_token_id(other))
            for other in (top if isinstance(top, list) else ())
            if isinstance(other, Mapping)
        ),
    )


def _token(item: Mapping[str, Any]) -> str:
    token = item.get("token")
    return token if isinstance(token, str) else ""


def _token_id(item: Mapping[str, Any]) -> int | None:
    for name in ("id", "token_id"):
        if type(item.get(name)) is int:
            return int(item[name])
    number = _token(item).removeprefix("token_id:")  # vLLM, return_tokens_as_token_ids
    return int(number) if number != _token(item) and number.isdecimal() and number.isascii() and len(number) < 12 else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _legacy(plain: Mapping[str, Any]) -> tuple[TokenLogprob, ...]:
    tokens = plain.get("tokens")
    names = tokens if isinstance(tokens, list) else []
    return tuple(
        TokenLogprob(
            token=name if isinstance(name := names[at] if at < len(names) else None, str) else "",
            token_id=name if type(name) is int else None,
            logprob=_number(value),
        )
        for at, value in enumerate(plain["token_logprobs"])
    )
