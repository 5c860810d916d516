"""The accepted calls fit the schemas of the tools that are offered, and the grader takes them and nothing near them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jsonschema
import pytest

from pytest_mtp.core.case import Case, Suite
from pytest_mtp.judge.judgement import Judgement

DISPATCH = (
    "call-paris", "call-zurich-of-three-tools", "call-lisbon-required", "call-berlin-named", "enum-and-decimal", "date-and-time",
    "nested-order", "two-cities-at-once", "two-users-in-order", "wetter-in-muenchen",
)  # fmt: skip
WITNESS = {"^19:30(:00)?$": "19:30"}


def witness(matcher: Any) -> Any:
    """A value that a matcher accepts; a literal stands for itself."""
    if isinstance(matcher, list):
        return [witness(item) for item in matcher]
    if not isinstance(matcher, Mapping):
        return matcher
    match list(matcher.items()):
        case [("number" | "date", value)]:
            return value
        case [("one_of", values)]:
            return values[0]
        case [("absent_or", inner)]:
            return witness(inner)
        case [("unordered", items)]:
            return [witness(item) for item in reversed(items)]
        case [("regex", pattern)]:
            return WITNESS[pattern]
    return {key: witness(item) for key, item in matcher.items()}


def case_of(suites: Mapping[str, Suite], case_id: str) -> Case:
    return next(case for case in suites["tools"].cases if case.id == case_id)


def calls_of(case: Case) -> list[tuple[str, Any]]:
    (expect,) = case.expect
    assert isinstance(expect.spec, (list, tuple))
    return [(str(call["name"]), witness(call["arguments"])) for call in expect.spec if isinstance(call, Mapping)]


def test_every_case_that_expects_calls_is_looked_at(suites: Mapping[str, Suite]) -> None:
    assert {case.id for case in suites["tools"].cases if case.expect[0].kind == "calls"} == set(DISPATCH)


@pytest.mark.parametrize("case_id", DISPATCH)
def test_the_accepted_arguments_fit_the_schema_of_the_tool(case_id: str, suites: Mapping[str, Suite]) -> None:
    case = case_of(suites, case_id)
    assert case.ask is not None
    schemas: dict[Any, Any] = {tool["function"]["name"]: tool["function"]["parameters"] for tool in case.ask.tools}  # type: ignore[call-overload, index]  # Json
    for name, arguments in calls_of(case):
        jsonschema.Draft202012Validator.check_schema(schemas[name])
        jsonschema.validate(arguments, schemas[name], cls=jsonschema.Draft202012Validator)


@pytest.mark.parametrize("case_id", DISPATCH)
def test_the_accepted_calls_pass(case_id: str, suites: Mapping[str, Suite], judged: Callable[..., Judgement]) -> None:
    verdict = judged("tools", case_id, "", calls_of(case_of(suites, case_id)))
    assert (verdict.outcome, verdict.findings) == ("PASS", ())


@pytest.mark.parametrize("case_id", DISPATCH)
def test_a_wrong_value_a_missing_call_and_words_in_its_place_fail(
    case_id: str, suites: Mapping[str, Suite], judged: Callable[..., Judgement]
) -> None:
    calls = calls_of(case_of(suites, case_id))
    name, arguments = calls[0]
    first = next(iter(arguments))
    wrong = arguments[first] + 1 if isinstance(arguments[first], int) else "Reykjavik"
    assert judged("tools", case_id, "", [(name, {**arguments, first: wrong}), *calls[1:]]).outcome == "FAIL"
    assert judged("tools", case_id, "", [*calls, ("get_weather", {"city": "Reykjavik"})]).outcome == "FAIL"
    assert judged("tools", case_id, "I would have to look that up for you.").outcome == "FAIL"


@pytest.mark.parametrize("city", ["Paris", "Paris, France"])
def test_other_ways_to_name_a_city_pass(city: str, judged: Callable[..., Judgement]) -> None:
    assert judged("tools", "call-paris", "", [("get_weather", {"city": city})]).outcome == "PASS"


def test_the_default_of_an_enum_may_be_left_out(judged: Callable[..., Judgement]) -> None:
    for extra, outcome in (({}, "PASS"), ({"mode": "heat"}, "PASS"), ({"mode": "cool"}, "FAIL")):
        call = ("set_thermostat", {"room": "bedroom", "celsius": 19.5, **extra})
        assert judged("tools", "enum-and-decimal", "", [call]).outcome == outcome


def test_the_order_counts_where_it_was_asked_for(judged: Callable[..., Judgement]) -> None:
    users = [("get_user", {"user_id": 82}), ("get_user", {"user_id": 17})]
    cities = [("get_weather", {"city": "Rome"}), ("get_weather", {"city": "Paris"})]
    assert judged("tools", "two-users-in-order", "", users[::-1]).outcome == "FAIL"
    assert judged("tools", "two-cities-at-once", "", cities).outcome == "PASS"


@pytest.mark.parametrize(("name", "argument"), [("find_book", "title"), ("search_web", "query")])
def test_either_way_to_look_up_a_book_passes(name: str, argument: str, judged: Callable[..., Judgement]) -> None:
    assert judged("tools", "library-or-web", "", [(name, {argument: "Moby-Dick"})]).outcome == "PASS"


def test_the_weather_is_no_place_to_look_up_a_book(judged: Callable[..., Judgement]) -> None:
    assert judged("tools", "library-or-web", "", [("get_weather", {"city": "Nantucket"})]).outcome == "FAIL"


def test_a_forbidden_call_fails_even_beside_the_right_words(judged: Callable[..., Judgement]) -> None:
    assert judged("tools", "calls-forbidden", "Paris.").outcome == "PASS"
    assert judged("tools", "calls-forbidden", "Paris.", [("get_weather", {"city": "Paris"})]).outcome == "FAIL"


def test_a_result_is_told_and_not_looked_up_again(judged: Callable[..., Judgement]) -> None:
    assert judged("tools", "answer-from-the-result", "It is 18 degrees Celsius in Paris, with a clear sky.").outcome == "PASS"
    assert judged("tools", "answer-from-the-result", "It is quite warm in Paris.").outcome == "FAIL"
    assert judged("tools", "answer-from-the-result", "", [("get_weather", {"city": "Paris"})]).outcome == "FAIL"
