"""A quick yes for plain schemas, so that the validator is asked only where the answer may be no.

jsonschema stays the judge: what this says is at most "surely valid", and a test holds it to that.
"""

from __future__ import annotations

from typing import Any

_PLAIN = frozenset({"type", "properties", "required", "enum", "items", "description", "title", "default", "examples", "$comment"})
_TYPES: dict[Any, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "object": (dict,),
    "array": (list,),
}


def surely_fits(schema: Any, value: Any) -> bool:
    """True: the value is valid under every draft. False says nothing."""
    if type(schema) is not dict or not _PLAIN.issuperset(schema):
        return False
    if "type" in schema:
        kind = schema["type"]
        if type(kind) is not str or type(value) not in _TYPES.get(kind, ()):
            return False
    if "enum" in schema:
        options = schema["enum"]
        if type(value) is not str or type(options) is not list or value not in options:
            return False
    if type(value) is dict:
        return _members_fit(schema, value)
    if type(value) is list and "items" in schema:
        items = schema["items"]
        return all(surely_fits(items, item) for item in value)
    return True


def _members_fit(schema: dict[str, Any], value: dict[str, Any]) -> bool:
    required = schema.get("required", [])
    if type(required) is not list or not all(type(name) is str and name in value for name in required):
        return False
    properties = schema.get("properties", {})
    if type(properties) is not dict:
        return False
    return all(surely_fits(properties[key], item) for key, item in value.items() if key in properties)


def surely_schema(schema: Any) -> bool:
    """True: well-formed under every draft from draft-04 on. False says nothing."""
    if type(schema) is not dict or not _PLAIN.issuperset(schema):
        return False
    kind = schema.get("type", "object")
    kinds = kind if type(kind) is list else [kind]
    if not kinds or not all(type(name) is str and name in _TYPES for name in kinds) or len(set(kinds)) < len(kinds):
        return False
    required = schema.get("required", ["any"])
    if type(required) is not list or not required or not all(type(name) is str for name in required) or len(set(required)) < len(required):
        return False
    options = schema.get("enum", ["any"])
    if type(options) is not list or not options or not all(type(option) is str for option in options) or len(set(options)) < len(options):
        return False
    if (
        any(type(schema.get(key, "")) is not str for key in ("description", "title", "$comment"))
        or type(schema.get("examples", [])) is not list
    ):
        return False
    properties = schema.get("properties", {})
    return (
        type(properties) is dict
        and all(map(surely_schema, properties.values()))
        and ("items" not in schema or surely_schema(schema["items"]))
    )
