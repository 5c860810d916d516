"""Words on the command line that name suites."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from pytest_mtp.core.errors import UsageError
from pytest_mtp.plugin.collect import BUILT_IN, SUFFIX
from pytest_mtp.suites.shipped import GROUPS, shipped, shipped_names


def suite_paths(word: str) -> tuple[Path, ...]:
    """The files of `builtin:NAME`, or the path itself. Raises pytest.UsageError for a name that is not shipped."""
    if not word.startswith(BUILT_IN):
        path = Path(word)
        if not path.exists():
            raise pytest.UsageError(f"--mtp-suite: {word}: no such file or folder (built-in suites are written builtin:NAME)")
        return (path,)
    try:
        return shipped(word.removeprefix(BUILT_IN))
    except UsageError as error:
        raise pytest.UsageError(str(error)) from error


@functools.cache
def shipped_name(path: Path) -> str | None:
    """The name under which a suite file is shipped, or None for a user's own."""
    name = path.name.removesuffix(SUFFIX)
    if name in GROUPS or name not in shipped_names():
        return None
    return name if shipped(name)[0] == path else None
