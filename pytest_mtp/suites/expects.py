"""`expect` mappings to Expects, and what a schema cannot say about them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pytest_mtp.core.case import Expect
from pytest_mtp.suites.document import Document, Place
from pytest_mtp.suites.matchers import check_calls
from pytest_mtp.suites.meta import check_schema
from pytest_mtp.suites.tools import Tool, name_of, not_offered
from pytest_mtp.suites.values import check_moment, check_python, check_regex
from pytest_mtp.suites.words import listed, quoted

MODIFIERS = {"calls": ("ordered", "extra", "extra_args", "at_least")}
_BESIDE = frozenset(name for names in MODIFIERS.values() for name in names)

Check = Callable[[Document, Any, Place, Sequence[Tool]], None]


def expects_of(document: Document, written: Mapping[str, Any], place: Place, tools: Sequence[Tool]) -> tuple[Expect, ...]:
    """The entries in the order of the file; raises SuiteError. The mapping has passed the schema."""
    _check(document, written, place, tools)
    return tuple(
        Expect(kind=kind, spec=spec, options={name: written[name] for name in MODIFIERS.get(kind, ()) if name in written})
        for kind, spec in written.items()
        if kind not in _BESIDE
    )


def _check(document: Document, written: Mapping[str, Any], place: Place, tools: Sequence[Tool]) -> None:
    for kind, spec in written.items():
        check = _CHECKS.get(kind)
        if check is not None:
            check(document, spec, (*place, kind), tools)


def _choice(document: Document, spec: Any, place: Place, _tools: Sequence[Tool]) -> None:
    if not isinstance(spec, Mapping) or "options" not in spec:
        return
    options, value = spec["options"], spec["value"].strip()
    labels = list(options) if isinstance(options, Mapping) else [chr(ord("A") + index) for index in range(len(options))]
    texts = list(options.values()) if isinstance(options, Mapping) else options
    if value not in labels and value not in texts:
        shown = listed(f"{label} ({text})" if label != text else label for label, text in zip(labels, texts, strict=True))
        raise document.error(f"{quoted(value)} is none of the options {shown}", (*place, "value"))


def _regex(document: Document, spec: Any, place: Place, _tools: Sequence[Tool]) -> None:
    if isinstance(spec, str):
        check_regex(document, spec, place)
        return
    for index, pattern in enumerate(spec):
        check_regex(document, pattern, (*place, index))


def _items(document: Document, spec: Any, place: Place, tools: Sequence[Tool]) -> None:
    for index, item in enumerate(spec):
        if isinstance(item, Mapping):
            _check(document, item, (*place, index), tools)


def _date(document: Document, spec: Any, place: Place, _tools: Sequence[Tool]) -> None:
    value, inside = (spec["value"], (*place, "value")) if isinstance(spec, Mapping) else (spec, place)
    check_moment(document, value, inside)


def _json(document: Document, spec: Any, place: Place, _tools: Sequence[Tool]) -> None:
    if isinstance(spec, Mapping) and "schema" in spec:
        check_schema(document, spec["schema"], (*place, "schema"))


def _json_schema(document: Document, spec: Any, place: Place, _tools: Sequence[Tool]) -> None:
    check_schema(document, spec, place)


def _code(document: Document, spec: Any, place: Place, _tools: Sequence[Tool]) -> None:
    for index, statement in enumerate(spec.get("asserts", ())):
        check_python(document, statement, (*place, "asserts", index))


def _any_call(document: Document, spec: Any, place: Place, tools: Sequence[Tool]) -> None:
    known = [name_of(tool) for tool in tools]
    names = [((*place, "name"), spec["name"])] if isinstance(spec, Mapping) else [((*place, i), name) for i, name in enumerate(spec)]
    for at, name in names:
        if name not in known:
            raise document.error(not_offered(name, known), at)


def _length(document: Document, spec: Any, place: Place, _tools: Sequence[Tool]) -> None:
    for key, least in spec.items():
        most = spec.get(re.sub("^min_", "max_", key), least)
        if least > most and key.startswith("min_"):
            raise document.error(f"{key} is {least}, more than {re.sub('^min_', 'max_', key)}, which is {most}", (*place, key))


_CHECKS: Mapping[str, Check] = {
    "choice": _choice,
    "regex": _regex,
    "list": _items,
    "set": _items,
    "date": _date,
    "json": _json,
    "json_schema": _json_schema,
    "code": _code,
    "calls": check_calls,
    "any_call": _any_call,
    "length": _length,
    "all_of": _items,
    "any_of": _items,
    "none_of": _items,
}
