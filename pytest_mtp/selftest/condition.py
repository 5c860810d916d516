"""When a fault strikes: the circumstances under which public faults were seen, as words on a command line."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pytest_mtp.core.errors import UsageError, nearest
from pytest_mtp.selftest.sampler import is_sampled
from pytest_mtp.selftest.scene import Scene


@dataclass(frozen=True, slots=True)
class Word:
    """One circumstance. `number` is the default of WORD=N; None where the word takes none."""

    about: str
    holds: Callable[[Scene, int], bool]
    number: int | None = None


WORDS: Mapping[str, Word] = {
    "streamed": Word("streamed replies alone", lambda scene, _: scene.request.stream),
    "unstreamed": Word("whole replies alone", lambda scene, _: not scene.request.stream),
    "concurrent": Word("while at least N other requests are in flight", lambda scene, least: scene.others >= least, 1),
    "crowded": Word("once N chats have been in flight at one time", lambda scene, least: scene.crowd >= least, 9),
    "after": Word("after the first N chats", lambda scene, count: scene.visit > count, 10),
    "warm": Word("when at least N tokens of the prompt were seen before", lambda scene, least: scene.warm >= least, 1),
    "cold": Word("when no token of the prompt was seen before", lambda scene, _: scene.warm == 0),
    "longer": Word("past N prompt tokens", lambda scene, most: scene.prompt_tokens > most, 1000),
    "tools": Word("requests that offer tools", lambda scene, _: bool(scene.request.tools)),
    "schema": Word("requests with response_format", lambda scene, _: scene.request.response_format is not None),
    "stop": Word("requests with stop strings", lambda scene, _: bool(scene.request.stop)),
    "sampled": Word("requests at a temperature above 0", lambda scene, _: is_sampled(scene.request)),
    "greedy": Word("requests at temperature 0", lambda scene, _: not is_sampled(scene.request)),
    "turns": Word("conversations of at least N messages", lambda scene, least: len(scene.request.messages) >= least, 3),
    "result": Word("after the result of a tool", lambda scene, _: scene.request.last_role == "tool"),
    "auto": Word("tools under tool_choice auto", lambda scene, _: bool(scene.request.tools) and scene.request.tool_choice == "auto"),
    "forced": Word("tool_choice required or named", lambda scene, _: scene.request.tool_choice not in ("auto", "none")),
    "named": Word("a tool_choice that names a tool", lambda scene, _: scene.request.tool_choice not in ("auto", "none", "required")),
}


@dataclass(frozen=True, slots=True)
class Condition:
    """All of its words hold; without words it always does."""

    words: tuple[tuple[str, int], ...] = ()

    def holds(self, scene: Scene) -> bool:
        """Whether this request is under it."""
        return all(WORDS[name].holds(scene, number) for name, number in self.words)

    def joined(self, other: Condition) -> Condition:
        """Both."""
        return Condition((*self.words, *other.words))

    def __str__(self) -> str:
        """As it is typed."""
        plain = ((name, number, WORDS[name].number) for name, number in self.words)
        return "&".join(name if default is None or number == default else f"{name}={number}" for name, number, default in plain)


ALWAYS = Condition()


def condition(text: str) -> Condition:
    """`streamed&after=20`, or with `+` where `&` means something else. Raises UsageError with the nearest word."""
    return Condition(tuple(_word(part) for part in re.split("[&+]", text)))


def _word(part: str) -> tuple[str, int]:
    name, equals, number = part.partition("=")
    word = WORDS.get(name)
    if word is None:
        raise UsageError(f"no condition {name!r}{nearest(name, WORDS)}; known: {', '.join(WORDS)}")
    if equals and word.number is None:
        raise UsageError(f"the condition {name!r} takes no number, but {part!r} has one")
    if equals and not (number.isascii() and number.isdecimal()):
        raise UsageError(f"the condition {name!r} takes a whole number, but {part!r} has {number!r}")
    return name, int(number) if equals else word.number or 0
