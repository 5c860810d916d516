"""The accepted JSON fits its own schema and that of the request, and the grader takes it and nothing near it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from pytest_mtp.judge.judgement import Judgement

ROOT = Path(__file__).parents[2]
ANSWERS = yaml.safe_load((ROOT / "golden_answers" / "json" / "any.yaml").read_text(encoding="utf-8"))["answers"]
CASES = {case["id"]: case for case in yaml.safe_load((ROOT / "suites" / "json.mtp.yaml").read_text(encoding="utf-8"))["cases"]}
RECIPE = {"title": "Pancakes", "servings": 2, "steps": ["Whisk eggs, milk and flour.", "Fry until golden."]}


def accepted(case: str) -> tuple[Any, dict[str, Any]]:
    """The value and the schema of an answer; a schema of anything where it declares none."""
    expect = ANSWERS[case]["expect"]
    if "json_schema" in expect:
        return RECIPE, expect["json_schema"]
    spec = expect["json"]
    long = isinstance(spec, dict) and {"value", "schema"} & spec.keys()
    return (spec["value"], spec.get("schema", {})) if long else (spec, {})


def forced(case: str) -> dict[str, Any]:
    """The schema that the request demands."""
    demanded = CASES[case].get("response_format", {})
    schema: dict[str, Any] = demanded.get("json_schema", {}).get("schema", {})
    return schema


def spoilt(value: Any) -> Any:
    """The same shape with one wrong leaf."""
    if isinstance(value, dict):
        key = list(value)[-1]
        return {**value, key: spoilt(value[key])}
    if isinstance(value, list):
        return [*value[:-1], spoilt(value[-1])]
    if isinstance(value, bool) or value is None:
        return not value
    return value + 1 if isinstance(value, int | float) else value + "x"


@pytest.mark.parametrize("case", ANSWERS)
def test_the_value_fits_the_schema_of_the_answer_and_of_the_request(case: str) -> None:
    value, schema = accepted(case)
    for each in (schema, forced(case)):
        jsonschema.Draft7Validator.check_schema(each)
        jsonschema.validate(value, each, cls=jsonschema.Draft7Validator)


@pytest.mark.parametrize("case", ANSWERS)
def test_the_accepted_value_passes_bare_and_in_a_code_block(case: str, judged: Callable[..., Judgement]) -> None:
    text = json.dumps(accepted(case)[0], ensure_ascii=False)
    assert judged("json", case, text).outcome == "PASS"
    if not forced(case) and "response_format" not in CASES[case]:
        assert judged("json", case, f"```json\n{text}\n```").outcome == "PASS"


@pytest.mark.parametrize("case", [case for case in ANSWERS if case != "forced-form"])
def test_one_wrong_leaf_fails(case: str, judged: Callable[..., Judgement]) -> None:
    verdict = judged("json", case, json.dumps(spoilt(accepted(case)[0]), ensure_ascii=False))
    assert verdict.outcome == "FAIL"
    assert verdict.code in ("ANS.json", "ANS.wrong", "ANS.schema", "ANS.json_forced")


def test_a_recipe_without_steps_fails(judged: Callable[..., Judgement]) -> None:
    assert judged("json", "forced-form", json.dumps({**RECIPE, "steps": []})).outcome == "FAIL"


@pytest.mark.parametrize("case", [case for case in CASES if forced(case)])
def test_forced_broken_json_is_the_fault_of_the_server(case: str, judged: Callable[..., Judgement]) -> None:
    verdict = judged("json", case, json.dumps(accepted(case)[0])[:-1])
    assert [(finding.code, finding.severity) for finding in verdict.findings][:1] == [("ANS.json_forced", "critical")]


def test_another_order_passes_where_order_means_nothing(judged: Callable[..., Judgement]) -> None:
    assert judged("json", "any-order", '["goose", "fox", "horse", "goat"]').outcome == "PASS"
    assert judged("json", "sorted-numbers", "[4, 8, 17, 23, 42]").outcome == "FAIL"


def test_any_invented_id_passes(judged: Callable[..., Judgement]) -> None:
    assert judged("json", "ignore-the-id", '{"id": "u-9", "name": "Wanda Nowak", "roles": ["reviewer", "editor"]}').outcome == "PASS"


@pytest.mark.parametrize(("title", "outcome"), [("Budget Review", "PASS"), ("Budget plan", "FAIL")])
def test_a_title_may_have_capitals_and_no_other_words(title: str, outcome: str, judged: Callable[..., Judgement]) -> None:
    assert judged("json", "iso-date", json.dumps({"title": title, "date": "2027-03-05", "time": "14:30"})).outcome == outcome
