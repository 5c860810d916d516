"""Files that are expensive to make, kept for the user and checked by digest."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def cache_dir() -> Path:
    """PYTEST_MTP_CACHE, else `pytest-mtp` below XDG_CACHE_HOME or `~/.cache`; made when missing."""
    own, xdg = os.environ.get("PYTEST_MTP_CACHE"), os.environ.get("XDG_CACHE_HOME")
    folder = Path(own) if own else (Path(xdg) if xdg else Path.home() / ".cache") / "pytest-mtp"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def sha256_of(path: Path) -> str:
    """Hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def holds(path: Path, sha256: str) -> bool:
    """The file is there and is that one."""
    return path.is_file() and sha256_of(path) == sha256


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """One process at a time; the kernel releases it with the process."""
    with (folder / "lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def sweep(folder: Path) -> None:
    """Remove what killed processes left half done. The caller holds the lock."""
    for leftover in folder.glob(".*"):
        if leftover.is_dir():
            shutil.rmtree(leftover)
        else:
            leftover.unlink()


@contextmanager
def arriving(target: Path) -> Iterator[Path]:
    """A temporary path beside `target` that takes its place when the block ends well, and vanishes otherwise."""
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    os.close(descriptor)
    temporary = Path(name)
    try:
        yield temporary
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
