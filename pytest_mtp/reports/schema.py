"""The JSON Schema of the report, made from the records themselves.

`python -m pytest_mtp.reports.schema` prints it; the file beside this one holds the same, and a test compares them.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import types
from collections.abc import Mapping
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pytest_mtp.core.record import Json, Record
from pytest_mtp.core.run import REPORT_SCHEMA_VERSION, RunReport
from pytest_mtp.reports.descriptions import DESCRIPTIONS

_SCALARS: Mapping[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}


def build() -> dict[str, Any]:
    """Draft-07. Each record is closed, and each of its fields is required and described."""
    definitions: dict[str, Any] = {}
    top = _record(RunReport, definitions)
    top["properties"]["schema_version"] = {"const": REPORT_SCHEMA_VERSION, "description": DESCRIPTIONS["RunReport"]["schema_version"]}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "mtp-report.json",
        "description": "The report of one run of pytest-mtp.",
        **top,
        "definitions": dict(sorted(definitions.items())),
    }


def _record(cls: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    hints, words = get_type_hints(cls), DESCRIPTIONS[cls.__name__]
    names = [field.name for field in dataclasses.fields(cls)]
    return {
        "type": "object",
        "additionalProperties": False,
        "required": names,
        "properties": {name: {"description": words[name], **_of(hints[name], definitions)} for name in names},
    }


def _of(hint: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    if hint is Any or hint is Json:
        return {}
    origin, args = get_origin(hint), get_args(hint)
    if origin is Literal:
        return {"enum": list(args)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [{"type": "null"} if arg is type(None) else _of(arg, definitions) for arg in args]}
    if origin is tuple and len(args) == 2 and args[1] is Ellipsis:
        return {"type": "array", "items": _of(args[0], definitions)}
    if origin is tuple:
        return {"type": "array", "items": [_of(arg, definitions) for arg in args], "minItems": len(args), "maxItems": len(args)}
    if origin is not None:
        return {"type": "object", "additionalProperties": _of(args[1], definitions)}
    if isinstance(hint, type) and issubclass(hint, Record):
        if hint.__name__ not in definitions:
            definitions[hint.__name__] = {}  # breaks a circle
            definitions[hint.__name__] = _record(hint, definitions)
        return {"allOf": [{"$ref": f"#/definitions/{hint.__name__}"}]}  # a bare $ref would hide the description beside it
    return {"type": _SCALARS[hint]}


def text() -> str:
    """As it stands in the file."""
    return json.dumps(build(), indent=2) + "\n"


if __name__ == "__main__":
    sys.stdout.write(text())
