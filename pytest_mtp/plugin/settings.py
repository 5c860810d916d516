"""What the user asked for, checked once, before anything is started or sent."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest

from pytest_mtp.checks.budget import Budget, read_budget
from pytest_mtp.core.errors import UsageError
from pytest_mtp.core.record import Json
from pytest_mtp.core.run import GatePolicy
from pytest_mtp.judge.gate import InconclusivePolicy
from pytest_mtp.plugin.launching import Launch, launch_of, launchable, masked
from pytest_mtp.plugin.options import OPTIONS, Value, values_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """`server` and `launch` exclude each other; neither means that suite cases are skipped."""

    server: str | None
    launch: Launch | None
    model: str | None
    api_key_env: str | None
    suites: tuple[str, ...]
    checkpoint: str | None
    gate: GatePolicy
    inconclusive: InconclusivePolicy
    budget: Budget | None
    concurrency: int | None
    timeout_s: float
    report_dir: Path
    origins: Mapping[str, Value]

    @property
    def active(self) -> bool:
        """There is something to test."""
        return bool(self.server or self.launch)

    @property
    def api_key(self) -> str | None:
        """Read from the environment at each use, so that no object holds it."""
        return os.environ.get(self.api_key_env) if self.api_key_env else None

    def again(self) -> tuple[str, ...]:
        """The words of the command line that choose the server; environment and ini file still hold theirs."""
        chosen = ("server", "launch", "model", "api-key-env")
        values = {name: self.origins[name] for name in chosen if self.origins[name].origin == "command line"}
        return tuple(word for name, value in values.items() for each in value.words for word in (f"--mtp-{name}", masked(each)))

    def shown(self) -> dict[str, Json]:
        """Each option that somebody set, with who set it, for header and report."""
        chosen = {name: value for name, value in self.origins.items() if value.origin != "default"}
        return {name: {"value": " ".join(map(masked, value.words)), "from": value.origin} for name, value in chosen.items()}


def settings_of(config: pytest.Config) -> Settings:
    """Resolve the options of a configured session; raises pytest.UsageError."""
    known = vars(config.option)
    ini = {option.key: config.getini(option.key) for option in OPTIONS}
    # Without an ini file pytest takes the common folder of every path on the command line for its root, values of options
    # included: with `--mtp-checkpoint /models/x` that may be `/`, which is no place for a report.
    home = config.rootpath if config.inipath else config.invocation_params.dir
    return _settle(values_of(known, ini), home, config.invocation_params.dir)


def _settle(values: Mapping[str, Value], root: Path, invoked_in: Path) -> Settings:
    def one(name: str) -> str | None:
        return values[name].words[0] if values[name].words else None

    servers = values["server"].words
    if len(servers) > 1:
        raise pytest.UsageError("--mtp-server: several servers are not compared yet; give one")
    server, launch = servers[0] if servers else None, one("launch")
    if server and launch:
        raise pytest.UsageError("--mtp-server and --mtp-launch: give one of them")
    said_by = values["launch"].origin
    if server and server.partition("?")[0] in launchable():
        server, launch, said_by = None, server, values["server"].origin
    report = Path(one("report") or ".mtp")
    base = root if values["report"].origin in ("ini", "default") else invoked_in
    return Settings(
        server=server,
        launch=launch_of(launch, root if said_by == "ini" else invoked_in) if launch else None,
        model=one("model"),
        api_key_env=_key_name(one("api-key-env")),
        suites=values["suite"].words,
        checkpoint=one("checkpoint"),
        gate=cast("GatePolicy", one("gate")),
        inconclusive=cast("InconclusivePolicy", one("inconclusive")),
        budget=_budget(one("budget")),
        concurrency=_concurrency(one("concurrency") or "auto"),
        timeout_s=_seconds(one("timeout") or "120"),
        report_dir=report if report.is_absolute() else base / report,
        origins=values,
    )


def _key_name(name: str | None) -> str | None:
    if name is None:
        return None
    if not name.replace("_", "").isalnum() or name[0].isdigit():
        # The value itself may be a key that somebody pasted: it is not repeated.
        raise pytest.UsageError("--mtp-api-key-env: expected the NAME of a variable (letters, digits, underscores), not a key")
    if not os.environ.get(name):
        raise pytest.UsageError(f"--mtp-api-key-env: the variable {name} is not set")
    return name


def _budget(word: str | None) -> Budget | None:
    try:
        return read_budget(word) if word else None
    except UsageError as error:
        raise pytest.UsageError(f"--mtp-budget: {error}") from error


def _concurrency(word: str) -> int | None:
    if word == "auto":
        return None
    if not word.isascii() or not word.isdigit() or not 1 <= int(word) <= 4096:
        raise pytest.UsageError(f"--mtp-concurrency: expected a number from 1 to 4096 or `auto`, got {word!r}")
    return int(word)


def _seconds(word: str) -> float:
    try:
        seconds = float(word)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 86_400:
        raise pytest.UsageError(f"--mtp-timeout: expected seconds above 0 and at most a day, got {word!r}")
    return seconds
