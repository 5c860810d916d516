"""Model files as the disk has them now: where a path leads, and when the newest of the files was written."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

_WEIGHTS = (".safetensors", ".gguf", ".bin", ".pt", ".pth", ".npz")
_MOST_ENTRIES = 2000


def absolute(path: str | None, folder: str | None) -> str | None:
    """The path against a process's folder where it exists there, else as given: it may be a name on a hub."""
    if not path or folder is None:
        return path
    full = os.path.normpath(Path(folder, Path(path).expanduser()))
    return full if Path(full).exists() else path


def real_paths(paths: Iterable[str | None]) -> dict[str, str]:
    """Where those paths lead that exist here and are no mere names."""
    return {path: os.path.realpath(path) for path in paths if path and Path(path).is_absolute() and Path(path).exists()}


def newest_weights(paths: Iterable[str | None]) -> tuple[str, float] | None:
    """The file of weights that was written last, or whose link on the way to it was made last, with that time (Unix, seconds)."""
    stamps = [stamp for path in paths if path and Path(path).is_absolute() for stamp in _stamps(Path(path))]
    return max(stamps, key=lambda stamp: stamp[1], default=None)


def _stamps(path: Path) -> Iterator[tuple[str, float]]:
    try:
        files = [path] if path.is_file() else [Path(entry) for entry in itertools.islice(os.scandir(path), _MOST_ENTRIES)]
        weights = [file for file in files if file == path or file.suffix in _WEIGHTS]
        for file in weights:
            yield str(file), file.stat().st_mtime
            if file.is_symlink():
                yield str(file), file.lstat().st_mtime
        for part in (path, *path.parents) if weights else ():
            if part.is_symlink():
                yield str(part), part.lstat().st_mtime
    except OSError:  # not there, or not ours to read
        return
