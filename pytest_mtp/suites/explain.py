"""Which of a schema's complaints about a value to tell, and where it stands."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from pytest_mtp.suites.document import Place
from pytest_mtp.suites.words import both, closest, either, expected, listed, quoted, wanted

Complaint: TypeAlias = Any  # jsonschema's ValidationError, whose attributes are typed as possibly unset


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """`place` is inside the document; with `key` the key there is at fault and not its value. Lower ranks are told first."""

    text: str
    place: Place
    key: bool = False
    rank: int = 1


def explain(complaints: Iterable[Complaint], line: Callable[[Problem], int], at: Place = ()) -> Problem:
    """The one problem to tell: an unknown key (it often explains a missing one), else the topmost in the file.

    `at` is the place of the value that was validated.
    """
    found = [problem for complaint in complaints for problem in _problems(complaint, at)]
    other = Problem(text="the schema does not accept this", place=at)
    return min(found, key=lambda problem: (problem.rank, line(problem), -len(problem.place)), default=other)


def _problems(complaint: Complaint, at: Place) -> list[Problem]:
    place = (*at, *complaint.relative_path)
    if "propertyNames" in complaint.relative_schema_path:
        return [_of_key(complaint, (*place, complaint.instance))]
    if complaint.validator == "additionalProperties":
        known = list(complaint.schema.get("properties", ()))
        own = [re.compile(pattern) for pattern in complaint.schema.get("patternProperties", ())]
        strangers = [key for key in complaint.instance if key not in known and not any(pattern.search(key) for pattern in own)]
        return [_unknown_key(key, known, (*place, key)) for key in strangers]
    if complaint.validator in ("anyOf", "oneOf"):
        return _of_branches(complaint, place)
    text = expected(complaint.validator, complaint.validator_value, complaint.instance, complaint.schema)
    return [Problem(text=text, place=place)]


def _of_key(complaint: Complaint, place: Place) -> Problem:
    key, words = complaint.instance, complaint.schema.get("$comment", "")
    if complaint.validator == "enum":
        text = f"{words}: not {quoted(key)}{closest(key, complaint.validator_value)}"
    else:
        text = f"the key {quoted(key)} is not {words}"
    return Problem(text=text, place=place, key=True, rank=0)


def _unknown_key(key: str, known: list[str], place: Place) -> Problem:
    hint = closest(key, known) or f"; known are: {listed(known)}"
    return Problem(text=f"unknown key {quoted(key)}{hint}", place=place, key=True, rank=0)


def _of_branches(complaint: Complaint, place: Place) -> list[Problem]:
    """Into the branch that the author meant, where one can be told from the others by its type."""
    keys = [branch["required"][0] for branch in complaint.validator_value if set(branch) == {"required"}]
    if len(keys) == len(complaint.validator_value):
        if not isinstance(complaint.instance, dict):
            return []  # its type is complained of elsewhere
        present = [key for key in complaint.instance if key in keys]
        if present:
            return [Problem(text=f"{both(present)} exclude each other: keep one", place=(*place, present[-1]), key=True)]
        return [Problem(text=f"the key {either([quoted(key) for key in keys])} is missing", place=place)]
    branches: dict[Any, list[Complaint]] = {}
    for inner in complaint.context:
        branches.setdefault(inner.relative_schema_path[0], []).append(inner)
    meant = [inners for inners in branches.values() if not any(_other_type(inner) for inner in inners)]
    if not meant:
        return [Problem(text=wanted(complaint.schema.get("$comment", "something else"), complaint.instance), place=place)]
    deepest = min(meant, key=lambda inners: (-max(len(inner.relative_path) for inner in inners), len(inners)))
    return [problem for inner in deepest for problem in _problems(inner, place)]


def _other_type(complaint: Complaint) -> bool:
    if complaint.relative_path:
        return False
    if complaint.validator == "enum":
        return not any(type(value) is type(complaint.instance) for value in complaint.validator_value)
    return bool(complaint.validator == "type")
