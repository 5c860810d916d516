"""Parameters of a launch as they come out of a profile or a fixture, each checked with one clear message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NoReturn

from pytest_mtp.core.errors import UsageError, nearest
from pytest_mtp.core.record import Json


class Params:
    """Raise UsageError that names the server, the parameter and what was expected."""

    def __init__(self, server: str, values: Mapping[str, Json], *, known: Sequence[str]) -> None:
        """Refuse every key that is not in `known`."""
        self._server, self._values = server, values
        for key in values:
            if key not in known:
                raise UsageError(f"the {server} server has no parameter {key!r}{nearest(key, known)}; it has {', '.join(known)}")

    def flag(self, key: str, *, default: bool) -> bool:
        """True or false."""
        value = self._values.get(key, default)
        return value if isinstance(value, bool) else self._refuse(key, "true or false")

    def whole(self, key: str, *, default: int, lowest: int = 1, highest: int = 2**31 - 1) -> int:
        """A whole number within bounds; the default need not be within them."""
        value = self._values.get(key)
        if key not in self._values:
            return default
        if not isinstance(value, int) or isinstance(value, bool) or not lowest <= value <= highest:
            self._refuse(key, f"a whole number from {lowest} to {highest}")
        return value

    def number(self, key: str, *, default: float) -> float:
        """Not negative."""
        value = self._values.get(key, default)
        if not isinstance(value, int | float) or isinstance(value, bool) or value < 0:
            self._refuse(key, "a number that is not negative")
        return float(value)

    def name(self, key: str) -> str | None:
        """Text, None where it is not given."""
        value = self._values.get(key)
        if value is not None and (not isinstance(value, str) or not value):
            self._refuse(key, "a name")
        return value if isinstance(value, str) else None

    def names(self, key: str) -> tuple[str, ...]:
        """A list of texts, or a single one; empty where it is not given."""
        value = self._values.get(key, ())
        if isinstance(value, str):
            return (value,)
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
            self._refuse(key, "a list of names")
        return tuple(str(item) for item in value)

    def rates(self, key: str) -> tuple[float, ...]:
        """A list of numbers from 0 to 1, or a single one; empty where it is not given."""
        value = self._values.get(key, ())
        if isinstance(value, int | float) and not isinstance(value, bool):
            value = (value,)
        numbers = (
            [item for item in value if isinstance(item, int | float) and not isinstance(item, bool)]
            if isinstance(value, list | tuple)
            else []
        )
        if not isinstance(value, list | tuple) or len(numbers) != len(value) or not all(0 <= item <= 1 for item in numbers):
            self._refuse(key, "a list of rates from 0 to 1")
        return tuple(float(item) for item in numbers)

    def _refuse(self, key: str, expected: str) -> NoReturn:
        raise UsageError(f"parameter {key!r} of the {self._server} server: expected {expected}, got {self._values[key]!r}")
