"""JSON Schemas that suites bring along are sound themselves: valid in their draft, their references inside them."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from pytest_mtp.suites.document import Document, Place
from pytest_mtp.suites.schema import PLAIN, acceptor
from pytest_mtp.suites.words import quoted

_DATA = frozenset({"const", "default", "enum", "example", "examples"})  # hold values, not schemas


def check_schema(document: Document, schema: Any, place: Place) -> None:
    """Raise SuiteError at the keyword that its draft refuses; without `$schema` the draft is 2020-12."""
    if acceptor(PLAIN)(schema):
        return
    problem = _problem(json.dumps(schema))
    if problem is not None:
        text, inside = problem
        raise document.error(f"not a sound JSON Schema: {text}", (*place, *inside))


@functools.lru_cache(maxsize=4096)
def _problem(schema_text: str) -> tuple[str, Place] | None:
    import jsonschema  # noqa: PLC0415  # 0.2 s that only suites with unusual schemas need spend

    from pytest_mtp.suites.explain import explain  # noqa: PLC0415  # likewise

    schema = json.loads(schema_text)
    draft = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    try:
        complaints = list(draft(draft.META_SCHEMA, format_checker=draft.FORMAT_CHECKER).iter_errors(schema))
    except RecursionError:
        return "it is nested too deeply", ()
    if complaints:
        problem = explain(complaints, lambda found: len(found.place))
        return problem.text, problem.place
    for target, place in _references(schema, ()):
        text = _dangling(schema, target)
        if text:
            return text, place
    return None


def _references(node: Any, place: Place) -> Iterator[tuple[str, Place]]:
    if isinstance(node, Mapping):
        for key, item in node.items():
            if key == "$ref" and isinstance(item, str):
                yield item, (*place, key)
            elif key not in _DATA:
                yield from _references(item, (*place, key))
    elif isinstance(node, list):
        for index, item in enumerate(node):
            yield from _references(item, (*place, index))


def _dangling(schema: Any, target: str) -> str:
    """Why a `$ref` leads nowhere, or nothing. Anchors and identifiers are left to the validator."""
    if not target.startswith("#"):
        return "" if "$id" in json.dumps(schema) else f"the reference {quoted(target)} leads out of the schema, and nothing is fetched"
    seen: set[str] = set()
    while target not in seen:
        seen.add(target)
        if target != "#" and not target.startswith("#/"):
            return ""
        node = schema
        for step in target.split("/")[1:]:
            key = unquote(step).replace("~1", "/").replace("~0", "~")
            if isinstance(node, Mapping) and key in node:
                node = node[key]
            elif isinstance(node, list) and key.isdecimal() and int(key) < len(node):
                node = node[int(key)]
            else:
                return f"the reference {quoted(target)} leads nowhere"
        following = node.get("$ref") if isinstance(node, Mapping) else None
        if not isinstance(following, str) or not following.startswith("#"):
            return ""
        target = following
    return f"the reference {quoted(target)} leads back to itself"
