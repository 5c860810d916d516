"""Do two names mean one model? A path here, a path as a server in a container sees it, an id of the Hub."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

_CACHED = re.compile(r"models--(?:.+--)?(?P<name>.+)")


def same_model(told: str, ours: str, *, revision: str | None = None) -> bool:
    """By what a path ends in, since a container sees other folders than we do; True where `told` names nothing.

    `told` is what a server says that it loaded, `ours` what was inspected, `revision` the commit of a Hub snapshot.
    """
    theirs = {name.casefold() for name in _names(told)}
    mine = {name.casefold() for name in (*_names(ours), *(part for part in (revision,) if part))}
    if not theirs or theirs & mine:
        return True
    with contextlib.suppress(OSError, ValueError):
        here, there = Path(ours).expanduser(), Path(told).expanduser()
        return here.samefile(there) or _holds(here, there) or _holds(there, here)
    return False


def _holds(folder: Path, file: Path) -> bool:
    return folder.is_dir() and file.is_file() and folder.samefile(file.parent)


def _names(path: str) -> Iterator[str]:
    """The last part of it, and the model's name where a part is a folder of the Hub's cache."""
    parts = PurePosixPath(_plain(path)).parts
    if re.match(r"(?i)https?://", path):
        yield from (part for part in parts if part not in ("/", "resolve", "raw", "main"))
        return
    if parts and parts[-1] not in ("/", ".", ".."):
        yield parts[-1]
    for part in parts:
        if match := _CACHED.fullmatch(part):
            yield match["name"]


def _plain(path: str) -> str:
    return unquote(urlsplit(path).path) if re.match(r"(?i)https?://", path) else path.replace("\\", "/")
