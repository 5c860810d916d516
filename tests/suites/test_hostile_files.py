"""Files that are no files, files that are too much, and messages that stay short."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_mtp.core.case import Suite
from pytest_mtp.core.errors import SuiteError
from pytest_mtp.suites.load import load_suite
from pytest_mtp.suites.parsing import backends, parse

MakeSuite = Callable[[str], Suite]
LONG = "x" * 100_000


def refusal(load: MakeSuite, text: str) -> str:
    with pytest.raises(SuiteError) as caught:
        load(text)
    return str(caught.value)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.mtp.yaml")
    with pytest.raises(SuiteError, match="x:1: not a regular file"):
        load_suite(tmp_path / "a.mtp.yaml", shown="x")


def test_a_device_is_not_read_for_ever() -> None:
    with pytest.raises(SuiteError, match="x:1: not a regular file"):
        load_suite(Path("/dev/zero"), shown="x")


def test_a_folder_of_golden_answers_that_is_a_folder_of_folders(load: MakeSuite, tmp_path: Path) -> None:
    (tmp_path / "golden_answers" / "small" / "any.yaml").mkdir(parents=True)
    message = refusal(load, "cases: [{id: a, ask: Hi?}]\n")
    assert message == "golden_answers/small/any.yaml:1: the file cannot be read: Is a directory"


@pytest.mark.parametrize(
    "text",
    [
        f"{LONG}: 1\ncases: []\n",
        f"cases: [{{id: {LONG}, ask: Hi?, expect: {{number: 1}}}}]\n",
        f"cases: [{{id: a, ask: Hi?, expect: {{number: {LONG}}}}}]\n",
        f"cases: [{{id: a, ask: Hi?, expect: {{date: {LONG}}}}}]\n",
        f"cases: [{{id: a, ask: Hi?, expect: {{choice: {{value: {LONG}, options: [{LONG}a, b]}}}}}}]\n",
        f"cases: [{{id: a, ask: Hi?, tools: [{LONG}], expect: {{number: 1}}}}]\n",
        f"cases: [{{id: a, ask: Hi?, expect: {{json_schema: {{$ref: '#/{LONG}'}}}}}}]\n",
        f"cases: [{{id: a, ask: Hi?, expect: {{json: *{LONG}}}}}]\n",
        f"cases: [{{id: a, ask: Hi?, expect: {{json: !{LONG} 1}}}}]\n",
        f"cases: [{{id: a, ask: Hi?, tags: [a, {', '.join(f'b{n}' for n in range(5000))}, a], expect: {{number: 1}}}}]\n",
        f"tools: {{{', '.join(f't{n}: {{}}' for n in range(500))}}}\ncases: [{{id: a, ask: Hi?, tools: [zebra], expect: {{number: 1}}}}]\n",
    ],
    ids=["key", "id", "number", "date", "choice", "tool", "reference", "alias", "tag", "list", "many tools"],
)
def test_messages_stay_short(text: str, load: MakeSuite) -> None:
    assert len(refusal(load, text)) < 800


PATTERNS = {
    "never closed": "(" * 3000,
    "deep": "(?:" * 3000 + ")" * 3000,
    "too many": "a{99999999999}",
    "name twice": "(?P<a>x)(?P<a>y)",
    "backslash": "\\",
    "bracket": "[",
    "flag": "(?z)",
}


@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS)
def test_regular_expressions_that_python_cannot_take_are_refused(pattern: str, load: MakeSuite) -> None:
    quoted = pattern.replace("'", "''")
    assert "not a regular expression of Python" in refusal(load, f"cases: [{{id: a, ask: Hi?, expect: {{regex: '{quoted}'}}}}]\n")


@pytest.mark.parametrize("statement", ["(" * 5000, "-" * 100_000 + "1", "assert f() ==", "  assert 1"], ids=len)
def test_statements_that_python_cannot_take_are_refused(statement: str, load: MakeSuite) -> None:
    text = f"cases: [{{id: a, ask: Hi?, expect: {{code: {{language: python, asserts: ['{statement}']}}}}}}]\n"
    assert "not a Python statement" in refusal(load, text)


def test_the_deepest_document_that_is_taken_is_taken_everywhere(load: MakeSuite) -> None:
    depth = 45
    nested = "{all_of: [" * depth + "{number: 1}" + "]}" * depth
    schema = "{properties: {a: " * depth + "{type: integer, pattern: a}" + "}}" * depth
    value = "[" * 2 * depth + "1" + "]" * 2 * depth
    suite = load(
        f"cases:\n  - {{id: a, ask: Hi?, expect: {nested}}}\n  - {{id: b, ask: Hi?, expect: {{json_schema: {schema}}}}}\n"
        f"  - {{id: c, ask: Hi?, extra_body: {{a: {value}}}, expect: {{json: {value}}}}}\n"
    )
    assert Suite.from_dict(suite.to_dict()).to_dict() == suite.to_dict()
    broken = nested.replace("number: 1", "number: x")
    assert "expected a number" in refusal(load, f"cases: [{{id: a, ask: Hi?, expect: {broken}}}]\n")


def test_the_same_prompt_may_be_named_many_times(load: MakeSuite) -> None:
    cases = "".join(f"  - {{id: c{n}, ask: *question, expect: {{number: {n}}}}}\n" for n in range(1000))
    suite = load(f"description: &question How many?\ncases:\n{cases}")
    assert {case.ask.messages[0]["content"] for case in suite.cases if case.ask} == {"How many?"}


def test_without_libyaml_the_parser_in_python_does_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml.cyaml", None)
    assert backends() == ("python",)
    assert parse(b"a: [How many?, no]\n", "x").value == {"a": ["How many?", "no"]}
