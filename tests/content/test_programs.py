"""A reference solution passes the asserts or gives the rows of each code case, and a plausible wrong one does not."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_mtp.judge.judgement import Judgement

HERE = Path(__file__).parent
ANSWERS = yaml.safe_load((HERE.parents[1] / "golden_answers" / "code" / "any.yaml").read_text(encoding="utf-8"))["answers"]
SPECS: dict[str, dict[str, Any]] = {case: answer["expect"]["code"] for case, answer in ANSWERS.items()}
PROGRAMS: dict[str, dict[str, str]] = yaml.safe_load((HERE / "programs.yaml").read_text(encoding="utf-8"))
PYTHON = [case for case, spec in SPECS.items() if spec["language"] == "python"]
SQL = [case for case, spec in SPECS.items() if spec["language"] == "sql"]


def rows(query: str, setup: str) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(setup)
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def failures(program: str, asserts: list[str]) -> list[str]:
    """The asserts that a program of ours does not keep."""
    names: dict[str, Any] = {}
    exec(program, names)  # our own programs, in programs.yaml
    failed = []
    for statement in asserts:
        try:
            exec(statement, names)  # our own asserts
        except Exception:  # noqa: BLE001  # whatever a wrong program raises
            failed.append(statement)
    return failed


def test_there_is_a_right_and_a_wrong_program_for_each_case() -> None:
    assert {case: set(pair) for case, pair in PROGRAMS.items()} == {case: {"right", "wrong"} for case in SPECS}


@pytest.mark.parametrize("case", PYTHON)
def test_the_reference_solution_keeps_the_asserts(case: str) -> None:
    assert failures(PROGRAMS[case]["right"], SPECS[case]["asserts"]) == []


@pytest.mark.parametrize("case", PYTHON)
def test_a_wrong_solution_breaks_an_assert(case: str) -> None:
    assert failures(PROGRAMS[case]["wrong"], SPECS[case]["asserts"]) != []


@pytest.mark.parametrize("case", SQL)
def test_the_reference_query_gives_the_rows_in_order(case: str) -> None:
    spec = SPECS[case]
    expected = [tuple(row) for row in spec["rows"]] if "rows" in spec else sorted(rows(spec["query"], spec["setup"]))
    assert rows(PROGRAMS[case]["right"], spec["setup"]) == expected
    assert expected


@pytest.mark.parametrize("case", SQL)
def test_a_wrong_query_gives_other_rows(case: str) -> None:
    spec = SPECS[case]
    expected = [tuple(row) for row in spec["rows"]] if "rows" in spec else rows(spec["query"], spec["setup"])
    assert sorted(rows(PROGRAMS[case]["wrong"], spec["setup"])) != sorted(expected)


@pytest.mark.parametrize("case", ["account", "spent-per-customer"])
def test_the_grader_agrees_in_its_sandbox(case: str, judged: Callable[..., Judgement]) -> None:
    language = SPECS[case]["language"]
    for quality, outcome in (("right", "PASS"), ("wrong", "FAIL")):
        reply = f"Here it is:\n\n```{language}\n{PROGRAMS[case][quality]}\n```\n\nIt does what you asked for."
        assert judged("code", case, reply).outcome == outcome, quality
