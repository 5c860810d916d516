"""Kinds of expectations: known, unknown, and those that a user adds."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import Expect
from pytest_mtp.core.errors import UsageError
from pytest_mtp.core.reply import Reply
from pytest_mtp.judge import registry
from pytest_mtp.judge.judgement import GradeContext, Judgement, View, conclude
from pytest_mtp.judge.registry import grader_for, known_kinds, register

VIEW = View(text="x", reply=Reply(content="x"), ask=Ask(messages=({"role": "user", "content": "q"},)))


@pytest.fixture
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_graders", dict(registry._graders))


@pytest.mark.parametrize("kind", known_kinds())
def test_every_known_kind_has_a_grader(kind: str) -> None:
    assert callable(grader_for(kind))


def test_a_grader_of_ones_own_is_asked(clean: None) -> None:
    def shouting(view: View, expect: Expect, context: GradeContext) -> Judgement:
        return conclude(answer=view.text.upper())

    register("shouting", shouting)
    assert grader_for("shouting")(VIEW, Expect(kind="shouting", spec=True), GradeContext()).answer == "X"
    assert "shouting" in known_kinds()


def test_a_kind_has_the_form_of_a_key(clean: None) -> None:
    with pytest.raises(UsageError, match="identifier"):
        register("no-kind", grader_for("text"))


def test_an_unknown_kind_names_the_nearest_and_all() -> None:
    with pytest.raises(UsageError, match=r"there is no expectation 'chioce' .did you mean 'choice'.*known are all_of"):
        grader_for("chioce")


BAD: list[tuple[str, Any, str]] = [
    ("number", True, "expected a number"),
    ("number", "many", "expected a number"),
    ("number", float("nan"), "expected a number"),
    ("number", {"valeu": 3}, "did you mean 'value'"),
    ("number", {"rel": 3}, "'value' is missing"),
    ("number", {"value": 3, "rel": -1}, "rel must be"),
    ("number", {"value": 3, "sig_digits": 0}, "sig_digits must be"),
    ("number", {"value": 3, "percent": "yes"}, "percent must be"),
    ("choice", "", "expected a label"),
    ("choice", {"value": "E", "options": ["red", "blue"]}, "is none of the options"),
    ("choice", {"value": "A", "opts": []}, "did you mean 'options'"),
    ("text", ["a"], "expected a text"),
    ("text", {"value": "a", "fuzzy": 2}, "fuzzy must be"),
    ("text", {"value": "a", "case": "upper"}, "case must be"),
    ("contains", [], "expected a text or a list"),
    ("not_contains", [{}], "expected texts"),
    ("regex", "[", "is no regular expression"),
    ("list", "a, b", "expected a list"),
    ("set", [None], "an item is"),
    ("set", [{"nubmer": 3}], "did you mean 'number'"),
    ("date", "yesterday", "expected an ISO date"),
    ("date", "2024-02-30", "expected an ISO date"),
    ("json", {"value": 1, "ignored": []}, "did you mean 'ignore'"),
    ("json", {"value": 1, "ignore": ["a"]}, "starts with '/'"),
    ("json", {"value": 1, "rel": "x"}, "rel must be"),
    ("json", {"value": 1, "additional": "yes"}, "additional must be"),
    ("json_schema", {"type": "strin"}, "the schema is wrong"),
    ("json_schema", {"$ref": "https://example.org/x.json"}, "leads nowhere"),
    ("json_schema", 3, "is a mapping or a boolean"),
    ("language", "klingon", "is none of those that can be told"),
    ("language", 3, "expected a code"),
    ("length", 5, "expected a mapping"),
    ("length", {"max_word": 5}, "did you mean 'max_words'"),
    ("length", {"max_words": -5}, "must be a whole number"),
    ("math", None, "expected LaTeX"),
    ("math", {"val": 3}, "did you mean 'value'"),
    ("all_of", {"number": 3}, "expected a list of expectations"),
    ("any_of", [3], "expected an expectation"),
    ("same_as", "controll", "did you mean 'control'"),
]


@pytest.mark.parametrize(("kind", "spec", "words"), BAD, ids=[f"{kind}-{words[:12]}-{index}" for index, (kind, _, words) in enumerate(BAD)])
def test_a_spec_that_cannot_be_read_says_what_was_expected(kind: str, spec: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        grader_for(kind)(VIEW, Expect(kind=kind, spec=spec), GradeContext())
