"""How to start a server: what a launch profile says, read and checked, before any parameter is filled in."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeGuard

from pytest_mtp.core.case import Source
from pytest_mtp.core.record import Json, Record

COMMON = ("port", "alias", "start_timeout_s", "memory_mib")
"""Parameters that every profile takes without declaring them: a port of the user's choice, the name to serve under, and the
two limits in place of the profile's own."""

ParameterKind = Literal["text", "path", "whole", "number", "flag", "choice", "rates"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter(Record):
    """One setting of a profile: `NAME?depth=3`. Bounds are for whole and number, `choices` for choice."""

    kind: ParameterKind
    help: str
    default: Json = None
    required: bool = False
    lowest: float | None = None
    highest: float | None = None
    choices: tuple[str, ...] = ()

    def read(self, word: str) -> Json:
        """A word of a command line as a value of this kind; the word itself where it is none, for `problem` to name."""
        if self.kind == "flag":
            return _SWITCH.get(word.lower(), word)
        if self.kind == "rates":
            return [_number(part) for part in word.split(",")]
        if self.kind == "whole":
            return int(word) if word.removeprefix("-").isascii() and word.removeprefix("-").isdigit() else word
        return _number(word) if self.kind == "number" else word

    def problem(self, value: Json) -> str:
        """What is expected instead, or nothing where the value fits. Files are not looked for."""
        if self.kind in ("text", "path"):
            sound = isinstance(value, str) and value.strip() and "\0" not in value  # no program takes a NUL in a word
            return "" if sound else "text" if self.kind == "text" else "a path"
        if self.kind == "flag":
            return "" if isinstance(value, bool) else "true or false"
        if self.kind == "choice":
            return "" if value in self.choices else f"one of {', '.join(self.choices)}"
        if self.kind == "rates":
            rates = value if isinstance(value, Sequence) and not isinstance(value, str) else (value,)
            return "" if rates and all(_is_number(rate) and 0 <= rate <= 1 for rate in rates) else "a list of rates from 0 to 1"
        fits = _is_number(value) if self.kind == "number" else isinstance(value, int) and not isinstance(value, bool)
        if fits and self._within(value):
            return ""
        return ("a number" if self.kind == "number" else "a whole number") + self._bounds()

    def _within(self, value: Json) -> bool:
        assert isinstance(value, int | float)
        return (self.lowest is None or value >= self.lowest) and (self.highest is None or value <= self.highest)

    def _bounds(self) -> str:
        lowest, highest = (None if bound is None else f"{bound:.12g}" for bound in (self.lowest, self.highest))
        if lowest and highest:
            return f" from {lowest} to {highest}"
        return f" of at least {lowest}" if lowest else f" of at most {highest}" if highest else ""


def braced(word: str) -> tuple[str, ...]:
    """The names in braces in a word, whether they mean anything or not."""
    return tuple(_BRACED.findall(word))


def filled(word: str, values: Mapping[str, str]) -> str:
    """The word with the known names filled in; all other braces are plain characters."""
    return _BRACED.sub(lambda found: values.get(found[1], found[0]), word)


def _number(word: str) -> Json:
    try:
        value = float(word)
    except ValueError:
        return word
    return value if math.isfinite(value) else word


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


_BRACED = re.compile(r"\{([a-z][a-z0-9_]*)\}")
_SWITCH = {"on": True, "true": True, "yes": True, "1": True, "off": False, "false": False, "no": False, "0": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition(Record):
    """Parameter `name` has the value `equals`; with `equals` None: it is set, and not false."""

    name: str
    equals: Json = None
    negated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Words(Record):
    """Words of the command line that are there when all conditions hold. `{name}` stands for a parameter.

    Besides the parameters there are `{port}`, `{alias}` (a name that no other server has) and `{python}` (the interpreter
    that runs us). Braces around anything else are plain characters, so that JSON can stand in a word.
    """

    words: tuple[str, ...]
    when: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile(Record):
    """A launch profile.

    `engine` is the adapter that is expected, None for any. `served_name` is the model name to ask for, with parameters filled
    in; the alias where it is None. `program_missing` is what to say when the program cannot be found, for example how to
    install it. `speculation` is what the parameters say of it: conditions under which it is on, and which parameters hold its
    method and its depth. `telling` are regular expressions of log lines worth showing when a start fails, the first that
    matches comes first; `fatal` ones end the wait at once. Signals by name without SIG; after the last, SIGKILL.
    """

    name: str
    source: Source
    command: tuple[Words, ...]
    description: str = ""
    engine: str | None = None
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    served_name: str | None = None
    program_missing: str = ""
    speculation_when: tuple[Condition, ...] = ()
    speculation_method: str | None = None
    speculation_depth: str | None = None
    fatal: tuple[str, ...] = ()
    telling: tuple[str, ...] = ()
    stop_signals: tuple[str, ...] = ("TERM",)
    stop_grace_s: float = 5.0
    start_timeout_s: float | None = None
    memory_limit_mib: int | None = None
