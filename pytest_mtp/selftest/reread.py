"""Replies of real servers in the fake's words, so that its faults can be applied to them, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_mtp.selftest.dialects import Dialect
from pytest_mtp.selftest.generation import CallHead, Choice, Token
from pytest_mtp.selftest.tokens import split
from pytest_mtp.selftest.wire import DONE, Completion, Frame, body_of, frames_of

_REASONING = ("reasoning_content", "reasoning")
_ENDS = (b"\r\n\r\n", b"\n\n", b"\r\r")


@dataclass(frozen=True, slots=True, kw_only=True)
class WireFrame(Frame):
    """An event as it came. One whose payload nobody has changed goes on byte by byte."""

    raw: bytes
    came: Mapping[str, Any] | str

    @property
    def unchanged(self) -> bool:
        """Whether `raw` still says it."""
        return self.payload is self.came


def frames_in(pieces: Iterable[bytes]) -> Iterator[WireFrame]:
    """Each event as soon as its blank line is there; what is left at the end, whole or not, is an event too."""
    held = b""
    for piece in pieces:
        held += piece
        while (cut := _end_of_event(held)) is not None:
            yield _frame(held[:cut])
            held = held[cut:]
    if held:
        yield _frame(held)


def _end_of_event(held: bytes) -> int | None:
    ends = [place + len(end) for end in _ENDS if (place := held.find(end)) >= 0]
    return min(ends, default=None)


def _frame(raw: bytes) -> WireFrame:
    lines = raw.decode("utf-8", "replace").splitlines()
    text = "\n".join(line[5:].removeprefix(" ") for line in lines if line.startswith("data:"))
    payload: Mapping[str, Any] | str = text
    try:
        plain = json.loads(text)
        payload = plain if isinstance(plain, dict) and _is_chunk(plain) else text
    except ValueError:
        pass
    frame = Frame(payload=payload)
    spoken = any(value for name, value in frame.delta.items() if name != "role")
    return WireFrame(payload=payload, takes_step=spoken, raw=raw, came=payload)


def _is_chunk(plain: Mapping[str, Any]) -> bool:
    choices = plain.get("choices")
    return isinstance(choices, list) and all(isinstance(choice, dict) and isinstance(choice.get("delta", {}), dict) for choice in choices)


def written(frame: Frame) -> bytes:
    """The event for the wire: as it came, or anew."""
    if isinstance(frame, WireFrame) and frame.unchanged:
        return frame.raw
    text = frame.payload if isinstance(frame.payload, str) else json.dumps(frame.payload, ensure_ascii=False)
    return f"data: {text}\n\n".encode("utf-8", "replace")


def completion_of(body: Mapping[str, Any]) -> Completion:
    """From a whole body. Raises KeyError, TypeError or AttributeError for what is none."""
    return Completion(
        id=str(body.get("id", "")),
        created=int(body.get("created") or 0),
        model=str(body.get("model", "")),
        choices=tuple(_choice(choice) for choice in body["choices"]),
        usage=body.get("usage"),
        timings=body.get("timings"),
    )


def _choice(plain: Mapping[str, Any]) -> Choice:
    message = plain["message"]
    calls = message.get("tool_calls") or []
    tokens = [Token(text, "reasoning") for text in split(next((message[name] for name in _REASONING if message.get(name)), ""))]
    content = message.get("content") or ""
    entries = (plain.get("logprobs") or {}).get("content") or []
    if entries and "".join(entry["token"] for entry in entries) == content:
        tokens += [Token(entry["token"], "content", logprob=entry) for entry in entries]
    else:
        tokens += [Token(text, "content") for text in split(content)]
    for number, call in enumerate(calls):
        tokens += [Token(text, "open", number) for text in split(f'<tool_call>\n{{"name": "{call["function"]["name"]}", "arguments": ')]
        tokens += [Token(text, "arguments", number) for text in split(call["function"].get("arguments") or "")]
        tokens += [Token(text, "close", number) for text in split("}\n</tool_call>")]
    heads = tuple(CallHead(id=call.get("id"), name=call["function"]["name"]) for call in calls)
    return Choice(steps=tuple((token,) for token in tokens), calls=heads, finish=plain.get("finish_reason"))


def body_again(changed: Completion, came: Mapping[str, Any]) -> dict[str, Any]:
    """The body with what the changed reply says; all other fields stay as they came."""
    field = next((name for name in _REASONING for choice in came["choices"] if name in choice["message"]), None)
    anew = body_of(changed, Dialect(reasoning=field))
    spoken = ("content", "tool_calls", *_REASONING)
    choices = []
    for place, choice in enumerate(anew["choices"]):
        before = came["choices"][place] if place < len(came["choices"]) else {"message": {}}
        kept = {name: value for name, value in before["message"].items() if name not in spoken}
        choices.append({**before, **choice, "message": {**kept, **choice["message"]}})
    body = {**came, "choices": choices}
    body.pop("usage", None)
    return body if changed.usage is None else {**body, "usage": dict(changed.usage)}


def completion_of_stream(frames: Sequence[Frame]) -> Completion | None:
    """The reply that a stream tells; None where it tells none."""
    chunks = [frame.payload for frame in frames if not isinstance(frame.payload, str)]
    if not chunks:
        return None
    choices: dict[int, dict[str, Any]] = {}
    for chunk in chunks:
        for part in chunk.get("choices", ()):
            _join(choices.setdefault(part.get("index", 0), {"message": {"tool_calls": []}, "finish_reason": None}), part)
    body = {
        "id": chunks[0].get("id"), "created": chunks[0].get("created"), "model": chunks[0].get("model"),
        "choices": [choices[index] for index in sorted(choices)],
        "usage": next((chunk["usage"] for chunk in reversed(chunks) if chunk.get("usage")), None),
        "timings": next((chunk["timings"] for chunk in reversed(chunks) if chunk.get("timings")), None),
    }  # fmt: skip
    return completion_of(body)


def _join(choice: dict[str, Any], part: Mapping[str, Any]) -> None:
    message, delta = choice["message"], part.get("delta") or {}
    for name in ("content", *_REASONING):
        if delta.get(name):
            message[name] = message.get(name, "") + delta[name]
    for call in delta.get("tool_calls") or ():
        calls = message["tool_calls"]
        place = call.get("index", len(calls))
        while len(calls) <= place:
            calls.append({"id": None, "function": {"name": "", "arguments": ""}})
        function = call.get("function") or {}
        calls[place]["id"] = call.get("id") or calls[place]["id"]
        calls[place]["function"]["name"] += function.get("name") or ""
        calls[place]["function"]["arguments"] += function.get("arguments") or ""
    choice["finish_reason"] = part.get("finish_reason") or choice["finish_reason"]


def frames_again(changed: Completion, came: Sequence[Frame]) -> tuple[Frame, ...]:
    """A stream that tells the changed reply, one token an event, with [DONE] where it had one."""
    field = next((name for name in _REASONING for frame in came if name in frame.delta), None)
    made = frames_of(changed, Dialect(reasoning=field), include_usage=changed.usage is not None)
    ended = any(isinstance(frame.payload, str) and frame.payload.strip() == DONE for frame in came)
    return made if ended else made[:-1]
