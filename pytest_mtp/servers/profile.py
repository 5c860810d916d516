"""A launch profile and its parameters to a plan: every value checked, nothing started."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_mtp.client.redaction import MASK, is_secret_name
from pytest_mtp.core.errors import UsageError, nearest
from pytest_mtp.core.facts import SpecDecode
from pytest_mtp.core.profile import COMMON, Condition, Parameter, Profile, Words, braced, filled
from pytest_mtp.core.record import Json
from pytest_mtp.servers.plan import Plan

_COMMON_KINDS: Mapping[str, Parameter] = {
    "port": Parameter(kind="whole", lowest=1, highest=65535, help="port to listen on; left out, a free one"),
    "alias": Parameter(kind="text", help="name to serve the model under; left out, one that no other server has"),
    "start_timeout_s": Parameter(kind="number", lowest=0.1, highest=86400, help="seconds from the start to the first answer"),
    "memory_mib": Parameter(kind="whole", lowest=1, help="main memory of the server and its children, in MiB; more ends it"),
}


def common_parameters() -> Mapping[str, Parameter]:
    """Those that every profile takes without declaring them."""
    return _COMMON_KINDS


def parameter_of(profile: Profile, name: str) -> Parameter | None:
    """Declared or common; None where there is no such parameter."""
    return profile.parameters.get(name) or _COMMON_KINDS.get(name)


def plan_of(profile: Profile, params: Mapping[str, Json], *, folder: Path) -> Plan:
    """Raise UsageError naming the parameter, path or program that is wrong.

    Relative paths are meant from `folder`, which is also where the server runs. A parameter that is None counts as not given.
    """
    values = _values(profile, params, folder)
    words = {name: _word(value) for name, value in values.items() if value is not None}
    words.setdefault("python", sys.executable)
    held = {name: word for name, word in words.items() if name in profile.parameters or name == "python"}
    parts = tuple(part for part in profile.command if all(holds(condition, values) for condition in part.when))
    environment = {
        name: value
        for name, value in profile.environment.items()
        if all(each in held for each in braced(value) if each in profile.parameters)
    }
    _refuse_missing_program(profile, parts, held, environment, folder)

    def command(port: int, alias: str) -> Sequence[str]:
        known = {**held, "port": str(port), "alias": alias}
        return [filled(word, known) for part in parts for word in part.words]

    def variables(port: int, alias: str) -> Mapping[str, str]:
        known = {**held, "port": str(port), "alias": alias}
        return {name: filled(value, known) for name, value in environment.items()}

    served = profile.served_name
    limit = values["start_timeout_s"] or profile.start_timeout_s
    memory, port, alias = values["memory_mib"] or profile.memory_limit_mib, values["port"], values["alias"]
    return Plan(
        command=command,
        environment=variables,
        folder=folder,
        alias=alias if isinstance(alias, str) else None,
        port=port if isinstance(port, int) else None,
        served_name=None if served is None else lambda alias: filled(served, {**held, "alias": alias}),
        configured=_configured(profile, values, held),
        engine=profile.engine,
        program_missing=profile.program_missing,
        fatal=profile.fatal,
        telling=profile.telling,
        stop_signals=profile.stop_signals,
        stop_grace_s=profile.stop_grace_s,
        start_timeout_s=float(limit) if isinstance(limit, int | float) else None,
        memory_limit_mib=memory if isinstance(memory, int) else None,
        secrets=tuple(word for name, word in words.items() if is_secret_name(name)),
        values=values,
    )


def holds(condition: Condition, values: Mapping[str, Json]) -> bool:
    """Whether a condition holds for these values; None is unset."""
    value = values.get(condition.name)
    is_set = value is not None and value is not False
    found = is_set if condition.equals is None else _plain(value) == _plain(condition.equals)
    return found is not condition.negated


def _values(profile: Profile, params: Mapping[str, Json], folder: Path) -> dict[str, Json]:
    """Every parameter with its value, None where it is unset."""
    known = {**profile.parameters, **_COMMON_KINDS}
    for name in params:
        if name not in known:
            declared = ", ".join(profile.parameters) or "none of its own"
            message = (
                f"the {profile.name} server has no parameter {name!r}{nearest(name, known)}; it has {declared}, and {', '.join(COMMON)}"
            )
            raise UsageError(message)
    values: dict[str, Json] = {}
    for name, parameter in known.items():
        value = params.get(name)
        if value is not None and (expected := parameter.problem(value)):
            shown = MASK if is_secret_name(name) else repr(value)
            raise UsageError(f"parameter {name!r} of the {profile.name} server: expected {expected}, got {shown}")
        if value is None:
            value = parameter.default
        if value is None and parameter.required:
            raise UsageError(
                f"the {profile.name} server needs the parameter {name!r}: {parameter.help}; "
                f"for example --mtp-launch '{profile.name}?{name}=...'"
            )
        values[name] = _path(profile, name, str(value), folder) if value is not None and parameter.kind == "path" else value
    return values


def _path(profile: Profile, name: str, written: str, folder: Path) -> str:
    """Absolute, symbolic links kept: the interpreter of an environment is one."""
    path = folder / Path(written).expanduser()
    if not path.exists():
        raise UsageError(f"parameter {name!r} of the {profile.name} server: there is no file or folder {path}")
    return str(path)


def _word(value: Json) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return ",".join(_word(item) for item in value)
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _plain(value: Json) -> object:
    if isinstance(value, list | tuple):
        return tuple(value)
    return (value,) if isinstance(value, bool) else value


def _refuse_missing_program(
    profile: Profile, parts: Sequence[Words], held: Mapping[str, str], environment: Mapping[str, str], folder: Path
) -> None:
    program = filled(parts[0].words[0], held)
    path = environment.get("PATH", os.environ.get("PATH"))
    found = shutil.which(folder / Path(program).expanduser()) if os.sep in program else shutil.which(program, path=path)
    if found is None:
        advice = f": {profile.program_missing}" if profile.program_missing else ""
        raise UsageError(f"the program {program!r} of the {profile.name} server cannot be found{advice}")


def _configured(profile: Profile, values: Mapping[str, Json], held: Mapping[str, str]) -> SpecDecode | None:
    """What the parameters say of speculation, which proves nothing."""
    if not (profile.speculation_when or profile.speculation_method or profile.speculation_depth):
        return None
    if not all(holds(condition, values) for condition in profile.speculation_when):
        return SpecDecode(state="inactive", evidence=("launched without speculation",))
    method, depth_word = (
        filled(word, held) if word and all(values.get(name) is not None for name in braced(word)) else None
        for word in (profile.speculation_method, profile.speculation_depth)
    )
    depth = int(depth_word) if depth_word else None
    words = ", ".join(word for word in (method, f"depth {depth}" if depth else None) if word) or "speculation"
    return SpecDecode(method=method, depth=depth, evidence=(f"launched with {words}",))
