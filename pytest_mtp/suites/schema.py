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


class SchemaFolder:
    """The schemas of one folder; a reference may point into another file of it."""

    def __init__(self, folder: Path, names: tuple[str, ...]) -> None:
        """Nothing is read before it is needed."""
        self._folder, self._names = folder, names
        self.acceptor = functools.cache(self._acceptor)
        self._validator = functools.cache(self._made_validator)

    @functools.cached_property
    def parsed(self) -> Mapping[str, Any]:
        """File name to parsed schema."""
        return {name: json.loads((self._folder / name).read_text(encoding="utf-8")) for name in self._names}

    def complaints(self, value: Any, file: str, pointer: str = "") -> Iterator[Any]:
        """What the same schema has against a value, as jsonschema's ValidationErrors."""
        return iter(self._validator(file, pointer).iter_errors(value))

    def _acceptor(self, file: str, pointer: str = "") -> Accepts:
        """Whether the schema at `pointer` of `file` accepts a value."""
        return Compiler(self.parsed).reference(f"{file}#{pointer}", file)

    def _made_validator(self, file: str, pointer: str) -> Any:
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
        bare = {name: {key: item for key, item in schema.items() if key != "$schema"} for name, schema in self.parsed.items()}
        registry: Registry[Any] = Registry().with_resources((name, DRAFT7.create_resource(schema)) for name, schema in bare.items())
        extend: Any = jsonschema.validators.extend  # untyped there
        strict = extend(jsonschema.Draft7Validator, {"pattern": pattern, "uniqueItems": unique})
        return strict({"$ref": f"{file}#{pointer}"}, registry=registry)


OURS = SchemaFolder(FOLDER, (SUITE, GOLDEN, PLAIN))
acceptor = OURS.acceptor
complaints = OURS.complaints


def schemas() -> Mapping[str, Any]:
    """File name to parsed schema."""
    return OURS.parsed
