"""The quick verdict on a document is that of jsonschema."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_mtp.core.case import Suite
from pytest_mtp.core.errors import SuiteError
from pytest_mtp.suites.compiled import Compiler, twice
from pytest_mtp.suites.load import load_suite
from pytest_mtp.suites.parsing import parse
from pytest_mtp.suites.schema import GOLDEN, PLAIN, SUITE, acceptor, complaints, schemas

GOOD = Path(__file__).with_name("good")
SUITE_VALUE = parse((GOOD / "everything.yaml").read_bytes(), "everything.yaml").value
GOLDEN_VALUE: dict[str, Any] = {
    "schema_version": 1,
    "suite": "everything",
    "model": "any",
    "provenance": {"author": "Ann", "date": "2026-01-31", "grader_version": 1, "sampling": {"temperature": 0}},
    "answers": {"a": {"expect": {"number": 1}, "note": "why", "provenance": {"reason": "because"}}},
}
OTHERS = [
    None,
    True,
    False,
    0,
    1,
    1.0,
    -1,
    2.5,
    10**400,
    "",
    "a",
    "a\n",
    "auto",
    [],
    {},
    ["a", "a"],
    [1, True],
    {"name": "f"},
    {"value": 1},
]
KEYS = ["zebra", "value", "expect", "check", "calls", "ordered", "rel", "with", "ask", "messages", "one_of", "schema", "name"]


def places(value: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place, *(inner for key, item in items for inner in places(item, (*place, key)))]


def changed(value: Any, place: tuple[Any, ...], how: str, other: Any, key: str) -> Any:
    if not place:
        return other
    root = node = copy.deepcopy(value)
    for step in place[:-1]:
        node = node[step]
    here = node[place[-1]]
    if how == "replace":
        node[place[-1]] = other
    elif how == "remove":
        del node[place[-1]]
    elif isinstance(here, dict):
        here[key] = other
    elif isinstance(here, list):
        here.append(other)
    return root


def mutants(value: Any) -> st.SearchStrategy[Any]:
    change = st.tuples(
        st.sampled_from(places(value)), st.sampled_from(["replace", "remove", "add"]), st.sampled_from(OTHERS), st.sampled_from(KEYS)
    )
    return change.map(lambda chosen: changed(value, *chosen))


@settings(max_examples=100, deadline=None)
@given(value=st.sampled_from(SUITE_VALUE["cases"]).flatmap(mutants))
def test_the_verdict_on_a_changed_case_is_that_of_jsonschema(value: Any) -> None:
    assert acceptor(SUITE, "/definitions/case")(value) == (not list(complaints(value, SUITE, "/definitions/case")))


@settings(max_examples=30, deadline=None)
@given(value=mutants({**SUITE_VALUE, "cases": SUITE_VALUE["cases"][:2]}))
def test_the_verdict_on_a_changed_suite_is_that_of_jsonschema(value: Any) -> None:
    assert acceptor(SUITE)(value) == (not list(complaints(value, SUITE)))


@settings(max_examples=100, deadline=None)
@given(value=mutants(GOLDEN_VALUE))
def test_the_verdict_on_changed_golden_answers_is_that_of_jsonschema(value: Any) -> None:
    assert acceptor(GOLDEN)(value) == (not list(complaints(value, GOLDEN)))


def outcome(path: Path) -> Suite | str:
    try:
        return load_suite(path, shown="x")
    except SuiteError as error:
        return error.problem


@settings(max_examples=100, deadline=None)
@given(value=mutants(SUITE_VALUE))
def test_a_changed_suite_loads_or_is_refused_in_our_own_words(value: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "changed.mtp.yaml"
    path.write_text(json.dumps(value), encoding="utf-8")
    loaded = outcome(path)
    if isinstance(loaded, Suite):
        assert Suite.from_dict(loaded.to_dict()).to_dict() == loaded.to_dict()
    else:
        assert not re.search(r"\{'|does not accept this|is not valid under", loaded)


@pytest.mark.parametrize(("file", "value"), [(SUITE, SUITE_VALUE), (GOLDEN, GOLDEN_VALUE)], ids=["suite", "golden"])
def test_both_accept_the_documents_that_are_changed_here(file: str, value: Any) -> None:
    assert acceptor(file)(value)
    assert not list(complaints(value, file))


def test_a_keyword_that_the_compiler_does_not_know_raises() -> None:
    with pytest.raises(KeyError, match="multipleOf"):
        Compiler({"a.json": {"multipleOf": 2}}).reference("a.json#", "a.json")


@pytest.mark.parametrize(
    ("items", "index"),
    [([1, 2, 1], 2), ([1, 1.0], 1), ([1, True], None), ([0, False], None), ([{"a": 1}, {"a": 1.0}], 1), ([[1], [True]], None), ([], None)],
    ids=str,
)
def test_items_stand_twice_by_the_equality_of_json(items: list[Any], index: int | None) -> None:
    assert twice(items) == index


PARAMETERS = st.recursive(
    st.fixed_dictionaries(
        {}, optional={"type": st.sampled_from(["string", "integer", ["null", "number"]]), "description": st.text(max_size=3)}
    ),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["object", "array"]),
            "properties": st.dictionaries(st.sampled_from(["a", "$ref", "type"]), inner, max_size=2),
            "required": st.lists(st.sampled_from(["a", "b"]), max_size=2),
            "items": inner,
            "anyOf": st.lists(inner, max_size=2),
            "enum": st.lists(st.sampled_from([1, True, "a"]), max_size=2),
            "additionalProperties": st.booleans() | inner,
            "minimum": st.sampled_from([0, 1.5, "a"]),
            "maxItems": st.sampled_from([0, 2.0, -1]),
            "default": st.just({"$ref": "#/nowhere"}),
        },
    ),
    max_leaves=6,
)
DRAFTS = [jsonschema.Draft6Validator, jsonschema.Draft7Validator, jsonschema.Draft201909Validator, jsonschema.Draft202012Validator]


@settings(max_examples=100, deadline=None)
@given(schema=PARAMETERS)
def test_a_schema_that_is_plain_is_valid_in_every_draft(schema: dict[str, Any]) -> None:
    if acceptor(PLAIN)(schema):
        for draft in DRAFTS:
            draft.check_schema(schema)


def test_the_parameters_of_most_tools_are_plain() -> None:
    assert acceptor(PLAIN)(schemas()[SUITE]["properties"]["tools"]["examples"][0]["get_weather"]["parameters"])
