"""A matrix makes one case for each combination, with an id that one can read and type."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_mtp.core.case import Suite
from pytest_mtp.suites.matrix import combinations

MakeSuite = Callable[[str], Suite]


def brackets(matrix: dict[str, list[object]]) -> list[str]:
    return [bracket for bracket, _ in combinations(matrix)]


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        ({}, [""]),
        ({"stream": [True, False, "both"]}, ["[stream]", "[unary]", "[both]"]),
        ({"seed": [1, 2]}, ["[seed1]", "[seed2]"]),
        ({"temperature": [0, 0.7, 1e-05]}, ["[temperature0]", "[temperature0.7]", "[temperature1e-05]"]),
        ({"top_k": [-1, None]}, ["[top_k-1]", "[top_k-none]"]),
        ({"tool_choice": ["auto", {"name": "f"}, {"type": "function", "function": {"name": "g"}}]}, ["[auto]", "[f]", "[g]"]),
        ({"tool_choice": ["auto", {"name": "auto"}]}, ["[tool_choice0]", "[tool_choice1]"]),
        ({"system": ["Be brief.", "Be kind."]}, ["[system0]", "[system1]"]),
        ({"system": ["brief", "kind"]}, ["[system-brief]", "[system-kind]"]),
        ({"stop": ["]", "x"]}, ["[stop0]", "[stop1]"]),
        ({"tools": [["f"], []]}, ["[tools0]", "[tools1]"]),
        ({"stream": [True, False], "seed": [1, 2]}, ["[stream-seed1]", "[stream-seed2]", "[unary-seed1]", "[unary-seed2]"]),
        ({"seed": [2, 1], "stream": [True]}, ["[seed2-stream]", "[seed1-stream]"]),
    ],
    ids=str,
)
def test_brackets_read_as_what_was_varied(matrix: dict[str, list[object]], words: list[str]) -> None:
    assert brackets(matrix) == words


def test_each_combination_becomes_a_case_at_the_line_of_the_written_one(load: MakeSuite) -> None:
    cases = load("""
        cases:
          - id: before
            ask: Hi?
            expect: {text: hi}
          - id: grid
            ask: Hi?
            sampling: {temperature: 0.5, seed: 9}
            matrix: {stream: [true, false], seed: [1, 2]}
            expect: {text: hi}
    """).cases
    assert [case.id for case in cases] == ["before", "grid[stream-seed1]", "grid[stream-seed2]", "grid[unary-seed1]", "grid[unary-seed2]"]
    assert {case.source.line for case in cases[1:]} == {8}
    asks = [case.ask for case in cases[1:] if case.ask is not None]
    assert [(ask.stream, ask.sampling.seed, ask.sampling.temperature) for ask in asks] == [
        (True, 1, 0.5),
        (True, 2, 0.5),
        (False, 1, 0.5),
        (False, 2, 0.5),
    ]


def test_case_keys_can_be_axes(load: MakeSuite) -> None:
    cases = load("""
        tools: {f: {description: d}}
        cases:
          - id: grid
            ask: Hi?
            extra_body: {a: 1, b: 1}
            matrix:
              tools: [[f], []]
              system: [Be brief., Be kind.]
              extra_body: [{a: 2}, {c: 3}]
            expect: {no_call: true}
    """).cases
    first, last = cases[0].ask, cases[-1].ask
    assert first is not None
    assert last is not None
    assert (len(cases), len(first.tools), len(last.tools)) == (8, 1, 0)
    assert (first.messages[0]["content"], last.messages[0]["content"]) == ("Be brief.", "Be kind.")
    assert (first.extra_body, last.extra_body) == ({"a": 2, "b": 1}, {"a": 1, "b": 1, "c": 3})


def test_an_expectation_must_hold_for_each_set_of_tools(load: MakeSuite) -> None:
    with pytest.raises(
        Exception, match=r"small.mtp.yaml:9: the case does not offer a tool 'f': it offers none \(at cases\[0\].expect.any_call.name\)"
    ):
        load("""
            tools: {f: {description: d}}
            cases:
              - id: grid
                ask: Hi?
                matrix: {tools: [[f], []]}
                expect: {any_call: {name: f}}
        """)
