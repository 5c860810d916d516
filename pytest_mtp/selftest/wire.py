"""Completions as OpenAI JSON: one body, or the events of a stream. Both are made from the same tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_mtp.selftest.dialects import Dialect
from pytest_mtp.selftest.generation import Choice, Token

DONE = "[DONE]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """A whole reply before it is written. `timings` are llama.cpp's; None where the server gives none."""

    id: str
    created: int
    model: str
    choices: tuple[Choice, ...]
    usage: Mapping[str, Any] | None
    timings: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One event: a JSON object, or text as it is. `takes_step` frames come after a decoding step's time."""

    payload: Mapping[str, Any] | str
    takes_step: bool = False

    @property
    def delta(self) -> Mapping[str, Any]:
        """That of the first choice; empty when there is none."""
        if isinstance(self.payload, str) or not self.payload.get("choices"):
            return {}
        found: Mapping[str, Any] = self.payload["choices"][0].get("delta") or {}
        return found

    @property
    def calls(self) -> Sequence[dict[str, Any]]:
        """The calls of the delta; none where the field is null or not there."""
        found: Sequence[dict[str, Any]] = self.delta.get("tool_calls") or ()
        return found

    @property
    def finish(self) -> str | None:
        """The finish reason that it carries."""
        if isinstance(self.payload, str) or not self.payload.get("choices"):
            return None
        found: str | None = self.payload["choices"][0].get("finish_reason")
        return found


def body_of(made: Completion, dialect: Dialect) -> dict[str, Any]:
    """The unary form."""
    choices = []
    for index, choice in enumerate(made.choices):
        content: str | None = choice.text("content")
        message: dict[str, Any] = {"role": "assistant"}
        calls = [
            {"id": head.id, "type": "function", "function": {"name": head.name, "arguments": choice.text("arguments", number)}}
            for number, head in enumerate(choice.calls)
        ]
        if calls and not content:
            content = dialect.content_with_calls
        message["content"] = content
        if dialect.reasoning and choice.text("reasoning"):
            message[dialect.reasoning] = choice.text("reasoning")
        if calls:
            message["tool_calls"] = calls
        entry: dict[str, Any] = {"index": index, "message": message, "finish_reason": choice.finish}
        marks = _logprobs([token for step in choice.steps for token in step])
        if marks:
            entry["logprobs"] = marks
        choices.append(entry)
    plain: dict[str, Any] = {
        "id": made.id,
        "object": "chat.completion",
        "created": made.created,
        "model": made.model,
        "choices": choices,
    }
    return plain | _tail(made)


def _tail(made: Completion) -> dict[str, Any]:
    tail: dict[str, Any] = {}
    if made.usage is not None:
        tail["usage"] = dict(made.usage)
    if made.timings is not None:
        tail["timings"] = dict(made.timings)
    return tail


def _logprobs(tokens: Sequence[Token]) -> dict[str, Any] | None:
    entries = [dict(token.logprob) for token in tokens if token.logprob is not None]
    return {"content": entries} if entries else None


def frames_of(made: Completion, dialect: Dialect, *, include_usage: bool) -> tuple[Frame, ...]:
    """The streamed form: role, deltas, finish reason, usage, [DONE]."""
    frames = []
    for index, choice in enumerate(made.choices):
        frames.append(_frame(made, index, {"role": "assistant", "content": ""}))
        begun: set[int] = set()
        for step in _grains(choice.steps, dialect):
            delta = _delta(step, choice, begun, dialect)
            if delta:
                head = {"role": "assistant"} if dialect.role_in_each else {}
                frames.append(_frame(made, index, head | delta, logprobs=_logprobs(step), takes_step=True))
        frames.append(_frame(made, index, {}, finish=choice.finish))
    tail = _tail(made)
    if not include_usage or made.usage is None:
        if made.timings is not None:
            last = frames[-1]
            assert isinstance(last.payload, Mapping)
            frames[-1] = replace(last, payload={**last.payload, "timings": tail["timings"]})
    else:
        frames.append(Frame(payload=_head(made) | {"choices": []} | tail))
    if dialect.done:
        frames.append(Frame(payload=DONE))
    return tuple(frames)


def _grains(steps: tuple[tuple[Token, ...], ...], dialect: Dialect) -> Sequence[tuple[Token, ...]]:
    if dialect.grain == "step":
        return steps
    tokens = tuple(token for step in steps for token in step)
    return (tokens,) if dialect.grain == "reply" else tuple((token,) for token in tokens)


def _delta(step: Sequence[Token], choice: Choice, begun: set[int], dialect: Dialect) -> dict[str, Any]:
    """What a step adds. A step may end one call and begin the next: both are then in one delta."""
    delta: dict[str, Any] = {}
    calls: dict[int, dict[str, Any]] = {}
    for token in step:
        if token.channel == "content":
            delta["content"] = delta.get("content", "") + token.text
        elif token.channel == "reasoning" and dialect.reasoning:
            delta[dialect.reasoning] = delta.get(dialect.reasoning, "") + token.text
        elif token.channel == "arguments" and token.call is not None and token.call < len(choice.calls):
            number = token.call
            entry = calls.setdefault(number, {"index": number, "function": {"arguments": ""}})
            if number not in begun:
                begun.add(number)
                head = choice.calls[number]
                entry |= {"id": head.id, "type": "function"}
                entry["function"] = {"name": head.name, "arguments": ""}
            entry["function"]["arguments"] += token.text
    if calls:
        delta["tool_calls"] = list(calls.values())
    return delta


def _head(made: Completion) -> dict[str, Any]:
    return {"id": made.id, "object": "chat.completion.chunk", "created": made.created, "model": made.model}


def _frame(
    made: Completion,
    index: int,
    delta: Mapping[str, Any],
    *,
    finish: str | None = None,
    logprobs: Mapping[str, Any] | None = None,
    takes_step: bool = False,
) -> Frame:
    choice: dict[str, Any] = {"index": index, "delta": dict(delta), "finish_reason": finish}
    if logprobs is not None:
        choice["logprobs"] = logprobs
    return Frame(payload=_head(made) | {"choices": [choice]}, takes_step=takes_step)
