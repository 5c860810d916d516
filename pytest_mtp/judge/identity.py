"""Is it the model that we think we test? What a server tells, held against its process, its files and its replies.

Aliases, links, names of adapters, quantised copies and proxies are lawful: two names for one thing are at most worth a note.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath

from pytest_mtp.core.case import Severity
from pytest_mtp.core.codes import CODES
from pytest_mtp.core.exchange import Exchange
from pytest_mtp.core.facts import ProcessFacts, ServerFacts, SpecDecode
from pytest_mtp.core.record import Json
from pytest_mtp.core.verdict import Finding

STALE_AFTER_S = 60.0
"""A file younger than its process by less may have been fetched by the process itself, or be dated by another machine's clock."""

_DATED = re.compile(r"[-_@:](latest|\d{4}[-\d]*)")

LOADS_LATE = frozenset({"ollama", "lmstudio", "transformers", "generic"})
"""Engines that load a model at its first request: their process may be older than its files, and no harm done."""


def identity_findings(facts: ServerFacts) -> tuple[Finding, ...]:
    """What contradicts itself. `facts.speculation` should hold what was proven by now, not only what was known at start."""
    process = facts.process
    found = [*_answering(facts), *_reply_name(facts)]
    if process is not None:
        found += [*_tree(facts, process), *_names(facts, process), *_paths(facts, process)]
        found += [*_stale(facts, process), *_speculation(facts, process), *_sequences(facts, process)]
    return tuple(found)


def reply_findings(exchange: Exchange, facts: ServerFacts) -> tuple[Finding, ...]:
    """`ID.model` where this reply names another model than the first reply of the run did, and than was asked for."""
    first, now = facts.details.get("reply_model"), exchange.reply.model if exchange.reply else None
    if not isinstance(first, str) or not now or _same(now, first, facts) or _same(now, exchange.model, facts):
        return ()
    title = f"the reply says that {now!r} wrote it; the first reply of this run said {first!r}"
    hint = "Look for a router or a fall-back in front of the server, or a model that was swapped meanwhile."
    return (_finding("ID.model", "regression", title, hint=hint, asked=exchange.model, first=first, now=now),)


def with_process(facts: ServerFacts) -> ServerFacts:
    """The facts with gaps filled by the command line of the process: speculation that is off by its flags, the path of the model.

    Flags prove that nothing is drafted, and never that anything is: a server that is told nothing speculates by nothing.
    """
    process = facts.process
    if process is None:
        return facts
    spec, configured = facts.speculation, process.speculation
    if spec.state == "unknown" and spec.method is None and configured is not None and configured.state == "inactive":
        spec = dataclasses.replace(configured, evidence=(*configured.evidence, *spec.evidence))
    details: Mapping[str, Json] = facts.details
    if process.model_path and not (details.get("model_path") or details.get("root")):
        details = {**details, "model_path": process.model_path}
    if process.drafter_path and not details.get("drafter_path"):
        details = {**details, "drafter_path": process.drafter_path}
    return dataclasses.replace(facts, speculation=spec, details=details)


def _answering(facts: ServerFacts) -> Iterator[Finding]:
    sharing = facts.details.get("port_shared_by")
    if isinstance(sharing, (list, tuple)) and len(sharing) > 1:
        title = f"{len(sharing)} servers share the port of {facts.endpoint.root}: any of them may answer"
        hint = "Stop all but one: a verdict is about one server."
        yield _finding("ID.process", "regression", title, hint=hint, processes=list(sharing))


def _tree(facts: ServerFacts, process: ProcessFacts) -> Iterator[Finding]:
    if facts.launched and facts.pid is not None and facts.pid not in (process.pid, *process.parents):
        title = f"process {process.pid} answers, and it is not of the server {facts.pid} that this run started"
        yield _finding("ID.process", "critical", title, command=" ".join(process.command))


def _names(facts: ServerFacts, process: ProcessFacts) -> Iterator[Finding]:
    told = {facts.model, *facts.models}
    if process.served_names and not any(_alike(name, offered) for name in told for offered in process.served_names):
        title = f"the process offers {_listed(process.served_names)}, and the server lists {_listed(facts.models)}"
        yield _finding("ID.process", "note", title, hint="A proxy may rename it; else another process answers than the one found.")


def _paths(facts: ServerFacts, process: ProcessFacts) -> Iterator[Finding]:
    told = facts.details.get("model_path") or facts.details.get("root")
    mine = process.model_path
    if isinstance(told, str) and told and mine and not _same_path(told, mine, process):
        title = f"the server says that it serves {told}, and its process was started with {mine}"
        hint = "Lawful for an adapter (LoRA) or a server that loads models on demand; else look which of them was meant."
        yield _finding("ID.process", "note", title, hint=hint, told=told, command_line=mine)


def _stale(facts: ServerFacts, process: ProcessFacts) -> Iterator[Finding]:
    if process.newest_at is None or process.newest_at <= process.started_at + STALE_AFTER_S:
        return
    late = facts.engine in LOADS_LATE
    later = _ago(process.newest_at - process.started_at)
    title = f"{process.newest_file} changed {later} after process {process.pid} started: the old weights may still be served"
    hint = "Restart the server, and measure again: until then every figure is about the model that was loaded before."
    if late:
        hint = "This server loads a model when it is first asked for, so this may be in order. A restart makes sure."
    severity: Severity = "note" if late else "regression"
    yield _finding("ID.stale", severity, title, hint=hint, started_at=process.started_at, changed_at=process.newest_at)


def _speculation(facts: ServerFacts, process: ProcessFacts) -> Iterator[Finding]:
    flags, seen = process.speculation, facts.speculation
    if flags is None:
        return
    detail = "\n".join((*flags.evidence, *seen.evidence))
    if flags.state == "inactive" and seen.state in ("active", "dead"):
        title = "drafts are made, and the command line of the process asks for none"
        hint = "A configuration file, a variable or a default of the engine may ask for them."
        yield _finding("ID.process", "note", title, detail=detail, hint=hint)
    if _asks(flags) and seen.state == "inactive":
        title = f"the command line asks for speculation ({_setting(flags)}), and the server does not speculate"
        yield _finding("ID.process", "regression", title, detail=detail, hint="Look for a warning about it in the log at its start.")
    if _asks(flags) and flags.depth and seen.depth and flags.depth != seen.depth:
        told = "this run asked for" if facts.launched else "the server tells"
        title = f"the command line sets {flags.depth} draft tokens a step, and {told} {seen.depth}"
        yield _finding("ID.process", "regression" if facts.launched else "note", title, detail=detail)
    params = facts.details.get("params")
    if facts.launched and isinstance(params, Mapping) and isinstance(wanted := params.get("speculation"), bool):
        if wanted is False and _asks(flags):
            title = f"this run switched speculation off, and the process was started with it ({_setting(flags)})"
            yield _finding("ID.process", "regression", title, detail=detail)
        if wanted is True and flags.state == "inactive":
            title = "this run switched speculation on, and the command line of the process does not ask for it"
            yield _finding("ID.process", "regression", title, detail=detail)


def _sequences(facts: ServerFacts, process: ProcessFacts) -> Iterator[Finding]:
    if process.sequences and facts.sequences and process.sequences != facts.sequences:
        title = f"requests at once: the command line sets {process.sequences}, and the server tells {facts.sequences}"
        yield _finding("ID.process", "note", title)


def _reply_name(facts: ServerFacts) -> Iterator[Finding]:
    named = facts.details.get("reply_model")
    if isinstance(named, str) and not _same(named, facts.model, facts):
        title = f"{facts.model!r} was asked for, and the reply says that {named!r} wrote it"
        hint = "Lawful for an alias or a dated name; a router may also have chosen another model."
        yield _finding("ID.model", "note", title, hint=hint, asked=facts.model, named=named)


def _asks(spec: SpecDecode) -> bool:
    return spec.state != "inactive" and (spec.method is not None or spec.depth is not None)


def _setting(spec: SpecDecode) -> str:
    return ", ".join(part for part in (spec.method, f"depth {spec.depth}" if spec.depth else None) if part)


def _alike(one: str, other: str) -> bool:
    """Equal but for case, folders, and a date or `latest` behind one of them."""
    a, b = PurePath(one.casefold()).name, PurePath(other.casefold()).name
    short, long = sorted((a, b), key=len)
    return a == b or (long.startswith(short) and _DATED.fullmatch(long[len(short) :]) is not None)


def _same(one: str, other: str, facts: ServerFacts) -> bool:
    """Two names that may well mean one model: alike, or both among the names that its process has for it."""
    if _alike(one, other):
        return True
    process = facts.process
    if process is None:
        return False
    own = [name for name in (facts.model, *process.served_names, process.model_path, *process.real_paths.values()) if name]
    return all(any(_alike(name, known) for known in own) for name in (one, other))


def _same_path(told: str, mine: str, process: ProcessFacts) -> bool:
    """By where they lead; where that is not known by the last name, or by the name on a hub that is part of a cache's folder."""
    real = process.real_paths
    if told in real and mine in real:
        return real[told] == real[mine]
    names = [PurePath(path).name for path in (told, mine)]
    in_cache = any(not PurePath(hub).is_absolute() and hub in path.replace("--", "/") for hub, path in ((told, mine), (mine, told)))
    return names[0] == names[1] or in_cache


def _ago(seconds: float) -> str:
    for unit, size in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} seconds"


def _listed(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(repr(name) for name in names[:3]) + more or "nothing"


def _finding(code: str, severity: Severity, title: str, *, detail: str = "", hint: str = "", **evidence: Json) -> Finding:
    return Finding(code=code, severity=severity, title=title, detail=detail, hint=hint or CODES[code].hint, evidence=evidence)
