"""BFCL v4 single-turn cases as requests and expectations, read from the package `bfcl-eval` or its wheel.

Nothing of BFCL is kept here: its data files ship in the package. Function docs become OpenAI tools, listed golds become
`calls` expectations, and each gold is rendered as the replies that it lists.
"""

from __future__ import annotations

import importlib.util
import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_mtp.core.ask import Ask

GOLD_CATEGORIES = (
    "simple_python",
    "simple_java",
    "simple_javascript",
    "multiple",
    "parallel",
    "parallel_multiple",
    "live_simple",
    "live_multiple",
    "live_parallel",
    "live_parallel_multiple",
)
EMPTY_CATEGORIES = ("irrelevance", "live_irrelevance")

_TYPES = {
    "dict": "object",
    "HashMap": "object",
    "float": "number",
    "double": "number",
    "tuple": "array",
    "Array": "array",
    "ArrayList": "array",
    "String": "string",
    "char": "string",
    "long": "integer",
    "Bigint": "integer",
    "Boolean": "boolean",
}
_JSON_TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})

Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class BfclCase:
    """`variants` are the renderings of the gold: every listed alternative of every parameter occurs in one of them."""

    id: str
    category: str
    ask: Ask
    functions: tuple[Mapping[str, Any], ...]
    ground_truth: tuple[Mapping[str, Any], ...]
    calls: tuple[Mapping[str, Any], ...]
    variants: tuple[tuple[Call, ...], ...]


def found_data() -> Path | None:
    """The folder of an installed `bfcl-eval`; None where it is not installed."""
    spec = importlib.util.find_spec("bfcl_eval")
    return Path(spec.origin).parent if spec and spec.origin else None


def cases(place: Path) -> Iterator[BfclCase]:
    """Every case of the gold categories. `place` is the package's folder or its wheel."""
    for category in GOLD_CATEGORIES:
        golds = {row["id"]: row["ground_truth"] for row in rows(place, f"data/possible_answer/BFCL_v4_{category}.json")}
        for row in rows(place, f"data/BFCL_v4_{category}.json"):
            truth = tuple(golds[row["id"]])
            yield BfclCase(
                id=row["id"],
                category=category,
                ask=_ask(row),
                functions=tuple(row["function"]),
                ground_truth=truth,
                calls=tuple(_expected(call) for call in truth),
                variants=tuple(_variants(truth)),
            )


def empty_cases(place: Path) -> Iterator[tuple[str, Ask]]:
    """The irrelevance cases: no call is right."""
    for category in EMPTY_CATEGORIES:
        for row in rows(place, f"data/BFCL_v4_{category}.json"):
            yield row["id"], _ask(row)


def rows(place: Path, inside: str) -> Iterator[dict[str, Any]]:
    """JSON lines of one data file."""
    if place.suffix == ".whl":
        with zipfile.ZipFile(place) as wheel:
            text = wheel.read(f"bfcl_eval/{inside}").decode()
    else:
        text = (place / inside).read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.strip():
            yield json.loads(line)


def _ask(row: Mapping[str, Any]) -> Ask:
    tools: Any = tuple(
        {
            "type": "function",
            "function": {"name": f["name"], "description": f.get("description", ""), "parameters": schema_of(f["parameters"])},
        }
        for f in row["function"]
    )
    return Ask(messages=tuple(dict(message) for message in row["question"][0]), tools=tools)


def schema_of(documented: Any) -> Any:
    """JSON Schema of a documented parameter. `any` is no type at all; a default of null makes a parameter nullable."""
    if not isinstance(documented, Mapping):
        return documented
    schema = {key: documented[key] for key in ("description", "default", "enum", "maximum", "minItems", "maxItems") if key in documented}
    kind = _TYPES.get(str(documented.get("type")), documented.get("type"))
    if kind in _JSON_TYPES:
        schema["type"] = kind
    if isinstance(documented.get("properties"), Mapping):
        schema["properties"] = {name: schema_of(inner) for name, inner in documented["properties"].items()}
    if "items" in documented:
        schema["items"] = schema_of(documented["items"])
    if isinstance(documented.get("required"), list):
        schema["required"] = sorted(set(documented["required"]))
    if schema.get("default", ...) is None and "type" in schema:
        schema["type"] = [schema["type"], "null"]
        if "enum" in schema:
            schema["enum"] = [*schema["enum"], None]
    return schema


def _expected(call: Mapping[str, Any]) -> dict[str, Any]:
    (name, parameters), *_ = call.items()
    return {"name": name, "arguments": {key: _matcher(listed) for key, listed in parameters.items()}}


def _matcher(listed: Any) -> Any:
    """A list of alternatives; an empty text among them says that the parameter may be left out."""
    alternatives = listed if isinstance(listed, list) else [listed]
    stated = [_stated(item) for item in alternatives if item != ""]
    if not stated:
        return {"absent_or": ""}
    one = {"one_of": stated}
    return {"absent_or": one} if "" in alternatives else one


def _stated(value: Any) -> Any:
    """One alternative. The members of an object hold alternatives of their own."""
    if isinstance(value, dict):
        return {key: _matcher(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_stated(item) for item in value]
    return value


def _variants(truth: tuple[Mapping[str, Any], ...]) -> Iterator[tuple[Call, ...]]:
    """Alternative k of every parameter together, for every k, and once without what may be left out."""
    most = max((_width(listed) for call in truth for listed in next(iter(call.values())).values()), default=1)
    for index in range(most):
        yield tuple((name, _rendered(parameters, index)) for call in truth for name, parameters in call.items())
    if any("" in listed for call in truth for listed in next(iter(call.values())).values() if isinstance(listed, list)):
        yield tuple((name, _rendered(parameters, None)) for call in truth for name, parameters in call.items())


def _width(listed: Any) -> int:
    return len([item for item in listed if item != ""]) if isinstance(listed, list) else 1


def _rendered(parameters: Mapping[str, Any], index: int | None) -> dict[str, Any]:
    arguments = {}
    for key, listed in parameters.items():
        alternatives = listed if isinstance(listed, list) else [listed]
        stated = [item for item in alternatives if item != ""]
        if not stated or (index is None and "" in alternatives):
            continue
        arguments[key] = _value(stated[(index or 0) % len(stated)], index)
    return arguments


def _value(value: Any, index: int | None) -> Any:
    if isinstance(value, dict):
        return _rendered(value, index)
    if isinstance(value, list):
        return [_value(item, index) for item in value]
    return value
