"""The servers that we can start by name."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from pytest_mtp.core.errors import UsageError, nearest
from pytest_mtp.core.profile import Profile
from pytest_mtp.core.record import Json
from pytest_mtp.servers.engines.registry import engine_names
from pytest_mtp.servers.launched import LaunchedServer
from pytest_mtp.servers.params import Params
from pytest_mtp.servers.plan import Plan, Planner
from pytest_mtp.servers.profile import plan_of

_NO_PARAMS: Mapping[str, Json] = {}


def launch(name: str, *, run_dir: Path, params: Mapping[str, Json] = _NO_PARAMS, timeout_s: float) -> LaunchedServer:
    """Start a built-in server and wait until it has answered a real request, `timeout_s` at most.

    Its log goes into `run_dir`. Raise UsageError for an unknown name or parameter or for missing extras, InfraError
    INFRA.start with the tail of the log when it does not come up.
    """
    if name not in _PLANNERS:
        raise UsageError(
            f"no built-in server {name!r}{nearest(name, _PLANNERS)}; built in are {', '.join(sorted(_PLANNERS))}, "
            "and launch profiles, which `launch_profile` takes"
        )
    return LaunchedServer(name, _PLANNERS[name], run_dir=run_dir, params=params, timeout_s=timeout_s)


def launch_profile(
    profile: Profile,
    *,
    run_dir: Path,
    params: Mapping[str, Json] = _NO_PARAMS,
    timeout_s: float,
    folder: Path | None = None,
    api_key_env: str | None = None,
) -> LaunchedServer:
    """The same for a profile. Relative paths in `params` are meant from `folder`, the current one where it is None.

    `timeout_s` bounds each request; the start has the profile's own limit, and this one where the profile has none. Raise
    UsageError before anything is started for a parameter, path or program that is wrong.
    """
    if profile.engine is not None and profile.engine not in engine_names():
        raise UsageError(
            f"{profile.source.path}: no adapter for engine {profile.engine!r}{nearest(profile.engine, engine_names())}; "
            f"there are {', '.join(engine_names())}"
        )
    planner = partial(plan_of, profile, folder=folder or Path.cwd())
    return LaunchedServer(profile.name, planner, run_dir=run_dir, params=params, timeout_s=timeout_s, api_key_env=api_key_env)


def launch_names() -> tuple[str, ...]:
    """What `launch` takes."""
    return tuple(sorted(_PLANNERS))


def register_launch(name: str, planner: Planner) -> None:
    """Add a kind of server, or replace one."""
    _PLANNERS[name] = planner


def _demo(params: Mapping[str, Json]) -> Plan:
    from pytest_mtp.servers.demo.plan import plan  # noqa: PLC0415 (the demo's modules are for who launches it)

    return plan(params)


def _fake(params: Mapping[str, Json]) -> Plan:
    """Started by module name, since servers/ does not know selftest/; the names of faults and dialects are checked there."""
    given = Params("fake", params, known=("faults", "dialects", "speculation", "alias", "port", *_FAKE_NUMBERS))
    words = ["--speculation", "on" if given.flag("speculation", default=True) else "off"]
    for key, option in (("faults", "--fault"), ("dialects", "--dialect")):
        words += [word for name in given.names(key) for word in (option, name)]
    for key in _FAKE_NUMBERS:
        if key in params:
            words += [f"--{key.replace('_', '-')}", f"{given.number(key, default=0):g}"]

    def command(port: int, alias: str) -> Sequence[str]:
        return [sys.executable, "-m", "pytest_mtp.selftest.fake", "--port", str(port), "--alias", alias, *words]

    return Plan(command=command, alias=given.name("alias"), port=given.whole("port", default=0, highest=65535) or None)


_FAKE_NUMBERS = ("depth", "concurrency", "max_concurrency", "door", "workers", "context_length", "token_delay_ms", "seed")

_PLANNERS: dict[str, Callable[[Mapping[str, Json]], Plan]] = {"demo": _demo, "fake": _fake}
