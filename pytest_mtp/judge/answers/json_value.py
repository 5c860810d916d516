"""`json` and `json_schema`: one JSON value, equal to the accepted one and valid under a schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pytest_mtp.core.case import Expect
from pytest_mtp.core.errors import UsageError, nearest
from pytest_mtp.core.record import Json
from pytest_mtp.core.verdict import Finding
from pytest_mtp.judge.judgement import Extraction, GradeContext, Judgement, View, conclude
from pytest_mtp.judge.structured.comparing import Difference, Equality, first_difference
from pytest_mtp.judge.structured.extract import FoundJson, find_json
from pytest_mtp.judge.structured.forced import forced_type
from pytest_mtp.judge.structured.pointers import Pointers
from pytest_mtp.judge.structured.reading import canonical_json, exact
from pytest_mtp.judge.structured.schema import violations
from pytest_mtp.judge.words.difference import aligned
from pytest_mtp.judge.words.normal import excerpt

_KEYS = ("value", "schema", "ignore", "unordered", "rel", "abs", "additional")


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedJson:
    """`has_value` False: only a schema was given."""

    value: Any = None
    has_value: bool = True
    schema: Json = None
    equality: Equality


def read_spec(spec: Json) -> AcceptedJson:
    """A mapping with the key `value` or `schema` is the long form; anything else is the value itself."""
    if not isinstance(spec, Mapping) or not ({"value", "schema"} & set(spec)):
        return AcceptedJson(value=exact(spec), equality=Equality())
    for key in spec:
        if key not in _KEYS:
            raise UsageError(f"json: unknown key {key!r}{nearest(str(key), _KEYS)}; known are {', '.join(_KEYS)}")
    additional = spec.get("additional", "deny")
    if additional not in {"allow", "deny", True, False}:
        raise UsageError(f"json: additional must be 'allow' or 'deny', not {additional!r}")
    equality = Equality(
        ignore=_pointers(spec.get("ignore"), "json.ignore"),
        unordered=_pointers(spec.get("unordered"), "json.unordered"),
        additional=additional in {"allow", True},
        rel=_tolerance(spec.get("rel"), "rel"),
        abs=_tolerance(spec.get("abs"), "abs"),
    )
    return AcceptedJson(value=exact(spec.get("value")), has_value="value" in spec, schema=spec.get("schema"), equality=equality)


def _pointers(value: Json, where: str) -> Pointers:
    if value is None:
        return Pointers()
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, Sequence):
        raise UsageError(f"{where}: expected a list of JSON pointers, got {value!r}")
    return Pointers([item for item in items if isinstance(item, str)] if all(isinstance(item, str) for item in items) else [""], where)


def _tolerance(value: Json, key: str) -> Decimal | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        raise UsageError(f"json: {key} must be a number from 0 on, not {value!r}")
    return Decimal(repr(value))


def grade(view: View, expect: Expect, context: GradeContext) -> Judgement:
    """The grader of `json`."""
    return _grade(view, read_spec(expect.spec), context)


def grade_schema(view: View, expect: Expect, context: GradeContext) -> Judgement:
    """The grader of `json_schema`."""
    violations(None, expect.spec)  # a wrong schema is told whatever the reply is
    return _grade(view, AcceptedJson(has_value=False, schema=expect.spec, equality=Equality()), context)


def _grade(view: View, accepted: AcceptedJson, context: GradeContext) -> Judgement:
    found = find_json(view.text)
    if found.problem:
        title = f"expected one JSON value; {found.problem}"
        evidence = {"problem": found.problem, "text": excerpt(view.text, 200)}
        return conclude([context.finding("ANS.json", title, evidence=evidence)])
    settled = isinstance(found.value, dict | list) or found.rule == "fenced"
    extraction = Extraction(
        text=excerpt(view.text[found.start : found.end], 200), rule=found.rule, span=(found.start, found.end), settled=settled
    )
    findings = [*_surroundings(found, view, context), *_schema_findings(found, accepted, context)]
    answer = canonical_json(found.value)
    if accepted.has_value:
        difference = first_difference(accepted.value, found.value, accepted.equality)
        if difference is None:
            answer = canonical_json(accepted.value)
        else:
            findings.append(_different(difference, accepted, answer, context))
    return conclude(findings, answer=answer, extraction=extraction)


def _surroundings(found: FoundJson, view: View, context: GradeContext) -> list[Finding]:
    findings = []
    if found.around:
        title = f"text around the fenced JSON: {excerpt(found.around, 40)!r}"
        findings.append(context.finding("ANS.json", title, severity="note"))
    if found.duplicates:
        keys = ", ".join(map(repr, found.duplicates))
        lowered = None if forced_type(view.ask) == "json_schema" else context.lowest("ANS.duplicate_key")
        title = f"a JSON object holds a key twice: {keys}"
        findings.append(context.finding("ANS.duplicate_key", title, severity=lowered, evidence={"keys": list(found.duplicates)}))
    return findings


def _schema_findings(found: FoundJson, accepted: AcceptedJson, context: GradeContext) -> list[Finding]:
    if accepted.schema is None:
        return []
    broken = violations(found.value, accepted.schema)
    if not broken:
        return []
    first = broken[0]
    more = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
    title = f"violates the schema at {first.pointer or '/'}: {first.message}{more}"
    detail = "\n".join(f"{one.pointer or '/'}: {one.message} ({one.rule})" for one in broken[:10])
    return [context.finding("ANS.schema", title, detail=detail, where=first.pointer, evidence={"violations": len(broken)})]


def _different(difference: Difference, accepted: AcceptedJson, answer: str, context: GradeContext) -> Finding:
    title = f"at {difference.pointer or '/'}: expected {difference.expected}, got {difference.got}"
    detail = aligned(canonical_json(accepted.value), answer)
    evidence = {"pointer": difference.pointer, "expected": difference.expected, "got": difference.got}
    return context.finding("ANS.wrong", title, detail=detail, where=difference.pointer, evidence=evidence)
