"""The schema of a tool's parameters: arguments held against it, and what it says about one property.

Any draft that `$schema` names, 2020-12 where it names none. Nothing is fetched: a reference that leaves the document makes
the schema unusable, which is the fault of whoever wrote it and never of the server.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from pytest_mtp.core.record import Json

MISSING: Any = object()
"""No default is declared; None is a default."""

_NO_PARAMETERS: Mapping[str, Json] = {"type": "object"}
_COMBINING = frozenset({"$ref", "allOf", "anyOf", "oneOf"})
_EXACT = frozenset({"enum", "const", "pattern", "format"})
_SHOWN = 8
_DEEPEST_REFERENCE = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """`pointer` is a JSON pointer into the arguments, `problem` is what jsonschema says, shortened.

    `of_schema`: the schema itself broke while it was applied; nothing is said about the arguments.
    """

    pointer: str
    problem: str
    of_schema: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Checker:
    """A compiled schema. `problem` says why it cannot be used; then nothing violates it."""

    schema: Json
    validator: Any
    problem: str = ""
    empty_fits: bool = True

    def violations(self, value: Any) -> tuple[Violation, ...]:
        """At most eight, the shallowest first."""
        if self.validator is None or self.validator is True:
            return ()
        try:
            errors = list(islice(self.validator.iter_errors(value), _SHOWN))
        except Exception as error:  # noqa: BLE001  # unresolvable references, patterns of another dialect, endless recursion
            return (Violation(pointer="", problem=_shortened(f"{type(error).__name__}: {error}"), of_schema=True),)
        found = {Violation(pointer=pointer_of(e.absolute_path), problem=_shortened(e.message)) for e in errors}
        return tuple(sorted(found, key=lambda v: (v.pointer.count("/"), v.pointer, v.problem)))


_REMEMBERED = 1024
_checkers: dict[int, tuple[Any, Checker]] = {}
_by_text: dict[str, Checker] = {}


def checker_for(schema: Json) -> Checker:
    """Compiled once for each schema object and once for each text of a schema."""
    known = _checkers.get(id(schema))
    if known is not None and known[0] is schema:
        return known[1]
    try:
        text = json.dumps(schema, sort_keys=True)
    except (TypeError, ValueError, RecursionError) as error:
        return Checker(schema=schema, validator=None, problem=_shortened(str(error)))
    if len(_checkers) >= _REMEMBERED:
        _checkers.clear()
        _by_text.clear()
    checker = _by_text.get(text) or _compiled(json.loads(text))
    _by_text[text] = checker
    _checkers[id(schema)] = (schema, checker)  # holding the schema keeps its id from being used again
    return checker


def _compiled(schema: Any) -> Checker:
    if schema is None or schema is True or schema == {}:
        return Checker(schema=schema if schema is not None else _NO_PARAMETERS, validator=True)
    if not isinstance(schema, dict):
        return Checker(schema=schema, validator=None, problem=f"a JSON Schema is an object, not {json.dumps(schema)[:40]}")
    import jsonschema  # noqa: PLC0415  # heavy, and needed only where calls are judged
    from referencing import Registry  # noqa: PLC0415  # comes with jsonschema

    draft = schema.get("$schema")
    kind = jsonschema.validators.validator_for(schema if isinstance(draft, str) else {}, default=jsonschema.Draft202012Validator)
    try:
        kind.check_schema(schema)
        validator = kind(schema, registry=Registry())  # an empty registry reaches no network
        empty_fits = validator.is_valid({})
    except jsonschema.SchemaError as error:
        where = pointer_of(error.absolute_path)
        return Checker(schema=schema, validator=None, problem=f"{_shortened(error.message)}{f' at {where}' if where else ''}")
    except Exception as error:  # noqa: BLE001  # a schema can break its validator in many ways; all are the suite's fault
        return Checker(schema=schema, validator=None, problem=_shortened(f"{type(error).__name__}: {error}"))
    return Checker(schema=schema, validator=validator, empty_fits=empty_fits)


def pointer_of(path: Any) -> str:
    """RFC 6901: each step behind a slash, `~` and `/` escaped; the whole document is the empty text."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def property_of(schema: Any, key: str, root: Any) -> Any:
    """The schema of one property, through references and combinations; None where none is declared."""
    for branch in branches(schema, root):
        properties = branch.get("properties")
        if isinstance(properties, dict) and key in properties:
            return properties[key]
    return None


def item_of(schema: Any, index: int, root: Any) -> Any:
    """The schema of one array item; None where none is declared."""
    for branch in branches(schema, root):
        leading = branch.get("prefixItems") or (branch.get("items") if isinstance(branch.get("items"), list) else ())
        if isinstance(leading, list) and index < len(leading):
            return leading[index]
        if isinstance(branch.get("items"), dict):
            return branch["items"]
    return None


def default_of(schema: Any, root: Any) -> Any:
    """The declared default, or MISSING."""
    for branch in branches(schema, root):
        if "default" in branch:
            return branch["default"]
    return MISSING


def required_of(schema: Any, root: Any) -> frozenset[str]:
    """Names required at this level, where every branch asks for them."""
    names: set[str] = set()
    for branch in branches(schema, root, alternatives=False):
        required = branch.get("required")
        if isinstance(required, list):
            names.update(name for name in required if isinstance(name, str))
    return frozenset(names)


def is_free_text(schema: Any, root: Any) -> bool:
    """Nothing in the schema says that the exact characters matter."""
    return all(_EXACT.isdisjoint(branch) for branch in branches(schema, root))


def admits(schema: Any, kind: str, root: Any) -> bool:
    """Whether a value of this JSON type may stand here; True where no type is declared."""
    declared = [branch["type"] for branch in branches(schema, root) if "type" in branch]
    types = {name for item in declared for name in (item if isinstance(item, list) else [item])}
    return not types or kind in types or (kind == "integer" and "number" in types)


def branches(schema: Any, root: Any, *, alternatives: bool = True) -> Sequence[dict[str, Any]]:
    """The schema and every subschema that describes the same value. References are followed inside the document alone."""
    if not isinstance(schema, dict):
        return ()
    if _COMBINING.isdisjoint(schema):
        return (schema,)
    found = []
    waiting: list[tuple[Any, int]] = [(schema, 0)]
    keywords = ("allOf", "anyOf", "oneOf") if alternatives else ("allOf",)
    while waiting:
        current, level = waiting.pop(0)
        if not isinstance(current, dict) or level > _DEEPEST_REFERENCE:
            continue
        found.append(current)
        if isinstance(current.get("$ref"), str):
            waiting.append((_resolved(current["$ref"], root), level + 1))
        for keyword in keywords:
            listed = current.get(keyword)
            if isinstance(listed, list):
                waiting.extend((item, level + 1) for item in listed)
    return found


def _resolved(reference: str, root: Any) -> Any:
    if not reference.startswith("#"):
        return None
    place = root
    for step in reference[1:].split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")  # noqa: PLW2901  # the unescaped step
        if isinstance(place, dict):
            place = place.get(step)
        elif isinstance(place, list) and step.isdecimal() and int(step) < len(place):
            place = place[int(step)]
        else:
            return None
    return place


def _shortened(message: str) -> str:
    line = " ".join(message.split())
    return line if len(line) <= 160 else f"{line[:100]} … {line[-55:]}"
