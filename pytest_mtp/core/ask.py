"""One request to a server, before it has a URL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_mtp.core.record import Json, Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling(Record):
    """OpenAI names. None means: not sent, so the server's own default holds."""

    temperature: float | None = 0.0
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    logit_bias: Mapping[str, float] = field(default_factory=dict)
    n: int | None = None

    def body(self) -> dict[str, Any]:
        """The fields as they are sent."""
        plain = {name: value for name, value in self.to_dict().items() if value is not None}
        return {name: value for name, value in plain.items() if value not in ([], {})}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask(Record):
    """A chat completion to ask for.

    `top_logprobs` None asks for no logprobs. `extra_body` is merged last and may override anything: it is the way to
    an engine's own parameters.
    """

    messages: tuple[Mapping[str, Json], ...]
    tools: tuple[Mapping[str, Json], ...] = ()
    tool_choice: str | Mapping[str, Json] | None = None
    response_format: Mapping[str, Json] | None = None
    sampling: Sampling = field(default_factory=Sampling)
    stream: bool = False
    top_logprobs: int | None = None
    extra_body: Mapping[str, Json] = field(default_factory=dict)

    def body(self, model: str) -> dict[str, Any]:
        """The JSON body of POST /v1/chat/completions. Streams ask for usage, since chunks are not tokens."""
        body: dict[str, Any] = {"model": model, "messages": [dict(message) for message in self.messages]}
        body.update(self.sampling.body())
        if self.tools:
            body["tools"] = [dict(tool) for tool in self.tools]
        if self.tool_choice is not None:
            body["tool_choice"] = self.tool_choice
        if self.response_format is not None:
            body["response_format"] = dict(self.response_format)
        if self.top_logprobs is not None:
            body["logprobs"] = True
            body["top_logprobs"] = self.top_logprobs
        if self.stream:
            body["stream"] = True
            body["stream_options"] = {"include_usage": True}
        body.update(self.extra_body)
        return body
