"""Which processes of this machine listen on a port."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

_PROC = Path("/proc")
_LISTEN = "0A"  # the state in /proc/net/tcp
_TABLES = (_PROC / "net" / "tcp").is_file()
_LOOPBACK_NAMES = ("localhost", "ip6-localhost", "ip6-loopback")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listeners:
    """`pids` hold the socket, one process a socket. `sockets` without a pid belong to somebody whom we may not see."""

    pids: tuple[int, ...]
    sockets: int


def addresses_here(host: str) -> tuple[str, ...]:
    """The addresses of this machine that `host` means, in the order in which a client tries them; empty for another machine."""
    if host in _LOOPBACK_NAMES or host.endswith(".localhost"):
        return ("127.0.0.1", "::1")
    try:
        wanted = [str(ipaddress.ip_address(host.partition("%")[0]))]
    except ValueError:
        try:
            wanted = [str(entry[4][0]) for entry in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]
        except (OSError, UnicodeError):
            return ()
    wanted = [{"0.0.0.0": "127.0.0.1", "::": "::1"}.get(address, address) for address in wanted]  # noqa: S104 (nothing is bound)
    own = {address.address.partition("%")[0] for addresses in psutil.net_if_addrs().values() for address in addresses}
    here = [address for address in wanted if address in own or ipaddress.ip_address(address.partition("%")[0]).is_loopback]
    return tuple(dict.fromkeys(here))


def listeners(addresses: tuple[str, ...], port: int) -> Listeners:
    """Who gets a connection to the first of these addresses on which anybody listens.

    The kernel prefers a socket bound to just this address over one bound to all. Raises psutil.Error or OSError where the
    operating system does not tell at all.
    """
    found = list(_sockets(port))
    for address in addresses:
        for bound_to in _preference(address):
            holders = [holder for ip, holder in found if ip == bound_to]
            if holders:
                pids = _holders(holders) if _TABLES else tuple(pid for pid in holders if pid)
                return Listeners(pids=tuple(dict.fromkeys(pids)), sockets=len(holders))
    return Listeners(pids=(), sockets=0)


def _preference(address: str) -> tuple[str, ...]:
    if ":" in address:
        return (address, "::")
    return (address, f"::ffff:{address}", "0.0.0.0", "::")  # noqa: S104 (compared with, not bound to)


def _sockets(port: int) -> Iterator[tuple[str, int]]:
    """(address, inode) where the kernel shows its table, (address, pid or 0) elsewhere."""
    return _of_kernel(port) if _TABLES else _of_processes(port)


def _of_processes(port: int) -> Iterator[tuple[str, int]]:
    try:
        told = [(connection.status, connection.laddr, connection.pid) for connection in psutil.net_connections(kind="tcp")]
    except psutil.AccessDenied:  # macOS tells a plain user of its own processes alone
        told = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                told += [(own.status, own.laddr, process.pid) for own in process.net_connections(kind="tcp")]
    for status, bound_to, pid in told:
        if status == psutil.CONN_LISTEN and bound_to and bound_to[1] == port:
            yield "::" if bound_to[0] == "*" else bound_to[0], pid or 0


def _of_kernel(port: int) -> Iterator[tuple[str, int]]:
    """From /proc/net, ten times faster than a list of all connections. Addresses stand there as words of the machine's order."""
    for name, family in (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6)):
        try:
            lines = (_PROC / "net" / name).read_text().splitlines()[1:]
        except OSError:  # no IPv6 here
            continue
        for line in lines:
            fields = line.split()
            ip, _, bound_port = fields[1].partition(":")
            if fields[3] == _LISTEN and int(bound_port, 16) == port:
                words = (ip[start : start + 8] for start in range(0, len(ip), 8))
                packed = b"".join(int(word, 16).to_bytes(4, sys.byteorder) for word in words)
                yield socket.inet_ntop(family, packed), int(fields[9])


def _holders(inodes: list[int]) -> tuple[int, ...]:
    """The first process found for each inode. A socket that several share, by fork, belongs to one tree."""
    missing = {f"socket:[{inode}]" for inode in inodes}
    pids = []
    for pid in sorted(psutil.pids()):  # a parent mostly has the lower number
        if not missing:
            break
        with contextlib.suppress(OSError):  # it ended, or is another user's
            for entry in os.scandir(f"/proc/{pid}/fd"):
                try:
                    target = os.readlink(entry.path)  # noqa: PTH115 (thousands of them: a Path each costs more than the call)
                except OSError:
                    continue
                if target in missing:
                    missing.discard(target)
                    pids.append(pid)
    return tuple(pids)
