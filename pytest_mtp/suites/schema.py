"""The published JSON Schemas, loaded once."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema
from jsonschema.exceptions import ValidationError
from referencing import Registry
from referencing.jsonschema import DRAFT7

FOLDER = Path(__file__).parent / "schemas"
SUITE = "suite.schema.json"
GOLDEN = "golden.schema.json"


@functools.cache
def schemas() -> Mapping[str, Any]:
    """File name to parsed schema."""
    return {name: json.loads((FOLDER / name).read_text(encoding="utf-8")) for name in (SUITE, GOLDEN)}


@functools.cache
def _validator(file: str, pointer: str) -> jsonschema.Draft7Validator:
    registry: Registry[Any] = Registry().with_resources((name, DRAFT7.create_resource(schema)) for name, schema in schemas().items())
    return jsonschema.Draft7Validator({"$ref": f"{file}#{pointer}"}, registry=registry)


def problems(value: Any, file: str, pointer: str = "") -> Iterator[ValidationError]:
    """What the schema at `pointer` of `file` has against a value."""
    return _validator(file, pointer).iter_errors(value)
