"""The body of POST /v1/chat/completions, checked as real servers check it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_mtp.selftest.dice import digest
from pytest_mtp.selftest.tokens import text_of

_ROLES = ("system", "developer", "user", "assistant", "tool", "function")


class BadRequest(Exception):  # noqa: N818  # named after the status that it becomes
    """Becomes an OpenAI error body with this status."""

    def __init__(self, message: str, *, status: int = 400, kind: str = "invalid_request_error") -> None:
        """`kind` is the `type` of the error body."""
        self.message, self.status, self.kind = message, status, kind
        super().__init__(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """A request after checking. `messages` is without the final assistant message, whose text is `prefix`.

    `key` is equal for requests that would lead the same model to the same distribution: the conversation and the tools.
    """

    messages: tuple[Mapping[str, Any], ...]
    prefix: str | None
    tools: tuple[Mapping[str, Any], ...]
    tool_choice: str  # auto, none, required, or the name of a tool
    parallel: bool
    response_format: Mapping[str, Any] | None
    temperature: float
    top_p: float
    top_k: int
    min_p: float
    seed: int | None
    max_tokens: int | None
    stop: tuple[str, ...]
    n: int
    stream: bool
    include_usage: bool
    top_logprobs: int | None
    penalty: float
    bias: Mapping[int, float]
    key: str
    body: Mapping[str, Any] = field(repr=False, compare=False)  # as it was sent

    @property
    def prompt(self) -> str:
        """The text of the last user message."""
        return next((text_of(message) for message in reversed(self.messages) if message["role"] == "user"), "")

    @property
    def last_role(self) -> str:
        """Who spoke last."""
        return str(self.messages[-1]["role"]) if self.messages else ""


def parse(raw: bytes) -> ChatRequest:
    """Raise BadRequest, with the words a user would need, for anything that is not a chat completion request."""
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"the body is not JSON: {error}") from error
    if not isinstance(body, dict):
        raise BadRequest("the body must be a JSON object")
    return read(body)


def read(body: Mapping[str, Any]) -> ChatRequest:
    """The same for a body that is a JSON object."""
    messages = _messages(body)
    prefix = None
    if messages[-1]["role"] == "assistant" and not messages[-1].get("tool_calls"):
        prefix = text_of(messages[-1])
        messages = messages[:-1]
    tools = _tools(body)
    choice = _choice(body, tools)
    options = body.get("stream_options") or {}
    if not isinstance(options, dict):
        raise BadRequest("'stream_options' must be an object")
    top = body.get("top_logprobs")
    if top is not None and not body.get("logprobs"):
        raise BadRequest("'top_logprobs' needs 'logprobs': true")
    limit = "max_completion_tokens" if body.get("max_completion_tokens") is not None else "max_tokens"
    return ChatRequest(
        messages=messages,
        prefix=prefix,
        tools=tools,
        tool_choice=choice,
        parallel=body.get("parallel_tool_calls") is not False,
        response_format=_format(body),
        temperature=_number(body, "temperature", 1.0, 0, 100),
        top_p=_number(body, "top_p", 1.0, 0, 1),
        top_k=int(_number(body, "top_k", 0, -1, 2**31)),
        min_p=_number(body, "min_p", 0.0, 0, 1),
        seed=None if body.get("seed") is None else int(_number(body, "seed", 0, -(2**63), 2**64)),
        max_tokens=None if body.get(limit) is None else int(_number(body, limit, 0, 1, 2**31)),
        stop=_stop(body),
        n=int(_number(body, "n", 1, 1, 128)),
        stream=bool(body.get("stream")),
        include_usage=bool(options.get("include_usage")),
        top_logprobs=int(_number(body, "top_logprobs", 0, 0, 20)) if body.get("logprobs") else None,
        penalty=_number(body, "frequency_penalty", 0.0, -2, 2) + _number(body, "presence_penalty", 0.0, -2, 2),
        bias=_bias(body),
        key=digest(_conversation(messages), json.dumps(tools, sort_keys=True), choice),
        body=body,
    )


def _messages(body: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise BadRequest("'messages' must be a list with at least one message")
    for place, message in enumerate(messages):
        if not isinstance(message, dict) or message.get("role") not in _ROLES:
            raise BadRequest(f"messages[{place}].role must be one of {', '.join(_ROLES)}")
        if not isinstance(message.get("content"), (str, list, type(None))):
            raise BadRequest(f"messages[{place}].content must be a string or a list of parts")
        if not isinstance(message.get("tool_calls"), (list, type(None))):
            raise BadRequest(f"messages[{place}].tool_calls must be a list")
    return tuple(messages)


def _tools(body: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    tools = body.get("tools") or []
    if not isinstance(tools, list):
        raise BadRequest("'tools' must be a list")
    for place, tool in enumerate(tools):
        function = tool.get("function") if isinstance(tool, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            raise BadRequest(f"tools[{place}].function.name must be a string")
        if not isinstance(function.get("parameters", {}), dict):
            raise BadRequest(f"tools[{place}].function.parameters must be a JSON Schema")
    return tuple(tool["function"] for tool in tools)


def _choice(body: Mapping[str, Any], tools: tuple[Mapping[str, Any], ...]) -> str:
    choice = body.get("tool_choice")
    if choice is None:
        return "auto" if tools else "none"
    if isinstance(choice, dict):
        function = choice.get("function")
        name = function.get("name") if isinstance(function, dict) else None
        if name not in [tool["name"] for tool in tools]:
            raise BadRequest(f"tool_choice names {name!r}, which is not among the tools")
        return str(name)
    if choice not in ("auto", "none", "required"):
        raise BadRequest(f"Invalid tool_choice: {choice!r}")
    if choice == "required" and not tools:
        raise BadRequest("tool_choice 'required' needs tools")
    return str(choice) if tools else "none"


def _format(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    wanted = body.get("response_format")
    if wanted is None:
        return None
    if not isinstance(wanted, dict) or wanted.get("type") not in ("text", "json_object", "json_schema"):
        raise BadRequest("response_format.type must be text, json_object or json_schema")
    if wanted["type"] == "json_schema":
        holder = wanted.get("json_schema", wanted)
        if not isinstance(holder, dict) or not isinstance(holder.get("schema"), dict):
            raise BadRequest("response_format.json_schema.schema must be a JSON Schema")
    return None if wanted["type"] == "text" else wanted


def _number(body: Mapping[str, Any], name: str, default: float, low: float, high: float) -> float:
    value = body.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise BadRequest(f"'{name}': type must be number, but is {type(value).__name__}")
    if not low <= value <= high:
        raise BadRequest(f"'{name}': must be between {low} and {high}, but is {value}")
    return value


def _stop(body: Mapping[str, Any]) -> tuple[str, ...]:
    stop = body.get("stop") or []
    stop = [stop] if isinstance(stop, str) else stop
    if not isinstance(stop, list) or not all(isinstance(word, str) for word in stop):
        raise BadRequest("'stop' must be a string or a list of strings")
    return tuple(word for word in stop if word)


def _bias(body: Mapping[str, Any]) -> Mapping[int, float]:
    bias = body.get("logit_bias") or {}
    try:
        return {int(token): float(weight) for token, weight in bias.items()}
    except (AttributeError, TypeError, ValueError) as error:
        raise BadRequest("'logit_bias' must map token ids to numbers") from error


def _conversation(messages: tuple[Mapping[str, Any], ...]) -> str:
    """Roles, texts and calls; call ids are random on real servers and do not count."""
    turns = []
    for message in messages:
        calls = [call.get("function") for call in message.get("tool_calls") or () if isinstance(call, dict)]
        turns.append([message["role"], " ".join(text_of(message).split()), calls])
    return json.dumps(turns, sort_keys=True)
