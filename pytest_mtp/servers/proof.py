"""Proof of a restart: another process, started later, and what it tells of itself that it did not tell before."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

import psutil

from pytest_mtp.client.redaction import MASK, is_secret_name
from pytest_mtp.core.errors import InfraError
from pytest_mtp.core.facts import ServerFacts, SpecDecode
from pytest_mtp.core.record import Json

_OWN = frozenset({"launch", "params", "alias", "log", "started_at"})  # what we say of it, not what it tells


def shown_params(params: Mapping[str, Json]) -> dict[str, Json]:
    """For reports: values of secrets masked."""
    return {name: MASK if is_secret_name(name) else value for name, value in params.items()}


def refuse_the_old(name: str, before: ServerFacts, after: ServerFacts) -> None:
    """Raise InfraError where the process after a restart is the one before it, or where the one before still runs."""
    old, new = before.details.get("started_at"), after.details.get("started_at")
    if (before.pid, old) == (after.pid, new) or (isinstance(old, float) and isinstance(new, float) and new < old):
        raise InfraError(f"the {name} server was not restarted: process {after.pid} is the old one", code="INFRA.start")
    try:
        process = psutil.Process(before.pid)
        runs = isinstance(old, float) and abs(process.create_time() - old) < 0.5 and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        runs = False
    if runs:
        raise InfraError(f"the {name} server was restarted, and its former process {before.pid} still runs", code="INFRA.start")


def evidence_of_restart(
    before: ServerFacts,
    after: ServerFacts,
    *,
    params: tuple[Mapping[str, Json], Mapping[str, Json]],
    configured: tuple[SpecDecode | None, SpecDecode | None],
) -> tuple[str, ...]:
    """Lines for `ServerFacts.evidence`. `before` and `after` are as the servers told, without what we know from parameters."""
    changed = _changes(shown_params(params[0]), shown_params(params[1]))
    times = " -> ".join(_moment(facts.details.get("started_at")) for facts in (before, after))
    words = f", {', '.join(changed)}" if changed else ", parameters as before"
    lines = [f"restarted: process {before.pid} -> {after.pid}, started {times}{words}"]
    told = _changes(_told(before), _told(after))
    if changed and told:
        lines.append(f"restart: seen from outside: {', '.join(told)}")
    elif changed:
        lines.append("restart: nothing of it is seen from outside, neither in what the server tells nor in its command line")
    if configured[0] != configured[1]:
        lines += _unseen(after.speculation, configured[0], configured[1])
    return tuple(lines)


def _unseen(seen: SpecDecode, before: SpecDecode | None, after: SpecDecode | None) -> list[str]:
    """Parameters of speculation that have changed, and that the server does not tell or tells otherwise."""
    lines = []
    for word in ("method", "depth"):
        old, new, now = (getattr(spec, word, None) for spec in (before, after, seen))
        if new is not None and old != new and now is None:
            lines.append(f"restart: {word} {old} -> {new} is not told by the server itself")
        elif new is not None and new not in (old, now):
            lines.append(f"restart: {word} {old} -> {new} is not what the server tells: {now}")
    off = after is not None and after.state == "inactive"
    if off and (seen.method or seen.depth):
        lines.append(f"restart: it was launched without speculation, and tells {seen.method or 'speculation'}, depth {seen.depth}")
    return lines


def _told(facts: ServerFacts) -> dict[str, Json]:
    """What the server says of itself, and what the operating system says of its process."""
    spec, process = facts.speculation, facts.process
    flags = process.speculation if process else None
    return {
        "model": facts.model,
        "engine": facts.engine,
        "engine_version": facts.engine_version,
        "context_length": facts.context_length,
        "sequences": facts.sequences,
        "speculation.state": spec.state,
        "speculation.method": spec.method,
        "speculation.depth": spec.depth,
        "process.model_path": process.model_path if process else None,
        "process.drafter_path": process.drafter_path if process else None,
        "process.sequences": process.sequences if process else None,
        "process.speculation.state": flags.state if flags else None,
        "process.speculation.method": flags.method if flags else None,
        "process.speculation.depth": flags.depth if flags else None,
        **{f"details.{name}": value for name, value in facts.details.items() if name not in _OWN and not isinstance(value, Mapping)},
    }


def _changes(before: Mapping[str, Json], after: Mapping[str, Json]) -> list[str]:
    names = dict.fromkeys((*before, *after))
    return [f"{name} {_short(before.get(name))} -> {_short(after.get(name))}" for name in names if before.get(name) != after.get(name)]


def _short(value: Json) -> str:
    if value is None:
        return "unset"
    text = ("on" if value else "off") if isinstance(value, bool) else str(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _moment(started: Json) -> str:
    if not isinstance(started, float) or not started:
        return "unknown"
    return dt.datetime.fromtimestamp(started, dt.UTC).isoformat(timespec="milliseconds")
