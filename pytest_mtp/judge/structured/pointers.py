"""JSON pointers with globs: `/items/*/id`, `/**/time`, `/user-?`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pytest_mtp.core.errors import UsageError


def step(key: str | int) -> str:
    """One step of a pointer, escaped as RFC 6901 says."""
    return "/" + str(key).replace("~", "~0").replace("/", "~1")


class Pointers:
    """A set of patterns, asked whether a pointer is one of them. Raises UsageError for what is no pointer."""

    def __init__(self, patterns: Sequence[str] = (), where: str = "json") -> None:
        """A pattern is empty (the whole value) or starts with a slash; `*` stays within a step, `**` spans any number of them."""
        for pattern in patterns:
            if pattern and not pattern.startswith("/"):
                raise UsageError(f"{where}: a JSON pointer starts with '/', got {pattern!r}")
        self._patterns = [re.compile(_regex(pattern)) for pattern in patterns]

    def __contains__(self, pointer: object) -> bool:
        """Whether some pattern fits the whole pointer."""
        return isinstance(pointer, str) and any(pattern.fullmatch(pointer) for pattern in self._patterns)


def _regex(pattern: str) -> str:
    steps = ("(?:/[^/]*)*" if part == "**" else "/" + _step(part) for part in pattern.split("/")[1:])
    return "".join(steps)


def _step(part: str) -> str:
    return "".join({"*": "[^/]*", "?": "[^/]"}.get(char, re.escape(char)) for char in part)
