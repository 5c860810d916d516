"""How to start a server: what a launch profile says, read and checked, before any parameter is filled in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pytest_mtp.core.case import Source
from pytest_mtp.core.record import Json, Record

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
