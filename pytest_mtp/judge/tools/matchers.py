"""The matchers of an argument as they stand in a suite."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeAlias

from pytest_mtp.core.errors import UsageError
from pytest_mtp.judge.tools.assignment import most_pairs
from pytest_mtp.judge.tools.coercion import number_of
from pytest_mtp.judge.tools.equality import close, same_scalar
from pytest_mtp.judge.tools.place import Coercion, Difference, Place
from pytest_mtp.judge.tools.schemas import property_of
from pytest_mtp.judge.words.normal import fold

Differ: TypeAlias = Callable[[Any, Any, Place], Difference | None]
Matcher: TypeAlias = Callable[[Mapping[str, Any], Any, Place, Differ], Difference | None]

_LONGEST_SEARCHED = 100_000
_DAY = re.compile(r"\d{4}-?\d\d-?\d\d|\d{4}-?W\d\d-?\d")
_YEAR_FIRST = re.compile(r"(\d{4})([./-])(\d{1,2})\2(\d{1,2})(?!\d)")


def matcher_of(spec: Any, place: Place) -> str:
    """The matcher that a mapping is, or empty for a literal.

    A mapping is a matcher when it has a matcher's key and nothing that does not belong to it. Where the schema declares a
    property of that name, it is the object itself: {date: ...} for a parameter whose objects have a `date`.
    """
    if not isinstance(spec, dict):
        return ""
    if len(spec) == 1:
        (word,) = spec
        if word not in MATCHERS:
            return ""
    elif "number" in spec and spec.keys() <= {"number", "rel", "abs"}:
        word = "number"
    else:
        return ""
    return "" if place.schema is not None and property_of(place.schema, word, place.root) is not None else word


def moment(text: str) -> tuple[datetime, bool] | None:
    """A date or time in ISO 8601 (also with slashes or dots between year, month and day), and whether it is a day alone."""
    text = text.strip()
    numbers = _YEAR_FIRST.match(text)
    if numbers:
        text = f"{numbers[1]}-{int(numbers[3]):02}-{int(numbers[4]):02}{text[numbers.end() :]}"
    try:
        return datetime.fromisoformat(text), _DAY.fullmatch(text) is not None
    except ValueError:
        return None


def _one_of(spec: Mapping[str, Any], got: Any, place: Place, differ: Differ) -> Difference | None:
    options = _listed(spec, "one_of", place)
    if isinstance(got, str) and got in options:
        return None
    coerced: list[Coercion] = []
    for option in options:
        trial = place.trial()
        if differ(option, got, trial) is None:
            if not trial.coercions:
                return None
            coerced = coerced or trial.coercions
    place.coercions.extend(coerced)
    if coerced:
        return None
    return differ(options[0], got, place) if len(options) == 1 else place.differs(spec, got)


def _number(spec: Mapping[str, Any], got: Any, place: Place, _: Differ) -> Difference | None:
    wanted, rel, abs_ = spec["number"], spec.get("rel", 0), spec.get("abs", 0)
    if any(isinstance(number, bool) or not isinstance(number, (int, float)) for number in (wanted, rel, abs_)):
        raise _unreadable(place, f"number, rel and abs are numbers, not {dict(spec)!r}")
    value = number_of(got) if isinstance(got, str) else got
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return place.differs(spec, got)
    fits = close(wanted, value, rel, abs_) if len(spec) > 1 else same_scalar(wanted, value, free=False)
    if fits and isinstance(got, str):
        place.coercions.append(Coercion(pointer=place.pointer, rung="text for a number"))
    return None if fits else place.differs(spec, got)


def _regex(spec: Mapping[str, Any], got: Any, place: Place, _: Differ) -> Difference | None:
    pattern = spec["regex"]
    if not isinstance(pattern, str):
        raise _unreadable(place, f"regex is a text, not {pattern!r}")
    return None if _compiled(pattern).search(_as_text(got)[:_LONGEST_SEARCHED]) else place.differs(spec, got)


@functools.lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise UsageError(f"the regex {pattern!r} of an expected argument does not compile: {error}") from None


def _contains(spec: Mapping[str, Any], got: Any, place: Place, differ: Differ) -> Difference | None:
    """Every part: in the text, or as an item of the list."""
    wanted = spec["contains"]
    parts = wanted if isinstance(wanted, list) else [wanted]
    if isinstance(got, list):
        held = all(any(differ(part, item, place.inside(0).trial()) is None for item in got) for part in parts)
    else:
        text = fold(_as_text(got))
        held = all(fold(_as_text(part)) in text for part in parts)
    return None if held else place.differs(spec, got)


def _date(spec: Mapping[str, Any], got: Any, place: Place, _: Differ) -> Difference | None:
    """The same day where one side is a day, else the same instant; a missing zone is the zone of the other side."""
    wanted = moment(str(spec["date"]))
    if wanted is None:
        raise _unreadable(place, f"date is an ISO date or time, not {spec['date']!r}")
    given = moment(got) if isinstance(got, str) else None
    if given is None:
        return place.differs(spec, got)
    if wanted[1] or given[1]:
        same = wanted[0].date() == given[0].date()
    elif (wanted[0].tzinfo is None) != (given[0].tzinfo is None):
        same = wanted[0].replace(tzinfo=None) == given[0].replace(tzinfo=None)
    else:
        same = wanted[0] == given[0]
    return None if same else place.differs(spec, got)


def _unordered(spec: Mapping[str, Any], got: Any, place: Place, differ: Differ) -> Difference | None:
    wanted = _listed(spec, "unordered", place)
    if isinstance(got, list) and len(got) == len(wanted) == len(_pairs(wanted, got, place, differ)):
        return None
    return place.differs(spec, got)


def _subset(spec: Mapping[str, Any], got: Any, place: Place, differ: Differ) -> Difference | None:
    """At least these members or items; more are allowed."""
    if isinstance(spec["subset"], dict):
        inside = place.trial(extra=True)
        difference = differ(spec["subset"], got, inside)
        place.coercions.extend(inside.coercions if difference is None else ())
        return difference
    wanted = _listed(spec, "subset", place)
    if isinstance(got, list) and len(_pairs(wanted, got, place, differ)) == len(wanted):
        return None
    return place.differs(spec, got)


def _pairs(wanted: list[Any], got: list[Any], place: Place, differ: Differ) -> list[tuple[int, int]]:
    return most_pairs(len(wanted), len(got), lambda i, j: differ(wanted[i], got[j], place.inside(0).trial()) is None)


def _any(spec: Mapping[str, Any], got: Any, place: Place, _: Differ) -> Difference | None:
    if spec["any"] is not True:
        raise _unreadable(place, f"write {{any: true}}, not {{any: {spec['any']!r}}}")
    del got
    return None


def _absent(spec: Mapping[str, Any], got: Any, place: Place, _: Differ) -> Difference | None:
    return place.differs(spec, got)


def _absent_or(spec: Mapping[str, Any], got: Any, place: Place, differ: Differ) -> Difference | None:
    return differ(spec["absent_or"], got, place)


def _listed(spec: Mapping[str, Any], word: str, place: Place) -> list[Any]:
    items = spec[word]
    if not isinstance(items, list) or (word == "one_of" and not items):
        raise _unreadable(place, f"{word} is a list{' of at least one' if word == 'one_of' else ''}, not {items!r}")
    return items


def _unreadable(place: Place, problem: str) -> UsageError:
    return UsageError(f"expected argument {place.pointer or '(the whole)'}: {problem}")


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


MATCHERS: Mapping[str, Matcher] = {
    "one_of": _one_of,
    "number": _number,
    "regex": _regex,
    "contains": _contains,
    "date": _date,
    "unordered": _unordered,
    "subset": _subset,
    "any": _any,
    "absent": _absent,
    "absent_or": _absent_or,
}
