"""Gate D, the values: expected arguments against those that came, with the first difference of each parameter.

Omitting an optional parameter means the same as giving its declared default, at every level. Coercions are recorded, never
hidden: the value counts, and the change of type is a note whose rate can be watched.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_mtp.judge.tools.coercion import coercion
from pytest_mtp.judge.tools.equality import same_json, same_scalar
from pytest_mtp.judge.tools.matchers import MATCHERS, matcher_of
from pytest_mtp.judge.tools.place import ABSENT, Coercion, Difference, Place
from pytest_mtp.judge.tools.schemas import MISSING, default_of, required_of


def compare_arguments(
    expected: Mapping[str, Any], arguments: Mapping[str, Any], schema: Any = None, *, extra: bool = False
) -> tuple[list[Difference], list[Coercion]]:
    """One difference a parameter at most, in the order of the expectation, then the parameters that nobody expected.

    Everything is made of dicts, lists and scalars (`expected.plain` makes it so).
    """
    place = Place(schema, schema, (), [], extra=extra)
    return _members(expected, arguments, place), place.coercions


def differ(spec: Any, got: Any, place: Place) -> Difference | None:
    """The first difference of one value, None when it matches."""
    if isinstance(spec, str) and spec == got:
        return None
    word = matcher_of(spec, place)
    if word:
        return MATCHERS[word](spec, got, place, differ)
    if isinstance(spec, dict) and isinstance(got, dict):
        return next(iter(_members(spec, got, place)), None)
    if isinstance(spec, list) and isinstance(got, list):
        return _items(spec, got, place)
    if same_scalar(spec, got, free=isinstance(spec, str) and place.free):
        return None
    rung = coercion(spec, got)
    if rung:
        place.coercions.append(Coercion(pointer=place.pointer, rung=rung))
        return None
    return place.differs(spec, got)


def _members(expected: Mapping[str, Any], value: Mapping[str, Any], place: Place) -> list[Difference]:
    differences = []
    for key, spec in expected.items():
        if key not in value:
            difference = _omitted(spec, key, place)
        elif _plainly_same(spec, value[key]):
            continue
        else:
            difference = _given(spec, value[key], place.inside(key))
        if difference:
            differences.append(difference)
    if not place.extra:
        for key, got in value.items():
            if key not in expected:
                inside = place.inside(key)
                if not _means_omitted(got, inside):
                    differences.append(inside.differs(ABSENT, got))
    return differences


def _plainly_same(spec: Any, got: Any) -> bool:
    """Most arguments are the very text or number that is accepted, and need no look at the schema."""
    if type(got) is not str and type(got) is not int:
        return False
    if type(spec) is dict and len(spec) == 1 and type(got) is str:
        spec = spec.get("absent_or", spec)
        options = spec.get("one_of") if type(spec) is dict and len(spec) == 1 else None
        if type(options) is list:
            return got in options
    return type(spec) is type(got) and bool(spec == got)


def _given(spec: Any, got: Any, place: Place) -> Difference | None:
    if isinstance(spec, dict) and ("absent" in spec or "absent_or" in spec):
        word = matcher_of(spec, place)
        if word in ("absent", "absent_or") and _means_omitted(got, place):
            return None
    return differ(spec, got, place)


def _omitted(spec: Any, key: str, around: Place) -> Difference | None:
    place = around.inside(key)
    required = key in required_of(around.schema, around.root)
    word = matcher_of(spec, place)
    if word in ("absent", "absent_or") or ((word == "any" or spec is None) and not required):
        return None
    default = default_of(place.schema, place.root)
    if default is not MISSING and differ(spec, default, place.trial()) is None:
        return None
    return place.differs(spec, ABSENT)


def _means_omitted(got: Any, place: Place) -> bool:
    """The declared default, or a null, which is how many models leave an optional parameter out."""
    if got is None:
        return True
    default = default_of(place.schema, place.root)
    return default is not MISSING and same_json(default, got, free=place.free)


def _items(spec: Any, got: list[Any], place: Place) -> Difference | None:
    for index, (one, other) in enumerate(zip(spec, got, strict=False)):
        difference = differ(one, other, place.inside(index))
        if difference:
            return difference
    if len(spec) == len(got):
        return None
    index = min(len(spec), len(got))
    inside = place.inside(index)
    return inside.differs(ABSENT, got[index]) if len(got) > len(spec) else inside.differs(spec[index], ABSENT)
