"""Landlock (Linux 5.13 and later): a process may forbid itself the file system and the network, without any privilege.

Numbers are those of include/uapi/linux/landlock.h; the three system calls have the same numbers on every architecture.
"""

# os.path is loaded by then; pathlib is not, and every program would pay for it.
# ruff: noqa: PTH112

from __future__ import annotations

import ctypes
import os

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_READING = _EXECUTE | _READ_FILE | _READ_DIR
_ALL_BY_ABI = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
_IOCTL_DEV, _REFER = 1 << 15, 1 << 13
_TCP, _SCOPES = 0b11, 0b11
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | (1 << 14) | _IOCTL_DEV


class _Ruleset(ctypes.Structure):
    _fields_ = [("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = [("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32)]


def restrict(readable: list[str], writable: list[str]) -> str:
    """Forbid everything but these trees. What holds afterwards as a word, empty where the kernel has no Landlock."""
    libc = ctypes.CDLL(None, use_errno=True)
    abi = libc.syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    if abi < 1:
        return ""
    rights = _ALL_BY_ABI[min(abi, 5)]
    ruleset = _Ruleset(rights, _TCP if abi >= 4 else 0, _SCOPES if abi >= 6 else 0)
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8
    rules = libc.syscall(_CREATE, ctypes.byref(ruleset), ctypes.c_size_t(size), ctypes.c_uint32(0))
    if rules < 0:
        return ""
    try:
        for paths, allowed in ((readable, _READING), (writable, rights & ~_EXECUTE & ~_IOCTL_DEV)):
            for path in paths:
                _allow(libc, rules, path, allowed & rights)
        if libc.syscall(_RESTRICT, ctypes.c_int(rules), ctypes.c_uint32(0)) != 0:
            return ""
    finally:
        os.close(rules)
    return f"landlock-{abi}"


def _allow(libc: ctypes.CDLL, rules: int, path: str, rights: int) -> None:
    try:
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    if not os.path.isdir(path):
        rights &= _FILE_RIGHTS
    rule = _PathBeneath(rights, parent)
    libc.syscall(_ADD, ctypes.c_int(rules), ctypes.c_int(1), ctypes.byref(rule), ctypes.c_uint32(0))
    os.close(parent)
