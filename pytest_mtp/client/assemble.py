"""Events or a body to one Reply. What breaks the protocol is noted; what is no completion at all is a ProtocolError."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from pytest_mtp.client.calls import CallAssembler
from pytest_mtp.client.document import DocumentError, parse_json, shown
from pytest_mtp.client.message import choice_zero, extras_of, finish_of, merge_extras, note_legacy_call, reasoning_of, short_text, text_of
from pytest_mtp.client.sse import SseEvent
from pytest_mtp.client.tokens import logprobs_of, token_ids_of, usage_of
from pytest_mtp.core.exchange import ChunkStamp
from pytest_mtp.core.reply import Reply, TokenLogprob, ToolCall, Usage, WireNote

Kind = Literal["role", "content", "reasoning", "tool", "finish", "usage", "empty"]
_NOTES_KEPT = 40
_HIGH = re.compile("[\\ud800-\\udbff]")
_NOTES_GATHERED = 10_000
MAX_TEXT = 4 << 20
"""Characters of one answer, reasoning included: a million tokens."""


class ProtocolError(Exception):
    """The answer is no chat completion. `error` is the server's own error object where it sent one."""

    def __init__(self, message: str, *, code: str, error: Any = None) -> None:
        """`code` is PROTO.json or PROTO.sse."""
        self.message, self.code, self.error = message, code, error
        super().__init__(message)


class StreamAssembler:
    """Chunks of a chat completion put together; `stamps` has one entry for each event but `[DONE]`."""

    def __init__(self) -> None:
        """Empty."""
        self.stamps: list[ChunkStamp] = []
        self.notes: list[WireNote] = []
        self.done = False
        self._texts: dict[str, list[str]] = {"content": [], "reasoning": [], "refusal": []}
        self._calls = CallAssembler()
        self._logprobs: list[TokenLogprob] = []
        self._token_ids: list[int] = []
        self._finish: str | None = None
        self._usage: Usage | None = None
        self._continuous = True
        self._counted = 0
        self._seen: set[int] = set()
        self._named: dict[str, str] = {}
        self._extras: dict[str, Any] = {}
        self._chunks = 0
        self._characters = 0

    def feed(self, event: SseEvent) -> None:
        """Take one event. Raises ProtocolError for an error object, also one inside a stream that began well."""
        if self.done:
            if event.data.strip():
                self._note("PROTO.sse", f"data after [DONE]: {shown(event.data)}")
            return
        if event.data.strip() == "[DONE]":
            self.done = True
            return
        if event.unterminated:
            self._note("PROTO.sse", f"the last event has no blank line after it: {shown(event.data)}")
        chunk = self._chunk_of(event)
        self.stamps.append(
            self._take(chunk, event.at_ns) if chunk is not None else ChunkStamp(at_ns=event.at_ns, characters=0, kind="empty")
        )

    def _note(self, code: str, detail: str) -> None:
        del self.notes[_NOTES_GATHERED:]  # only so many are kept in the end; others than these add to the list too
        self.notes.append(WireNote(code=code, detail=detail))

    def _chunk_of(self, event: SseEvent) -> Mapping[str, Any] | None:
        try:
            chunk = parse_json(event.data, self.notes)
        except DocumentError as error:
            if event.event == "error":
                raise ProtocolError("an error event in the stream", code="PROTO.sse", error=event.data) from None
            self._note("PROTO.sse", f"an event is not JSON ({error}): {shown(event.data)}")
            return None
        if event.event == "error" or (isinstance(chunk, Mapping) and chunk.get("error") is not None):
            inner = chunk.get("error", chunk) if isinstance(chunk, Mapping) else chunk
            raise ProtocolError("an error object in the stream", code="PROTO.sse", error=inner)
        if not isinstance(chunk, Mapping):
            self._note("PROTO.sse", f"a chunk is not an object: {shown(event.data)}")
            return None
        return chunk

    def _take(self, chunk: Mapping[str, Any], at_ns: int) -> ChunkStamp:
        choice, seen = choice_zero(chunk.get("choices"))
        self._seen |= seen
        if "choices" in chunk:
            self._chunks += 1
        for name in ("id", "model", "system_fingerprint"):
            if value := short_text(chunk.get(name)):
                self._named.setdefault(name, value)
        merge_extras(self._extras, extras_of(chunk, choice))
        usage = usage_of(chunk.get("usage"), self.notes)
        counted, characters, kind = None, 0, "empty"
        if choice is not None:
            counted, characters, kind = self._take_choice(choice)
        counted = self._take_usage(usage, characters, counted)
        if usage is not None and kind == "empty":
            kind = "usage"
        return ChunkStamp(at_ns=at_ns, characters=characters, token_count=counted, kind=kind)  # type: ignore[arg-type]  # a Kind

    def _take_choice(self, choice: Mapping[str, Any]) -> tuple[int | None, int, str]:
        delta = choice.get("delta")
        if delta is None and isinstance(choice.get("message"), Mapping):
            self._note("PROTO.sse", "a chunk carries a message where a delta belongs")
            delta = choice["message"]
        if delta is not None and not isinstance(delta, Mapping):
            self._note("PROTO.sse", f"a delta is not an object: {shown(delta)}")
        delta = delta if isinstance(delta, Mapping) else {}
        note_legacy_call(delta, self.notes)
        sizes = {
            "content": self._text("content", text_of(delta, "content", self.notes)),
            "reasoning": self._text("reasoning", reasoning_of(delta, self.notes)),
            "refusal": self._text("refusal", text_of(delta, "refusal", self.notes)),
            "tool": self._calls.feed(delta.get("tool_calls")),
        }
        characters = sum(sizes.values())
        self._characters += characters
        if self._characters > MAX_TEXT:
            raise ProtocolError(f"an answer of more than {MAX_TEXT} characters", code="PROTO.sse")
        if characters and self._finish is not None:
            self._note("PROTO.finish", f"{characters} characters after the finish reason {shown(self._finish)}")
        ids, logprobs = token_ids_of(choice.get("token_ids")), logprobs_of(choice.get("logprobs"), self.notes)
        self._token_ids += ids
        self._logprobs += logprobs
        finish = finish_of(choice, self.notes)
        if finish is not None:
            if self._finish is not None:
                self._note("PROTO.finish", f"two finish reasons: {shown(self._finish)}, then {shown(finish)}")
            self._finish = self._finish or finish
        return len(ids) or len(logprobs) or None, characters, _kind(sizes, finish=finish is not None, role="role" in delta)

    def _whole(self, parts: list[str]) -> str | None:
        """Clients in JavaScript put the halves of a surrogate pair together again; in other languages they stay broken."""
        if not parts:
            return None
        text = "".join(parts)
        if not _HIGH.search(text):
            return text
        whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        if whole != text:
            self._note("PROTO.sse", "a sign is cut between two events: each holds one half of a surrogate pair")
        return whole

    def _text(self, name: str, text: str | None) -> int:
        if text is not None:
            self._texts[name].append(text)
        return len(text or "")

    def _take_usage(self, usage: Usage | None, characters: int, counted: int | None) -> int | None:
        """Tokens of this chunk: the count given, else the growth of usage where every chunk so far carried it."""
        self._usage = usage or self._usage
        if usage is None or usage.completion_tokens is None:
            self._continuous = self._continuous and not characters
            return counted
        grown = usage.completion_tokens - self._counted
        if grown < 0:
            self._note("PROTO.usage", f"completion_tokens fell from {self._counted} to {usage.completion_tokens}")
        self._counted = usage.completion_tokens
        return grown if counted is None and self._continuous and grown >= 0 and characters else counted

    def finish(self, *, headers: Mapping[str, str], raw: str, notes: tuple[WireNote, ...] = ()) -> Reply:
        """The reply. Raises ProtocolError when no chunk of a completion came at all."""
        if not self._chunks:
            what = "no completion chunk in the stream" if self.stamps or self.notes else "an empty stream"
            first = f" ({self.notes[0].detail})" if self.notes else ""
            raise ProtocolError(what + first, code="PROTO.sse")
        if self._finish is None:
            last = "".join(self._texts["content"] or self._texts["reasoning"])[-40:]
            came = ", then [DONE]" if self.done else ""
            self._note("PROTO.truncated", f"{len(self.stamps)} events came, the last words are {shown(last)}{came}")
        if not self.done:
            self._note("PROTO.done", f"the last of {len(self.stamps)} events is {self.stamps[-1].kind}")
        if self._seen and 0 not in self._seen:
            self._note("PROTO.sse", f"no choice of index 0, only {sorted(self._seen)[:8]}")
        calls = self._calls.finish()
        content, reasoning, refusal = (self._whole(parts) for parts in self._texts.values())
        return Reply(
            content=content,
            reasoning=reasoning,
            refusal=refusal,
            tool_calls=calls,
            finish_reason=self._finish,
            usage=self._usage,
            logprobs=tuple(self._logprobs),
            token_ids=tuple(self._token_ids),
            model=self._named.get("model"),
            id=self._named.get("id"),
            system_fingerprint=self._named.get("system_fingerprint"),
            choices=len(self._seen),
            headers=headers,
            extras=self._extras,
            notes=_bounded((*notes, *self.notes, *self._calls.notes)),
            raw=raw,
        )


def _kind(sizes: Mapping[str, int], *, finish: bool, role: bool) -> Kind:
    if sizes["tool"]:
        return "tool"
    if sizes["content"] or sizes["refusal"]:
        return "content"
    if sizes["reasoning"]:
        return "reasoning"
    return "finish" if finish else "role" if role else "empty"


def _bounded(notes: tuple[WireNote, ...]) -> tuple[WireNote, ...]:
    """Each note once, in order, and not without end: a broken server repeats itself on every chunk."""
    return tuple(dict.fromkeys(notes))[:_NOTES_KEPT]


def reply_of_body(text: str, *, headers: Mapping[str, str], raw: str, notes: tuple[WireNote, ...] = ()) -> Reply:
    """The reply in an unary body. Raises ProtocolError for anything that is no completion."""
    found = list(notes)
    body = _completion(text, found)
    choice, seen = choice_zero(body["choices"])
    message = choice.get("message") if choice is not None else None
    if choice is None or not isinstance(message, Mapping):
        raise ProtocolError(f"choice 0 has no message: {shown(body['choices'])}", code="PROTO.json")
    if (finish := finish_of(choice, found)) is None:
        found.append(WireNote(code="PROTO.finish", detail="no finish reason in the completion"))
    note_legacy_call(message, found)
    assembler = CallAssembler()
    calls: tuple[ToolCall, ...] = assembler.whole(message.get("tool_calls"))
    return Reply(
        content=text_of(message, "content", found),
        reasoning=reasoning_of(message, found),
        refusal=text_of(message, "refusal", found),
        tool_calls=calls,
        finish_reason=finish,
        usage=usage_of(body.get("usage"), found),
        logprobs=logprobs_of(choice.get("logprobs"), found),
        token_ids=token_ids_of(choice.get("token_ids")),
        model=short_text(body.get("model")),
        id=short_text(body.get("id")),
        system_fingerprint=short_text(body.get("system_fingerprint")),
        choices=len(seen),
        headers=headers,
        extras=extras_of(body, choice),
        notes=_bounded((*found, *assembler.notes)),
        raw=raw,
    )


def _completion(text: str, notes: list[WireNote]) -> Mapping[str, Any]:
    if not text.strip():
        raise ProtocolError("an empty body", code="PROTO.json")
    try:
        body = parse_json(text, notes)
    except DocumentError as error:
        html = text.lstrip()[:200].lower().startswith(("<!doctype", "<html"))
        what = "the body is HTML" if html else f"the body is no JSON ({error})"
        raise ProtocolError(f"{what}, expected a chat completion", code="PROTO.json") from None
    if not isinstance(body, Mapping):
        raise ProtocolError(f"the body is not an object: {shown(text)}", code="PROTO.json")
    if body.get("error") is not None:
        raise ProtocolError("an error object with status 200", code="PROTO.json", error=body["error"])
    if not isinstance(body.get("choices"), list):
        raise ProtocolError(f"JSON without choices: {shown(text)}", code="PROTO.json")
    if not body["choices"]:
        raise ProtocolError("no choices in the completion", code="PROTO.json")
    return body
