"""The servers that we can start by name."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pytest_mtp.core.errors import UsageError, nearest
from pytest_mtp.core.record import Json
from pytest_mtp.servers.launched import LaunchedServer, Plan, Planner
from pytest_mtp.servers.params import Params

_NO_PARAMS: Mapping[str, Json] = {}


def launch(name: str, *, run_dir: Path, params: Mapping[str, Json] = _NO_PARAMS, timeout_s: float) -> LaunchedServer:
    """Start a built-in server and wait until it has answered a real request, `timeout_s` at most.

    Its log goes into `run_dir`. Raise UsageError for an unknown name or parameter or for missing extras, InfraError
    INFRA.start with the tail of the log when it does not come up.
    """
    if name not in _PLANNERS:
        raise UsageError(
            f"no built-in server {name!r}{nearest(name, _PLANNERS)}; built in are {', '.join(sorted(_PLANNERS))}. "
            "Profiles for other engines are not built in yet: start the server yourself and give its URL"
        )
    return LaunchedServer(name, _PLANNERS[name], run_dir=run_dir, params=params, timeout_s=timeout_s)


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
