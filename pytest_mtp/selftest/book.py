"""The answer book: what an able model would reply to known prompts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from pytest_mtp.core.errors import UsageError
from pytest_mtp.selftest.request import ChatRequest
from pytest_mtp.selftest.tokens import text_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call as the model means it; `arguments` is JSON text."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An accepted reply. `tools`, `system`, `turns` and `choice` narrow it to conversations that have just these."""

    prompt: str
    answer: str | None = None
    calls: tuple[Call, ...] = ()
    reasoning: str | None = None
    tools: frozenset[str] | None = None
    system: str | None = None
    turns: int | None = None
    choice: str | None = None

    def fits(self, request: ChatRequest) -> int | None:
        """How many conditions hold, or None when one does not."""
        if self.calls and request.tool_choice == "none":
            return None
        held = 0
        for wanted, found in (
            (self.tools, frozenset(tool["name"] for tool in request.tools)),
            (self.system, squeeze(" ".join(text_of(m) for m in request.messages if m["role"] in ("system", "developer")))),
            (self.turns, sum(m["role"] != "system" for m in request.messages)),
            (self.choice, request.tool_choice),
        ):
            if wanted is None:
                continue
            if wanted != found:
                return None
            held += 1
        return held


@dataclass(frozen=True, slots=True)
class AnswerBook:
    """Entries by the text of the last user message; white space does not count."""

    entries: Mapping[str, tuple[Entry, ...]] = field(default_factory=dict)

    def find(self, request: ChatRequest) -> Entry | None:
        """The entry with the most conditions that hold; the first of equals."""
        ranked = [(held, entry) for entry in self.entries.get(squeeze(request.prompt), ()) if (held := entry.fits(request)) is not None]
        return max(ranked, key=lambda pair: pair[0])[1] if ranked else None

    def joined(self, other: AnswerBook) -> AnswerBook:
        """Both; this one is asked first."""
        prompts = {*self.entries, *other.entries}
        return AnswerBook({prompt: (*self.entries.get(prompt, ()), *other.entries.get(prompt, ())) for prompt in prompts})


def squeeze(text: str) -> str:
    """White space made single."""
    return " ".join(text.split())


def book_of(replies: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> AnswerBook:
    """From `{prompt: answer}`, or from a list of entries as they stand in a file. Raises UsageError."""
    plain = [{"prompt": prompt, "answer": answer} for prompt, answer in replies.items()] if isinstance(replies, Mapping) else replies
    by_prompt: dict[str, list[Entry]] = {}
    for place, entry in enumerate(plain):
        made = _entry(entry, place)
        by_prompt.setdefault(squeeze(made.prompt), []).append(made)
    return AnswerBook({prompt: tuple(entries) for prompt, entries in by_prompt.items()})


def _entry(plain: Any, place: int) -> Entry:
    if not isinstance(plain, Mapping) or not isinstance(plain.get("prompt"), str):
        raise UsageError(f"answer book, entry {place}: expected an object with the text `prompt`")
    answer = plain.get("answer")
    if answer is not None and not isinstance(answer, str):
        answer = json.dumps(answer, ensure_ascii=False)
    try:
        calls = tuple(Call(name=call["name"], arguments=_arguments(call.get("arguments", {}))) for call in plain.get("calls", ()))
    except (TypeError, KeyError) as error:
        raise UsageError(f"answer book, entry {place}: each of `calls` needs a `name` and `arguments`") from error
    if answer is None and not calls:
        raise UsageError(f"answer book, entry {place}: neither `answer` nor `calls`")
    system, tools = plain.get("system"), plain.get("tools")
    return Entry(
        prompt=plain["prompt"],
        answer=answer,
        calls=calls,
        reasoning=plain.get("reasoning"),
        tools=None if tools is None else frozenset(tools),
        system=None if system is None else squeeze(system),
        turns=plain.get("turns"),
        choice=plain.get("choice"),
    )


def _arguments(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def read_book(path: Path) -> AnswerBook:
    """A JSON file: an object of prompts and answers, or a list of entries. Raises UsageError naming the file."""
    try:
        return book_of(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read the answer book {path}: {error}") from error
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error


@cache
def shipped_book() -> AnswerBook:
    """The answers to the built-in suites."""
    text = (resources.files("pytest_mtp.selftest") / "answers.json").read_text(encoding="utf-8")
    return book_of(json.loads(text))
