"""A parsed file: plain values, and the line of each of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_mtp.core.case import Source
from pytest_mtp.core.errors import SuiteError

Place = tuple[str | int, ...]

_LONG = 16
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")


@dataclass(slots=True)
class Mark:
    """Where a value stands: one-based line of its first character and, in a mapping, of its key.

    `children` has the value's own keys or indices. A plain int instead of a Mark is a scalar on its key's line.
    """

    line: int
    key_line: int = 0
    children: dict[str | int, Mark | int] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Document:
    """`value` is made of builtins alone; `shown` is the file's path as messages print it."""

    value: Any
    mark: Mark | int
    shown: str

    def line(self, place: Place = (), *, key: bool = False) -> int:
        """The line of the value at `place` (of its key with `key`), or of the nearest container that exists."""
        here = self.mark
        for step in place:
            if not isinstance(here, Mark) or step not in here.children:
                return here if isinstance(here, int) else here.line
            here = here.children[step]
        if isinstance(here, int):
            return here
        return here.key_line if key and here.key_line else here.line

    def source(self, place: Place) -> Source:
        """Of the value at `place`."""
        return Source(path=self.shown, line=self.line(place))

    def error(self, problem: str, place: Place = (), *, key: bool = False) -> SuiteError:
        """To raise: the problem of the value (or the key) at `place`."""
        return SuiteError(problem, path=self.shown, line=self.line(place, key=key), at=printed(place))


def printed(place: Sequence[str | int]) -> str:
    """`cases[3].expect.number`; keys that are no plain words stand in brackets and quotes, long places lose their middle."""
    if len(place) > _LONG:
        return f"{printed(place[: _LONG // 2])}…{printed(place[-_LONG // 4 :])}"
    words = ""
    for step in place:
        if isinstance(step, int):
            words += f"[{step}]"
        elif _PLAIN_KEY.match(step):
            words += f".{step}" if words else step
        else:
            shortened = step if len(step) <= 40 else step[:39] + "…"
            words += f"[{shortened!r}]"
    return words
