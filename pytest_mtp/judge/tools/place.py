"""Where in the arguments a comparison stands, and what it has to report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pytest_mtp.judge.tools.schemas import is_free_text, item_of, pointer_of, property_of
from pytest_mtp.judge.tools.shown import spec_shown, value_shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """`expected` and `got` are for a person; `pointer` is a JSON pointer into the arguments; `texts` both sides when both are text."""

    pointer: str
    expected: str
    got: str
    texts: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Coercion:
    """A value that is right once its type is changed."""

    pointer: str
    rung: str


class _Absent:
    __slots__ = ()


ABSENT = _Absent()
"""Stands for a value that is not there."""


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
        expected = "absent" if spec is ABSENT else spec_shown(spec)
        texts = (spec, got) if isinstance(spec, str) and isinstance(got, str) else None
        return Difference(pointer=self.pointer, expected=expected, got="absent" if got is ABSENT else value_shown(got), texts=texts)
