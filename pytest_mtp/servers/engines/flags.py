"""The options on the command line of a server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def flags(command: Sequence[str]) -> Mapping[str, str]:
    """Values by long name, with underscores for hyphens; empty for an option without a value. The last one counts.

    A word after an option is its value unless it begins with two hyphens itself: what follows a switch without a value is
    taken for its value, which does no harm to those who ask for options by name.
    """
    found: dict[str, str] = {}
    for at, word in enumerate(command):
        if not word.startswith("--") or word == "--":
            continue
        name, glued, value = word[2:].partition("=")
        if not glued:
            after = command[at + 1] if at + 1 < len(command) else ""
            value = "" if after.startswith("--") else after
        found[name.replace("-", "_")] = value
    return found


def flag(found: Mapping[str, str], *names: str) -> str | None:
    """The value of the first of these options that is there and has one."""
    return next((found[name] for name in names if found.get(name)), None)


def number(found: Mapping[str, str], *names: str) -> int | None:
    """The same as a non-negative whole number."""
    value = flag(found, *names)
    return int(value) if value is not None and value.isascii() and value.isdecimal() and len(value) < 12 else None
