"""The published schemas serve editors: descriptions to hover over, no unknown keys, examples that hold."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest

from pytest_mtp.core.ask import Sampling
from pytest_mtp.core.case import CaseSeverity, Provenance
from pytest_mtp.core.facts import Capabilities
from pytest_mtp.suites.load import load_suite
from pytest_mtp.suites.matchers import _WORDS, MATCHERS
from pytest_mtp.suites.schema import FOLDER, GOLDEN, SUITE, acceptor, complaints, schemas

ROOT = Path(__file__).parents[2]
SHIPPED = sorted((ROOT / "suites").glob("*.mtp.yaml"))
GOOD = sorted(Path(__file__).with_name("good").glob("*.yaml"))
OPEN = [  # JSON Schemas, values, and what an engine knows and we do not; `with` is closed by its check
    "/definitions/case/properties/with",
    "/definitions/message/properties/content/anyOf/1/items",
    "/definitions/message/properties/tool_calls/items/properties/function/properties/arguments/anyOf/0",
    "/definitions/short_tool/properties/parameters",
    "/definitions/openai_tool/properties/function/properties/parameters",
    "/definitions/response_format/properties/json_schema/properties/schema",
    "/definitions/response_format/properties/schema",
    "/definitions/extra_body",
    "/definitions/expect/properties/json_schema",
    "/definitions/json_long/properties/schema",
    "/definitions/provenance/properties/sampling",
]


def nodes(schema: Any, place: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Schemas inside a schema, but for conditions: `if` and `allOf` only refine what is described elsewhere."""
    if isinstance(schema, dict):
        yield place, schema
        for key, inner in schema.items():
            if key in ("properties", "definitions"):
                for name, item in inner.items():
                    yield from nodes(item, f"{place}/{key}/{name}")
            elif key not in ("examples", "enum", "const", "required", "dependencies", "if", "allOf"):
                yield from nodes(inner, f"{place}/{key}")
    elif isinstance(schema, list):
        for index, item in enumerate(schema):
            yield from nodes(item, f"{place}/{index}")


NODES = [(file, place, node) for file in (SUITE, GOLDEN) for place, node in nodes(schemas()[file])]
EXAMPLES = [(file, place, example) for file, place, node in NODES for example in node.get("examples", ())]


@pytest.mark.parametrize("file", [path.name for path in FOLDER.glob("*.json")])
def test_each_schema_is_valid_in_draft_07(file: str) -> None:
    assert schemas()[file]["$schema"] == "http://json-schema.org/draft-07/schema#"
    assert schemas()[file]["$id"] == file
    jsonschema.Draft7Validator.check_schema(schemas()[file])


@pytest.mark.parametrize("file", [SUITE, GOLDEN])
def test_each_property_has_a_text_to_hover_over(file: str) -> None:
    described = {
        f"{place}/properties/{name}": "description" in inner
        for where, place, node in NODES
        for name, inner in node.get("properties", {}).items()
        if where == file
    }
    assert len(described) > 10
    assert [place for place, has_text in described.items() if not has_text] == []


def test_each_mapping_refuses_unknown_keys_but_for_what_we_pass_on() -> None:
    open_ones = [place for _, place, node in NODES if node.get("type") == "object" and "additionalProperties" not in node]
    assert sorted(open_ones) == sorted(OPEN)


@pytest.mark.parametrize("index", range(len(EXAMPLES)))
def test_each_example_is_accepted_by_its_own_schema(index: int) -> None:
    file, place, example = EXAMPLES[index]
    assert list(complaints(example, file, place)) == []


def test_the_lists_of_words_are_those_of_the_records() -> None:
    suite, golden = schemas()[SUITE]["definitions"], schemas()[GOLDEN]["definitions"]
    assert set(suite["sampling"]["properties"]) == set(Sampling.__dataclass_fields__)
    assert set(golden["provenance"]["properties"]) == set(Provenance.__dataclass_fields__)
    assert set(suite["needs"]["items"]["enum"]) == {*Capabilities.__dataclass_fields__, "speculation"}
    assert suite["severity"]["enum"] == list(get_args(CaseSeverity))
    assert set(suite["matcher"]["if"]["propertyNames"]["enum"]) == _WORDS
    assert [branch["required"][0] for branch in suite["matcher"]["then"]["oneOf"]] == list(MATCHERS)


@pytest.mark.parametrize("path", [*SHIPPED, *GOOD], ids=lambda path: path.name)
def test_suites_that_are_shipped_load(path: Path) -> None:
    suite = load_suite(path, shown=path.name)
    assert suite.cases
    assert len({case.id for case in suite.cases}) == len(suite.cases)


def test_the_schema_knows_each_kind_of_the_contract() -> None:
    answers = "number choice text contains not_contains regex list set date json json_schema code math language length same_as"
    calls = "calls no_call any_call ordered extra extra_args at_least"
    nested = "all_of any_of none_of"
    assert set(schemas()[SUITE]["definitions"]["expect"]["properties"]) == set(f"{answers} {calls} {nested}".split())


def test_a_case_has_the_keys_of_the_contract() -> None:
    asked = "ask messages system tools tool_choice response_format sampling stream extra_body matrix expect"
    always = "id check with repeats severity tags marks needs"
    assert set(schemas()[SUITE]["definitions"]["case"]["properties"]) == set(f"{asked} {always}".split())


@pytest.mark.parametrize(
    ("spec", "accepted"),
    [
        ({"json": {"value": {"a": 1}}}, True),
        ({"json": {"schema": {}}}, True),
        ({"json": {"value": 1, "zebra": 2}}, False),
        ({"json": {"name": 1, "zebra": 2}}, True),
        ({"json": None}, True),
        ({"number": {"value": 1}}, True),
        ({"number": {"zebra": 1}}, False),
        ({"calls": [{"name": "f", "arguments": {"a": {"title": "x", "date": "soon"}}}]}, True),
        ({"calls": [{"name": "f", "arguments": {"a": {"regex": "x", "date": "2026-01-31"}}}]}, False),
        ({"calls": [{"name": "f", "arguments": {"a": {}}}]}, True),
    ],
    ids=str,
)
def test_the_long_form_is_known_by_its_keys(spec: dict[str, Any], accepted: bool) -> None:
    assert acceptor(SUITE, "/definitions/expect")(spec) is accepted
