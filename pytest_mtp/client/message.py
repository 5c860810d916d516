"""The parts of a message or a delta, and the fields around it, read with tolerance."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pytest_mtp.client.document import shown
from pytest_mtp.core.reply import WireNote

_EXTRAS_KEPT = 200
_NAMED = frozenset({"id", "object", "created", "model", "choices", "usage", "system_fingerprint", "service_tier", "error"})
_NAMED_IN_CHOICE = frozenset({"index", "message", "delta", "logprobs", "finish_reason", "token_ids", "text"})
_NAMED_IN_USAGE = frozenset(
    {"prompt_tokens", "completion_tokens", "total_tokens", "prompt_tokens_details", "completion_tokens_details", "reasoning_tokens"}
)


def text_of(holder: Mapping[str, Any], name: str, notes: list[WireNote]) -> str | None:
    """A text field; None for null or nothing. A list of parts is joined and any other type written out, with a note."""
    value = holder.get(name)
    if value is None or isinstance(value, str):
        return value
    notes.append(WireNote(code="PROTO.json", detail=f"{name} is not a string: {shown(value)}"))
    if isinstance(value, list):
        parts = [part.get("text") if isinstance(part, Mapping) else part for part in value]
        return "".join(part for part in parts if isinstance(part, str))
    return json.dumps(value)


def reasoning_of(holder: Mapping[str, Any], notes: list[WireNote]) -> str | None:
    """`reasoning_content`, else `reasoning`; servers in transition send both with the same words."""
    first = text_of(holder, "reasoning_content", notes)
    return first or (text_of(holder, "reasoning", notes) if isinstance(holder.get("reasoning"), str) else None) or first


def note_legacy_call(holder: Mapping[str, Any], notes: list[WireNote]) -> None:
    """A call under the name of 2023, which clients of today do not look at."""
    if holder.get("function_call") is not None:
        notes.append(WireNote(code="TOOL.wire", detail=f"a call in the legacy field function_call: {shown(holder['function_call'])}"))


def extras_of(plain: Mapping[str, Any], choice: Mapping[str, Any] | None) -> dict[str, Any]:
    """What OpenAI's format does not name and is not null; unnamed fields of the choice stand under `choice`, those of `usage` there."""
    extras = _unnamed(plain, _NAMED)
    for place, holder, named in (("choice", choice, _NAMED_IN_CHOICE), ("usage", plain.get("usage"), _NAMED_IN_USAGE)):
        if isinstance(holder, Mapping) and (inner := _unnamed(holder, named)):
            extras[place] = inner
    return extras


def _unnamed(holder: Mapping[str, Any], named: frozenset[str]) -> dict[str, Any]:
    return {name: value for name, value in holder.items() if name not in named and value is not None}


def merge_extras(extras: dict[str, Any], later: Mapping[str, Any]) -> None:
    """Later chunks win, key by key inside an object: a last chunk without a field does not erase it.

    A stream that invents a new field with every chunk gets no more than `_EXTRAS_KEPT` of them into the reply.
    """
    for name, value in later.items():
        before = extras.get(name)
        if len(extras) >= _EXTRAS_KEPT and name not in extras:
            continue
        if isinstance(before, dict) and isinstance(value, dict):
            room = len(before) < _EXTRAS_KEPT
            extras[name] = {**before, **{key: inner for key, inner in value.items() if room or key in before}}
        else:
            extras[name] = value


def choice_zero(choices: Any) -> tuple[Mapping[str, Any] | None, frozenset[int]]:
    """The choice of index 0 (else the first without a number), and all the indices that were seen."""
    if not isinstance(choices, list):
        return None, frozenset()
    found: Mapping[str, Any] | None = None
    seen = set()
    for place, choice in enumerate(choices):
        if not isinstance(choice, Mapping):
            continue
        index = choice.get("index")
        number = index if type(index) is int else place
        seen.add(number)
        if number == 0 and found is None:
            found = choice
    return found, frozenset(seen)


def short_text(value: Any) -> str | None:
    """A string, else None: for ids and names that nobody must trust."""
    return value if isinstance(value, str) else None


def finish_of(choice: Mapping[str, Any], notes: list[WireNote]) -> str | None:
    """The finish reason; null and the empty string (sent by some servers on every chunk) are none."""
    reason = choice.get("finish_reason")
    if reason is None or reason == "":
        return None
    if not isinstance(reason, str):
        notes.append(WireNote(code="PROTO.finish", detail=f"finish_reason is not a string: {shown(reason)}"))
        return shown(reason)
    return reason
