"""Where in the arguments a comparison stands, and what it has to report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pytest_mtp.judge.tools.schemas import is_free_text, item_of, pointer_of, property_of
from pytest_mtp.judge.tools.shown import spec_shown, value_shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Coercion:
    """A value that is right once its type is changed."""

    pointer: str
    rung: str


class _Absent:
    __slots__ = ()


ABSENT = _Absent()
"""Stands for a value that is not there."""


class Difference:
    """One value that is not the expected one; put into words when somebody reads it, since most are only counted."""

    __slots__ = ("path", "spec", "value")

    def __init__(self, path: tuple[str | int, ...], spec: Any, value: Any) -> None:
        """Either side may be ABSENT."""
        self.path, self.spec, self.value = path, spec, value

    @property
    def pointer(self) -> str:
        """A JSON pointer into the arguments."""
        return pointer_of(self.path)

    @property
    def expected(self) -> str:
        """For a person."""
        return "absent" if self.spec is ABSENT else spec_shown(self.spec)

    @property
    def got(self) -> str:
        """For a person."""
        return "absent" if self.value is ABSENT else value_shown(self.value)

    @property
    def texts(self) -> tuple[str, str] | None:
        """Both sides where both are text."""
        return (self.spec, self.value) if isinstance(self.spec, str) and isinstance(self.value, str) else None


class Place:
    """`schema` is that of this value, None where none is declared; `extra` lets members stand that nobody expected."""

    __slots__ = ("coercions", "extra", "path", "root", "schema")

    def __init__(self, schema: Any, root: Any, path: tuple[str | int, ...], coercions: list[Coercion], *, extra: bool) -> None:
        """`coercions` is added to; places inside share it."""
        self.schema, self.root, self.path, self.coercions, self.extra = schema, root, path, coercions, extra

    @property
    def pointer(self) -> str:
        """As in RFC 6901."""
        return pointer_of(self.path)

    @property
    def free(self) -> bool:
        """Text here is compared by meaning."""
        return self.schema is None or is_free_text(self.schema, self.root)

    def inside(self, step: str | int) -> Place:
        """The place of a member or an item."""
        if self.schema is None:
            schema = None
        elif isinstance(step, int):
            schema = item_of(self.schema, step, self.root)
        else:
            schema = property_of(self.schema, step, self.root)
        return Place(schema, self.root, (*self.path, step), self.coercions, extra=self.extra)

    def trial(self, *, extra: bool | None = None) -> Place:
        """The same place with coercions of its own, for a comparison that may be dropped."""
        return Place(self.schema, self.root, self.path, [], extra=self.extra if extra is None else extra)

    def differs(self, spec: Any, got: Any) -> Difference:
        """The difference at this place; either side may be ABSENT."""
        return Difference(self.path, spec, got)
