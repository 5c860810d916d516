"""JSON Schemas that suites bring along are valid schemas themselves."""

from __future__ import annotations

import functools
import json
from typing import Any

import jsonschema
from jsonschema.exceptions import SchemaError

from pytest_mtp.suites.document import Document, Place

DEFAULT_DRAFT = jsonschema.Draft202012Validator


def check_schema(document: Document, schema: Any, place: Place) -> None:
    """Raise SuiteError at the keyword that its draft refuses; without `$schema` the draft is 2020-12."""
    problem = _problem(json.dumps(schema))
    if problem is not None:
        text, inside = problem
        raise document.error(text, (*place, *inside))


@functools.lru_cache(maxsize=4096)
def _problem(schema_text: str) -> tuple[str, Place] | None:
    schema = json.loads(schema_text)
    draft = jsonschema.validators.validator_for(schema, default=DEFAULT_DRAFT)
    try:
        draft.check_schema(schema)
    except SchemaError as error:
        return f"not a valid JSON Schema: {error.message}", tuple(error.absolute_path)
    return None
