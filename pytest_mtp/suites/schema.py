"""The published JSON Schemas, and the two ways to ask them: quickly yes or no, slowly why not."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_mtp.suites.compiled import Accepts, Compiler, ecma, twice

FOLDER = Path(__file__).parent / "schemas"
SUITE = "suite.schema.json"
GOLDEN = "golden.schema.json"
PLAIN = "plain.schema.json"


@functools.cache
def schemas() -> Mapping[str, Any]:
    """File name to parsed schema."""
    return {name: json.loads((FOLDER / name).read_text(encoding="utf-8")) for name in (SUITE, GOLDEN, PLAIN)}


@functools.cache
def acceptor(file: str, pointer: str = "") -> Accepts:
    """Whether the schema at `pointer` of `file` accepts a value."""
    return Compiler(schemas()).reference(f"{file}#{pointer}", file)


def complaints(value: Any, file: str, pointer: str = "") -> Iterator[Any]:
    """What the same schema has against a value, as jsonschema's ValidationErrors."""
    return iter(_validator(file, pointer).iter_errors(value))


@functools.cache
def _validator(file: str, pointer: str) -> Any:
    import jsonschema  # noqa: PLC0415  # 0.2 s that a sound suite need not spend
    from referencing import Registry  # noqa: PLC0415  # comes with jsonschema
    from referencing.jsonschema import DRAFT7  # noqa: PLC0415  # likewise

    def pattern(_validator: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[jsonschema.ValidationError]:
        if isinstance(instance, str) and not ecma(pattern).search(instance):
            yield jsonschema.ValidationError(f"{instance!r} does not match {pattern!r}")

    def unique(_validator: Any, wanted: bool, instance: Any, _schema: Any) -> Iterator[jsonschema.ValidationError]:  # noqa: FBT001  # jsonschema calls it
        if wanted and isinstance(instance, list) and twice(instance) is not None:
            yield jsonschema.ValidationError(f"{instance!r} has non-unique elements")

    # jsonschema returns to its own Draft7Validator wherever it meets `$schema`
    bare = {name: {key: item for key, item in schema.items() if key != "$schema"} for name, schema in schemas().items()}
    registry: Registry[Any] = Registry().with_resources((name, DRAFT7.create_resource(schema)) for name, schema in bare.items())
    extend: Any = jsonschema.validators.extend  # untyped there
    strict = extend(jsonschema.Draft7Validator, {"pattern": pattern, "uniqueItems": unique})
    return strict({"$ref": f"{file}#{pointer}"}, registry=registry)
