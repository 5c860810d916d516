"""What is decided before a server is started."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_mtp.core.facts import SpecDecode
from pytest_mtp.core.record import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How to start one kind of server with given parameters.

    `command` and `environment` take a port and an alias: a name that no other server has. `alias` and `port` are set where
    the user wants these. `model` or, from the alias, `served_name` is the name to ask for, the alias where both are None.
    `configured` is what the parameters say of speculation: configuration, not proof. `engine` is the adapter that must
    answer. `fatal` and `telling` are patterns of log lines, as in `core.profile.Profile`. `secrets` are words that no message
    repeats. `values` are all parameters, defaults included, where they are known.
    """

    command: Callable[[int, str], Sequence[str]]
    environment: Callable[[int, str], Mapping[str, str]] | None = None
    folder: Path | None = None
    alias: str | None = None
    port: int | None = None
    model: str | None = None
    served_name: Callable[[str], str] | None = None
    engine: str | None = None
    engine_version: str | None = None
    configured: SpecDecode | None = None
    program_missing: str = ""
    fatal: tuple[str, ...] = ()
    telling: tuple[str, ...] = ()
    stop_signals: tuple[str, ...] = ("TERM",)
    stop_grace_s: float = 5.0
    start_timeout_s: float | None = None
    memory_limit_mib: int | None = None
    secrets: tuple[str, ...] = ()
    values: Mapping[str, Json] | None = None
    details: Mapping[str, Json] = dataclasses.field(default_factory=dict)

    def name_for(self, alias: str) -> str:
        """The model to ask for."""
        return self.model or (self.served_name(alias) if self.served_name else alias)


Planner = Callable[[Mapping[str, Json]], Plan]
