"""The lines of a server's log that tell why it failed: the cause, not the chatter of the shutdown that follows it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

MOST = 5
_HEAD, _TAIL = 2**20, 2**22
_LONGEST = 300
_EXCEPTION = re.compile(r"(?:^|[\s\]|:])((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Failure)): \S")
_TRACEBACK = "Traceback (most recent call last)"
_CHATTER = re.compile(
    r"KeyboardInterrupt|SystemExit|CancelledError|BrokenPipeError|ConnectionResetError|EOFError|root cause|see (the )?(stack )?trace|"
    r"Exception ignored|DeprecationWarning|FutureWarning",
    re.IGNORECASE,
)
_TROUBLE = re.compile(
    r"error|exception|fail|assert|abort|cannot|can't|unable|not found|no such|denied|killed|out of memory|invalid|ended the server",
    re.IGNORECASE,
)


def telling_lines(log: Path, patterns: Iterable[str] = ()) -> tuple[str, ...]:
    """The most telling line first, one to five of them.

    First lines that match `patterns`, in the order of the patterns. Else the exceptions of tracebacks in the order of the
    log: what comes first is the cause of what follows. Else other lines that name an exception, else the last line that
    speaks of trouble, else the last line. Of a very long log, its beginning and its end are read.
    """
    lines = [line.strip() for line in _text(log).splitlines() if line.strip()]
    chosen = [line for pattern in patterns for line in lines if re.search(pattern, line)]
    if not chosen:
        exceptions = [(place, line) for place, line in enumerate(lines) if _EXCEPTION.search(line) and not _CHATTER.search(line)]
        raised = [line for place, line in exceptions if _is_end_of_traceback(lines, place)]
        chosen = raised or [line for _, line in exceptions]
    if not chosen:
        chosen = [line for line in lines if _TROUBLE.search(line)][-1:] or lines[-1:]
    return _distinct(chosen) or ("it wrote nothing",)


def _is_end_of_traceback(lines: Sequence[str], place: int) -> bool:
    """A traceback began above, and no other exception ended it."""
    for line in reversed(lines[max(0, place - 400) : place]):
        if _TRACEBACK in line:
            return True
        if _EXCEPTION.search(line):
            return False
    return False


def _distinct(lines: Iterable[str]) -> tuple[str, ...]:
    """Processes of one server often tell the same, each with its own time and prefix: the exception decides."""
    seen: dict[str, str] = {}
    for line in lines:
        found = _EXCEPTION.search(line)
        seen.setdefault(line[found.start(1) :] if found else line, line[:_LONGEST])
    return tuple(seen.values())[:MOST]


def _text(log: Path) -> str:
    try:
        with log.open("rb") as file:
            head = file.read(_HEAD)
            size = file.seek(0, 2)
            file.seek(max(_HEAD, size - _TAIL))
            rest = file.read(_TAIL)
    except OSError:
        return ""
    gap = b"\n" if size > _HEAD + _TAIL else b""
    return (head + gap + rest).decode(errors="replace")
