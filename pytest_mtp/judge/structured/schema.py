"""JSON Schema of any draft. The one file that imports jsonschema; nothing is ever fetched for a `$ref`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pytest_mtp.core.errors import UsageError
from pytest_mtp.core.record import Json
from pytest_mtp.judge.structured.pointers import step
from pytest_mtp.judge.words.normal import excerpt


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """`pointer` leads to the value, `rule` to the keyword inside the schema."""

    pointer: str
    rule: str
    message: str


def violations(value: Any, schema: Json, where: str = "json_schema") -> list[Violation]:
    """Every violation, the telling one first. Raises UsageError when the schema itself is wrong."""
    import jsonschema  # noqa: PLC0415  # loaded by the cases that ask for it
    import referencing.exceptions  # noqa: PLC0415  # comes with jsonschema

    if not isinstance(schema, Mapping | bool):
        raise UsageError(f"{where}: a JSON Schema is a mapping or a boolean, not {schema!r}")
    plain_schema: Any = schema if isinstance(schema, bool) else _plain(schema)
    kind = jsonschema.validators.validator_for(plain_schema, default=jsonschema.Draft202012Validator)
    try:
        kind.check_schema(plain_schema)
        validator = kind(plain_schema, registry=referencing.Registry())
        errors = list(validator.iter_errors(_plain(value)))
    except jsonschema.SchemaError as error:
        at = "".join(map(step, error.absolute_path))
        raise UsageError(f"{where}: the schema is wrong at {at or '/'}: {error.message}") from error
    except referencing.exceptions.Unresolvable as error:
        raise UsageError(f"{where}: a $ref of the schema leads nowhere: {error}") from error
    best = jsonschema.exceptions.best_match(errors)
    errors.sort(key=lambda error: error is not best and error.path != getattr(best, "path", None))
    ordered = [best, *(error for error in errors if error is not best)] if best else []
    return [
        Violation(
            pointer="".join(map(step, error.absolute_path)),
            rule="".join(map(step, error.absolute_schema_path)),
            message=excerpt(error.message, 120),
        )
        for error in ordered
    ]


def _plain(value: Any) -> Any:
    """Decimals as the numbers that jsonschema knows; exact where they are whole."""
    if isinstance(value, Decimal):
        whole = value.adjusted() < 400 and value == value.to_integral_value()
        return int(value) if whole else float(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
