"""A minimal valid instance of a JSON Schema; what constrained decoding would give a model with nothing to say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_DEPTH = 12
_LONGEST = 2000
_FORMATS = {
    "date": "2025-01-15",
    "date-time": "2025-01-15T12:00:00Z",
    "time": "12:00:00Z",
    "email": "ann@example.com",
    "uri": "https://example.com",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "ipv4": "192.0.2.1",
}


def instance(schema: Any, root: Mapping[str, Any] | None = None, depth: int = 0) -> Any:
    """Required properties alone, least lengths, first choices. Patterns are not solved: such a string may not match."""
    if not isinstance(schema, Mapping) or depth > _DEPTH:
        return {} if depth == 0 else None
    root = root if root is not None else schema
    for word in ("const", "default"):
        if word in schema:
            return schema[word]
    if schema.get("enum"):
        return schema["enum"][0]
    if isinstance(schema.get("$ref"), str):
        return instance(resolve(schema["$ref"], root), root, depth + 1)
    for word in ("anyOf", "oneOf"):
        if schema.get(word):
            return instance(schema[word][0], root, depth + 1)
    if schema.get("allOf"):
        merged: dict[str, Any] = {}
        for part in schema["allOf"]:
            made = instance(part, root, depth + 1)
            merged.update(made if isinstance(made, dict) else {})
        return merged
    return _of_type(schema, root, depth)


def _of_type(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Any:
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    if kind == "object" or (kind is None and ("properties" in schema or depth == 0)):
        properties = schema.get("properties") or {}
        return {name: instance(properties.get(name, {"type": "string"}), root, depth + 1) for name in schema.get("required") or ()}
    if kind == "array":
        first = instance(schema.get("items", {"type": "string"}), root, depth + 1)
        return [first] * min(int(schema.get("minItems", 1)), _LONGEST)
    if kind in ("integer", "number"):
        return _number(schema)
    if kind == "boolean":
        return True
    if kind == "null":
        return None
    words = _FORMATS.get(str(schema.get("format")), "value")
    least, most = min(int(schema.get("minLength", 0)), _LONGEST), schema.get("maxLength")
    words = words.ljust(least, "e")
    return words[: int(most)] if most is not None else words


def _number(schema: Mapping[str, Any]) -> int | float:
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    value: int | float = 1
    if low is not None:
        value = low if "minimum" in schema else low + 1
    high = schema.get("maximum", schema.get("exclusiveMaximum"))
    if high is not None and value > high:
        value = high if "maximum" in schema else high - 1
    step = schema.get("multipleOf")
    return -(-value // step) * step if step else value


def resolve(pointer: str, root: Mapping[str, Any]) -> Any:
    """The part of the document that a local reference names; an empty schema when it names none."""
    place: Any = root
    for word in pointer.removeprefix("#").split("/")[1:]:
        name = word.replace("~1", "/").replace("~0", "~")
        if not isinstance(place, Mapping) or name not in place:
            return {}
        place = place[name]
    return place
