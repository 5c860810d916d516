"""Exchanges on disk, one JSON line each; several threads and processes may append to one file."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pytest_mtp.client.redaction import masked_headers
from pytest_mtp.core.errors import UsageError
from pytest_mtp.core.exchange import Exchange

Redact = Callable[[dict[str, Any]], object]


def append_exchange(path: Path, exchange: Exchange, *, redact: Redact | None = None) -> None:
    """Write one line at the end. `redact` edits the plain record in place first; when it raises, nothing is written.

    ASCII alone is written, so that lone surrogates and NUL survive. Raises OSError as the file system does.
    """
    plain: dict[str, Any] = exchange.to_dict()
    _mask(plain)
    if redact is not None:
        redact(plain)
    line = json.dumps(plain, separators=(",", ":")).encode("ascii") + b"\n"
    with _locked(path) as file:
        size = os.fstat(file).st_size
        if size and os.pread(file, 1, size - 1) != b"\n":  # a writer died in the middle of its line
            line = b"\n" + line
        while line:
            line = line[os.write(file, line) :]


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file
    finally:
        os.close(file)


def _mask(plain: dict[str, Any]) -> None:
    """Secret headers, wherever the exchange came from."""
    holders = [plain["reply"], plain["fault"], *(attempt["fault"] for attempt in plain["attempts"])]
    for holder in holders:
        if holder and holder["headers"]:
            holder["headers"] = masked_headers(holder["headers"])


def read_exchanges(path: Path) -> Iterator[Exchange]:
    """Each exchange of a file, in order. A line that a dying writer left half is skipped.

    Raises UsageError, naming the line, for JSON that is no exchange.
    """
    with path.open(encoding="ascii", errors="replace", newline="\n") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                plain = json.loads(line)
            except ValueError:
                continue
            try:
                yield Exchange.from_dict(plain)
            except (ValueError, AttributeError, TypeError) as error:
                raise UsageError(f"{path}:{number}: not an exchange: {error}") from None
