"""The schema of a tool's parameters: arguments held against it, and what it says about one property.

Any draft that `$schema` names, 2020-12 where it names none. Nothing is fetched: a reference that leaves the document makes
the schema unusable, which is the fault of whoever wrote it and never of the server.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from pytest_mtp.core.record import Json
from pytest_mtp.judge.tools.quick import surely_fits, surely_schema

MISSING: Any = object()
"""No default is declared; None is a default."""

_NO_PARAMETERS: Mapping[str, Json] = {"type": "object"}
_COMBINING = frozenset({"$ref", "allOf", "anyOf", "oneOf"})
_EXACT = frozenset({"enum", "const", "pattern", "format"})
_WITHOUT_FORCE = frozenset({"$schema", "$id", "title", "description", "$comment"})
_NEWER = re.compile(r'"(?:prefixItems|\$defs|\$dynamic\w+|\$anchor|dependent\w+|unevaluated\w+|minContains|maxContains)":')
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


class Checker:
    """A schema ready to be applied.

    Holding a schema against its own metaschema costs a hundred times what applying it costs, so it is done when there is
    something to blame on somebody: before the first violation is told.
    """

    __slots__ = ("_empty_fits", "_kind", "_problem", "_validator", "schema")

    def __init__(self, schema: Any) -> None:
        """`schema` as it stands in the request."""
        self.schema: Any = _NO_PARAMETERS if schema is None else schema
        self._kind: Any = None
        self._validator: Any = None
        self._problem: str | None = None
        self._empty_fits: bool | None = None
        if self.schema is True or (isinstance(self.schema, dict) and not (self.schema.keys() - _WITHOUT_FORCE)):
            self._problem, self._empty_fits = "", True  # anything fits
        elif not isinstance(self.schema, dict):
            self._problem, self._empty_fits = f"a JSON Schema is an object, not {json.dumps(self.schema)[:40]}", True
        else:
            self._kind = _draft_of(self.schema)

    @property
    def problem(self) -> str:
        """Why the schema cannot be used; empty for a good one."""
        if self._problem is None and surely_schema(self.schema):
            self._problem = ""
        if self._problem is None:
            try:
                _metaschema_of(self.schema, self._kind).check_schema(self.schema)
                self._problem = ""
            except Exception as error:  # noqa: BLE001  # SchemaError, and whatever an odd schema makes of its metaschema
                where = pointer_of(getattr(error, "absolute_path", ()))
                message = str(getattr(error, "message", "") or f"{type(error).__name__}: {error}")
                self._problem = f"{_shortened(message)}{f' at {where}' if where else ''}"
        return self._problem

    @property
    def empty_fits(self) -> bool:
        """The tool can be called with {}; also where the schema is no use."""
        if self._empty_fits is None:
            self._empty_fits = all(violation.of_schema for violation in self.violations({}))
        return self._empty_fits

    def violations(self, value: Any) -> tuple[Violation, ...]:
        """At most eight, the shallowest first; one `of_schema` where the schema and not the value is at fault."""
        if surely_fits(self.schema, value):
            return ()
        if self._kind is None:
            return (Violation(pointer="", problem=self._problem, of_schema=True),) if self._problem else ()
        self._validator = self._validator or self._kind(self.schema, registry=_no_registry())
        try:
            errors = list(islice(self._validator.iter_errors(value), _SHOWN))
        except Exception as error:  # noqa: BLE001  # unresolvable references, unknown types, patterns of another dialect, endless recursion
            problem = self.problem or _shortened(f"{type(error).__name__}: {error}")
            return (Violation(pointer="", problem=problem, of_schema=True),)
        if not errors:
            return ()
        if self.problem:
            return (Violation(pointer="", problem=self.problem, of_schema=True),)
        found = {Violation(pointer=pointer_of(e.absolute_path), problem=_shortened(e.message)) for e in errors}
        return tuple(sorted(found, key=lambda v: (v.pointer.count("/"), v.pointer, v.problem)))


_REMEMBERED = 1024
_checkers: dict[int, tuple[Any, Checker]] = {}
_by_text: dict[str, Checker] = {}


def checker_for(schema: Json) -> Checker:
    """Made once for each schema object and once for each text of a schema."""
    known = _checkers.get(id(schema))
    if known is not None and known[0] is schema:
        return known[1]
    try:
        text = json.dumps(schema)
    except (TypeError, ValueError, RecursionError):
        return Checker(False)  # noqa: FBT003  # a schema that is no JSON says nothing about arguments
    if len(_checkers) >= _REMEMBERED:
        _checkers.clear()
        _by_text.clear()
    checker = _by_text.get(text)
    if checker is None:
        checker = _by_text[text] = Checker(json.loads(text))
    _checkers[id(schema)] = (schema, checker)  # holding the schema keeps its id from being used again
    return checker


def _draft_of(schema: Mapping[str, Any]) -> Any:
    import jsonschema  # noqa: PLC0415  # heavy, and needed only where calls are judged

    declared = schema if isinstance(schema.get("$schema"), str) else {}
    return jsonschema.validators.validator_for(declared, default=jsonschema.Draft202012Validator)


def _metaschema_of(schema: Mapping[str, Any], kind: Any) -> Any:
    """Where no draft is declared and no newer keyword stands, draft-07 says the same of a schema in a fifth of the time."""
    import jsonschema  # noqa: PLC0415  # as above

    newer = "$schema" in schema or _NEWER.search(json.dumps(schema))
    return kind if newer else jsonschema.Draft7Validator


@functools.cache
def _no_registry() -> Any:
    """Reaches no network, unlike the one that jsonschema would use."""
    from referencing import Registry  # noqa: PLC0415  # comes with jsonschema

    return Registry()


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
