"""What a server answered, after parsing and before judging. Nothing here is cleaned up: judges need the raw words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_mtp.core.record import Json, Record


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall(Record):
    """One call as it stood on the wire: `arguments` is the text that was sent, parsed by nobody yet."""

    id: str | None
    type: str | None
    name: str | None
    arguments: str
    index: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopToken(Record):
    """An alternative at one position; logprob in nats."""

    token: str
    logprob: float | None
    token_id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenLogprob(Record):
    """The chosen token at one position; logprob in nats.

    Some servers send 0.0 with an empty `top` for tokens of a speculative verify step: that is absence, not certainty.
    """

    token: str
    logprob: float | None
    token_id: int | None = None
    top: tuple[TopToken, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage(Record):
    """Token counts as the server gave them; None where it gave none."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WireNote(Record):
    """A breach of the protocol that the reader survived; `code` is a finding code, `detail` holds the bytes or the place."""

    code: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply(Record):
    """Choice 0 of a chat completion, unary or assembled from a stream.

    `content` is None when the server sent null or nothing. `choices` counts the choices received. `extras` are the
    top-level fields that OpenAI's format does not name (llama.cpp's `timings`, vLLM's `metrics`).
    """

    content: str | None
    reasoning: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = None
    usage: Usage | None = None
    logprobs: tuple[TokenLogprob, ...] = ()
    token_ids: tuple[int, ...] = ()
    refusal: str | None = None
    model: str | None = None
    id: str | None = None
    system_fingerprint: str | None = None
    choices: int = 1
    headers: Mapping[str, str] = field(default_factory=dict)
    extras: Mapping[str, Json] = field(default_factory=dict)
    notes: tuple[WireNote, ...] = ()
    raw: str = ""

    @property
    def text(self) -> str:
        """The content, empty when there is none."""
        return self.content or ""
