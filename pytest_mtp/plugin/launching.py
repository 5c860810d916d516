"""`--mtp-launch NAME|FILE.profile.yaml[?key=value&...]`: what is to be started, read before anything is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import pytest

from pytest_mtp.client.redaction import MASK, is_secret_name
from pytest_mtp.core.errors import UsageError, nearest
from pytest_mtp.core.profile import Profile
from pytest_mtp.core.record import Json
from pytest_mtp.profiles.load import SUFFIX, is_file_name, load_profile, profile_names
from pytest_mtp.servers.launch import launch, launch_names, launch_profile
from pytest_mtp.servers.launched import LaunchedServer
from pytest_mtp.servers.profile import parameter_of

_SWITCH = {"on": True, "true": True, "off": False, "false": False}
_PAIR = re.compile(r"(?P<name>[^?&=]+)=(?P<value>[^&]*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """A server to start: a profile, or one of the built-in kinds where `profile` is None. Paths are meant from `folder`."""

    name: str
    profile: Profile | None
    params: Mapping[str, Json]
    folder: Path

    def start(self, *, run_dir: Path, timeout_s: float, api_key_env: str | None) -> LaunchedServer:
        """Raise UsageError for wrong parameters, InfraError when it does not come up."""
        if self.profile is None:
            return launch(self.name, run_dir=run_dir, params=self.params, timeout_s=timeout_s)
        return launch_profile(
            self.profile, run_dir=run_dir, params=self.params, timeout_s=timeout_s, folder=self.folder, api_key_env=api_key_env
        )  # fmt: skip


def launchable() -> tuple[str, ...]:
    """Every name that `--mtp-launch` takes."""
    return tuple(sorted({*launch_names(), *profile_names()}))


def launch_of(word: str, folder: Path) -> Launch:
    """Raise pytest.UsageError for an unknown name, a wrong profile, or words that are no parameters."""
    name, _, query = word.partition("?")
    profile = None
    if name not in launch_names():
        if not is_file_name(name) and name not in profile_names():
            known = launchable()
            there_are = f"{', '.join(known)}, and files named NAME{SUFFIX}"
            raise pytest.UsageError(f"--mtp-launch: there is no server {name!r}{nearest(name, known)}; there are {there_are}")
        try:
            profile = load_profile(folder / Path(name).expanduser(), shown=name) if is_file_name(name) else load_profile(name)
        except UsageError as error:
            raise pytest.UsageError(f"--mtp-launch: {error}") from error
    return Launch(name=name, profile=profile, params=_params(query, profile), folder=folder)


def masked(word: str) -> str:
    """The same with the values of secrets masked, for header, report and messages."""
    name, mark, query = word.partition("?")
    return name + mark + _PAIR.sub(lambda pair: f"{pair['name']}={MASK}" if is_secret_name(pair["name"]) else pair[0], query)


def _params(query: str, profile: Profile | None) -> dict[str, Json]:
    """`depth=2&speculation=off&faults=a,b` to {depth: 2, speculation: False, faults: ["a", "b"]}, by the kinds of the profile."""
    params: dict[str, Json] = {}
    for pair in query.split("&"):
        name, equals, value = pair.partition("=")
        if not pair.strip():
            continue
        if not equals:
            raise pytest.UsageError(f"--mtp-launch: a parameter is written name=value, got {pair!r}")
        if name in params:
            raise pytest.UsageError(f"--mtp-launch: the parameter {name!r} is given twice")
        declared = parameter_of(profile, name) if profile else None
        word = unquote(value)
        params[name] = declared.read(word) if declared else word if profile else _typed(word)
    return params


def _typed(word: str) -> Json:
    if "," in word:
        return [_typed(part) for part in word.split(",")]
    if word in _SWITCH:
        return _SWITCH[word]
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word
