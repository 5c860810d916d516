"""Kinds that users add are told from misspelt ones by their prefix."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_mtp.core.case import Case, Expect, Source
from pytest_mtp.core.errors import SuiteError
from pytest_mtp.suites.load import load_suite

HEAD = "schema_version: 1\nsuite: own\ncases:\n"


def load(tmp_path: Path, case: str) -> Case:
    path = tmp_path / "own.mtp.yaml"
    path.write_text(f"{HEAD}  - {case}\n")
    return load_suite(path).cases[0]


def test_a_grader_of_ones_own_takes_any_value(tmp_path: Path) -> None:
    case = load(tmp_path, "{id: a, ask: hello, expect: {x_polite: {words: [please]}, length: {min_words: 1}}}")
    assert case.expect[0] == Expect(kind="x_polite", spec={"words": ["please"]})


def test_a_check_of_ones_own(tmp_path: Path) -> None:
    assert load(tmp_path, "{id: a, check: x_warmth, with: {rounds: 2}}").kind == "x_warmth"


@pytest.mark.parametrize(
    "case", ["{id: a, ask: hello, expect: {polite: true}}", "{id: a, check: warmth, with: {}}"], ids=["expect", "check"]
)
def test_other_words_are_still_mistakes(tmp_path: Path, case: str) -> None:
    with pytest.raises(SuiteError, match=r"own\.mtp\.yaml:4: "):
        load(tmp_path, case)


@pytest.mark.parametrize(
    ("expect", "kind"),
    [
        (Expect(kind="any_of", spec=[{"no_call": True}, {"calls": []}]), "tools"),
        (Expect(kind="all_of", spec=[{"any_of": [{"any_call": "f"}]}]), "tools"),
        (Expect(kind="any_of", spec=[{"number": 1}]), "golden"),
        (Expect(kind="json", spec={"calls": 1}), "golden"),
    ],
    ids=["in any_of", "nested", "no call", "a key of a value"],
)
def test_calls_inside_combinations_make_a_tool_case(expect: Expect, kind: str) -> None:
    assert Case(id="a", suite="s", source=Source(path="s", line=1), expect=(expect,)).kind == kind


def test_at_least_stands_beside_calls(tmp_path: Path) -> None:
    tool = "{name: f, description: d, parameters: {type: object}}"
    case = load(
        tmp_path,
        f"{{id: a, ask: hello, tools: [{{type: function, function: {tool}}}], expect: {{calls: [{{name: f}}, {{name: f}}], at_least: 1}}}}",
    )
    assert case.expect[0].options == {"at_least": 1}


def test_a_comparison_that_asserts_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match=r"own\.mtp\.yaml:4: asserts nothing: write 'assert f\(1\) == 2'"):
        load(tmp_path, "{id: a, ask: hello, expect: {code: {language: python, asserts: ['f(1) == 2']}}}")
