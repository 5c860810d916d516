"""The processes of one launch: whatever a server starts, also what left its group or lost its parent."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

import psutil

MARK = "MTP_LAUNCH_MARK"
"""A variable with a value of its own for each launch; children inherit it."""


def marked(mark: str) -> Iterator[psutil.Process]:
    """All processes of ours with this mark, the leash among them."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):  # it ended, or is another user's
            if process.environ().get(MARK) == mark:
                yield process


def sweep(mark: str) -> None:
    """End them all. For launches whose leash was killed; again until nobody is found, since a family may fork meanwhile."""
    for _ in range(100):
        left = [process for process in marked(mark) if process.pid != os.getpid()]
        if not left:
            return
        for process in left:
            with contextlib.suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(left, timeout=1)


def descendants(leash: int, mark: str) -> list[psutil.Process]:
    """The server and all it started. On Linux orphans stay descendants of the leash; elsewhere they are known by the mark."""
    if sys.platform != "linux":
        return [process for process in marked(mark) if process.pid != leash]
    try:
        return psutil.Process(leash).children(recursive=True)
    except psutil.Error:
        return []


def memory_mib(processes: list[psutil.Process], limit_mib: float) -> float:
    """What they occupy together. Pages that several share are counted once where that decides: it is slower to find out."""
    resident = sum(_bytes(process, shared=True) for process in processes) / 2**20
    if resident <= limit_mib or len(processes) == 1:
        return resident
    return sum(_bytes(process, shared=False) for process in processes) / 2**20


def _bytes(process: psutil.Process, *, shared: bool) -> int:
    try:
        if shared:
            return int(process.memory_info().rss)
        full = process.memory_full_info()
        return int(getattr(full, "pss", full.rss))
    except psutil.Error:  # it ended meanwhile
        return 0
