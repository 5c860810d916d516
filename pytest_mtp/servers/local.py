"""What is loaded: the server's own process on this machine, found by the port it listens on."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psutil

from pytest_mtp.client.proxies import proxy_for
from pytest_mtp.core.errors import MtpError
from pytest_mtp.core.facts import ProcessFacts, ServerFacts
from pytest_mtp.core.protocols import Engine
from pytest_mtp.servers.command_line import hints, masked
from pytest_mtp.servers.listening import addresses_here, listeners
from pytest_mtp.servers.model_files import absolute, newest_weights, real_paths

FORWARDERS = re.compile(
    r"(docker-proxy|com\.docker\.\w+|vpnkit\S*|gvproxy|rootlessport|rootlesskit|slirp4netns|pasta|ssh|sshd|autossh|nginx|haproxy|envoy"
    r"|caddy|traefik|socat|kubectl|cloudflared|frpc|frps|ngrok|tailscaled?|wslrelay\S*|litellm)(\.exe)?:?",
    re.IGNORECASE,
)
"""Programs that pass connections on: whoever answers, it is not they."""

_LEASH = "pytest_mtp.servers.leash"  # its command line quotes the whole command of the server
_CONTAINER = re.compile(r"docker|containerd|kubepods|libpod|lxc|crio|podman")
_MOST_PARENTS = 8
_TOLD_PATHS = ("model_path", "root", "drafter_path", "draft_model", "speculative_draft_model_path")


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The process, where it was found, and lines of evidence about it, also about why there is none.

    `rivals` are the processes of the servers that share the port, where there are several.
    """

    process: ProcessFacts | None = None
    evidence: tuple[str, ...] = ()
    rivals: tuple[int, ...] = ()


def process_behind(facts: ServerFacts, engine: Engine) -> Seen:
    """Look for it. Never raises, whatever the operating system refuses; costs some milliseconds."""
    try:
        return _behind(facts, engine)
    except (psutil.Error, OSError, ValueError, MtpError) as error:
        return Seen(evidence=(f"process: not found, {type(error).__name__}: {error}",))


def _behind(facts: ServerFacts, engine: Engine) -> Seen:
    parts = urlsplit(facts.endpoint.root)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    addresses = addresses_here(parts.hostname or "")
    if not addresses:
        return Seen()
    if proxy_for(facts.endpoint.root) is not None:
        return Seen(evidence=("process: not looked for, since a proxy of the environment stands between",))
    found = listeners(addresses, port)
    if not found.sockets:
        return Seen(evidence=(f"process: nobody on this machine listens on port {port} as far as we may see: it is forwarded elsewhere",))
    if not found.pids:
        words = f"process: whoever listens on port {port} is hidden: another user's, or in another container"
        return Seen(evidence=(words,))
    if os.getpid() in found.pids:
        return Seen(evidence=("process: it runs inside this process",))
    places = [_understood(tuple(_upwards(pid)), pid, engine) for pid in found.pids]
    owners = tuple(dict.fromkeys(place.owner for place in places))
    seen = _told(places[0], engine, facts, port)
    if len(owners) == 1:
        return seen
    words = f"process: {len(owners)} servers share port {port} ({', '.join(map(str, owners))}): a connection may reach any of them"
    return dataclasses.replace(seen, evidence=(words, *seen.evidence), rivals=owners)


def _upwards(pid: int) -> Iterator[psutil.Process]:
    """The process and those above it, up to ourselves, to our leash, or to the first process of the machine."""
    process: psutil.Process | None = psutil.Process(pid)
    for _ in range(_MOST_PARENTS):
        if process is None or process.pid in (0, 1) or (process.pid == os.getpid() and process.pid != pid):
            return
        command = _command(process)
        if not command or (_LEASH in command and process.pid != pid):
            return
        yield process
        with contextlib.suppress(psutil.Error):
            process = process.parent()
            continue
        return


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A listening process, and the one whose command line says what is served, where any does."""

    listener: psutil.Process
    server: psutil.Process | None = None
    read: ProcessFacts | None = None
    parent: int | None = None

    @property
    def owner(self) -> int:
        """Workers of one server have the same."""
        return self.server.pid if self.server else self.parent or self.listener.pid


def _understood(chain: Sequence[psutil.Process], pid: int, engine: Engine) -> _Place:
    """The nearest process upwards whose command line the engine understands, else the only one below the listener."""
    if not chain:
        return _Place(listener=psutil.Process(pid))
    for process in chain:
        if read := engine.read_command(_command(process), _environ(process)):
            return _Place(listener=chain[0], server=process, read=read)
    below = _below(chain[0], engine)
    if len(below) == 1:
        return _Place(listener=chain[0], server=below[0][0], read=below[0][1])
    return _Place(listener=chain[0], parent=chain[1].pid if len(chain) > 1 else None)


def _told(place: _Place, engine: Engine, facts: ServerFacts, port: int) -> Seen:
    listener, name = place.listener, _name(place.listener)
    if place.server and place.read:
        seen = _filled(place.server, place.read, facts)
        if place.server.pid == listener.pid or place.server in listener.parents():
            return seen
        words = f"process: {name} ({listener.pid}) listens on port {port}; the server that it started is {place.server.pid}"
        return dataclasses.replace(seen, evidence=(words, *seen.evidence))
    if FORWARDERS.fullmatch(name):
        words = f"process: port {port} is held by {name} ({listener.pid}), which passes connections on and is not the server"
        return Seen(evidence=(words,))
    command = _command(listener)
    if not command:
        return Seen(evidence=(f"process: {listener.pid} listens on port {port} and does not show its command line",))
    seen = _filled(listener, ProcessFacts(pid=0, started_at=0.0, command=()), facts)
    words = f"process: {listener.pid} listens on port {port}; its command line is not one that the adapter for {engine.name} knows"
    return Seen(process=seen.process, evidence=(words, *(f"process: {hint}" for hint in hints(masked(command)))))


def _below(listener: psutil.Process, engine: Engine) -> list[tuple[psutil.Process, ProcessFacts]]:
    """A program that swaps models starts one server for each; the outermost that are understood."""
    found: list[tuple[psutil.Process, ProcessFacts]] = []
    try:
        children = listener.children(recursive=True)
    except psutil.Error:
        return []
    for child in children:
        command = _command(child)
        if _LEASH in command:
            continue
        with contextlib.suppress(psutil.Error):
            read = engine.read_command(command, _environ(child))
            inner = any(parent.pid == known.pid for known, _ in found for parent in child.parents())
            if read is not None and not inner:
                found.append((child, read))
    return found


def _filled(process: psutil.Process, read: ProcessFacts, facts: ServerFacts) -> Seen:
    """With what the operating system knows of it."""
    folder = _folder(process)
    contained = _in_other_files(process)
    if not contained:
        model, drafter = absolute(read.model_path, folder), absolute(read.drafter_path, folder)
        told = [value for key in _TOLD_PATHS if isinstance(value := facts.details.get(key), str)]
        real = {path: os.path.realpath(full) for path in told if folder and (full := absolute(path, folder)) and Path(full).exists()}
        real |= real_paths((model, drafter))
        newest = newest_weights((model, drafter))
        read = dataclasses.replace(read, model_path=model, drafter_path=drafter, real_paths=real)
        if newest:
            read = dataclasses.replace(read, newest_file=newest[0], newest_at=newest[1])
    filled = dataclasses.replace(
        read,
        pid=process.pid,
        started_at=process.create_time(),
        command=masked(_command(process)),
        parents=tuple(parent.pid for parent in _parents(process)),
    )
    words = (f"process: {process.pid} sees other files than we do (a container): its paths are its own",) if contained else ()
    return Seen(process=filled, evidence=words)


def _in_other_files(process: psutil.Process) -> bool:
    """It has a root or mounts of its own. What may not be read is taken from its control group, which everybody may read."""
    own = Path("/proc/self")
    other = Path(f"/proc/{process.pid}")
    if not other.exists():  # no Linux: its containers are machines of their own
        return False
    try:
        return (other / "ns/mnt").readlink() != (own / "ns/mnt").readlink() or (other / "root").readlink() != (own / "root").readlink()
    except OSError:
        pass
    try:
        groups = (other / "cgroup").read_text(), (own / "cgroup").read_text()
    except OSError:
        return True
    return groups[0] != groups[1] and _CONTAINER.search(groups[0]) is not None


def _parents(process: psutil.Process) -> Sequence[psutil.Process]:
    try:
        return process.parents()[:_MOST_PARENTS]
    except psutil.Error:
        return ()


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def _environ(process: psutil.Process) -> Mapping[str, str]:
    try:
        return process.environ()
    except (psutil.Error, OSError):
        return {}


def _folder(process: psutil.Process) -> str | None:
    try:
        return process.cwd() or None
    except (psutil.Error, OSError):
        return None


def _name(process: psutil.Process) -> str:
    """Of the program, or of the script that an interpreter runs; programs that write their title there put it first."""
    command = _command(process)
    if not command:
        return "?"
    program = Path(command[0].split(" ")[0]).name
    script = Path(command[1]).name if len(command) > 1 and not command[1].startswith("-") else ""
    return script if script and program.startswith("python") else program
