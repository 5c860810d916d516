"""Where the bytes come from: a folder on disk, or a web address (`web.py`). Every byte read is counted."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Protocol

from pytest_mtp.checkpoint.errors import CheckpointError, file_problem

MAX_LISTED = 20_000


class Source(Protocol):
    """Files that can be read in pieces. Every failure is a CheckpointError or an InfraError that names the file."""

    @property
    def bytes_read(self) -> int:
        """Since it was made."""

    def shown(self, name: str = "") -> str:
        """The file (or the folder) as the user would type it."""

    def names(self) -> tuple[str, ...] | None:
        """Files directly in the folder, sorted; None where a place cannot be listed."""

    def has(self, name: str) -> bool:
        """Whether such a file can be opened."""

    def size(self, name: str) -> int:
        """In bytes."""

    def read(self, name: str, offset: int, length: int) -> bytes:
        """Exactly these bytes."""


class LocalSource:
    """A folder. Opens regular files only, so a pipe or a device under a model's name cannot hang us."""

    def __init__(self, folder: Path) -> None:
        """`folder` need not exist: the first read says what is wrong."""
        self._folder = folder
        self.bytes_read = 0

    def shown(self, name: str = "") -> str:
        """Joined with the folder as it was given."""
        return str(self._folder / name) if name else str(self._folder)

    def names(self) -> tuple[str, ...] | None:
        """Files and links to files; folders are left out."""
        try:
            with os.scandir(self._folder) as entries:
                found: list[str] = []
                for entry in entries:
                    if len(found) > MAX_LISTED:
                        raise CheckpointError(f"more than {MAX_LISTED} files in one folder; is this a model?", path=self.shown())
                    if not _is_folder(entry):
                        found.append(entry.name)
        except (OSError, ValueError) as error:
            raise CheckpointError(file_problem(error), path=self.shown()) from error
        return tuple(sorted(found))

    def folders(self) -> tuple[str, ...]:
        """Names of the folders inside, sorted; empty where it cannot be listed."""
        try:
            with os.scandir(self._folder) as entries:
                return tuple(sorted(entry.name for entry in entries if _is_folder(entry)))
        except (OSError, ValueError):
            return ()

    def has(self, name: str) -> bool:
        """False for a dangling link and for anything that is not a regular file."""
        try:
            return stat.S_ISREG((self._folder / name).stat().st_mode)
        except (OSError, ValueError):
            return False

    def size(self, name: str) -> int:
        """Of the file that a link points to."""
        descriptor = self._open(name)
        try:
            return os.fstat(descriptor).st_size
        finally:
            os.close(descriptor)

    def read(self, name: str, offset: int, length: int) -> bytes:
        """Unbuffered, so that nothing beyond the asked bytes is ever read."""
        descriptor = self._open(name)
        try:
            pieces, missing = [], length
            while missing:
                piece = os.pread(descriptor, missing, offset + length - missing)
                if not piece:
                    raise CheckpointError(f"ends {missing} bytes early: {length} bytes were expected at {offset}", path=self.shown(name))
                pieces.append(piece)
                missing -= len(piece)
                self.bytes_read += len(piece)
            return b"".join(pieces)
        except OSError as error:
            raise CheckpointError(file_problem(error), path=self.shown(name)) from error
        finally:
            os.close(descriptor)

    def _open(self, name: str) -> int:
        try:
            descriptor = os.open(self._folder / name, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except (OSError, ValueError) as error:
            raise CheckpointError(file_problem(error), path=self.shown(name)) from error
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise CheckpointError("is not a regular file", path=self.shown(name))
        return descriptor


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a loop of links is no folder; opening it says so
        return False
