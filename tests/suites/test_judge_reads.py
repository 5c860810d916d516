"""What a suite may say, the judge can read: no case is refused only after its answers were paid for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import Case, Expect
from pytest_mtp.core.errors import SuiteError
from pytest_mtp.core.exchange import Exchange, Timeline
from pytest_mtp.core.reply import Reply, ToolCall
from pytest_mtp.judge.judgement import GradeContext
from pytest_mtp.judge.pipeline import judge
from pytest_mtp.judge.registry import known_kinds
from pytest_mtp.suites.document import Document
from pytest_mtp.suites.expects import expects_of
from pytest_mtp.suites.load import load_suite
from pytest_mtp.suites.schema import SUITE, schemas
from pytest_mtp.suites.validation import validate_expect

CASES = [case for case in load_suite(Path(__file__).with_name("good") / "everything.yaml").cases if case.ask is not None]
MODIFIERS = {"ordered", "extra", "extra_args", "at_least"}
CALL = ToolCall(id="1", type="function", name="get_weather", arguments='{"city": "Paris", "days": "3", "tags": ["b", "a"]}')
REPLIES = [
    Reply(content="The answer is 32.", finish_reason="stop"),
    Reply(content='```json\n{"a": [1, 2]}\n```', finish_reason="stop"),
    Reply(content=None, tool_calls=(CALL,), finish_reason="tool_calls"),
]
SCALARS = st.sampled_from([None, True, False, 0, -1, 2.5, "", " ", "a", "2026-01-31", "12:30", "ratio", "allow"])
LISTS = st.sampled_from([[], ["a"], [1, "b"], {}, {"value": 1}, {"value": "a"}, {"one_of": ["a"]}])
NAMES = ["value", "one_of", "rel", "percent", "case", "fuzzy", "options", "schema", "ignore", "ordered", "regex"]
KEYS = [*NAMES, "timeout_s", "max_words", "number", "absent"]


def judged(ask: Ask, expects: tuple[Expect, ...], reply: Reply) -> str:
    exchange = Exchange(ask=ask, url="http://x/v1", model="m", reply=reply, timeline=Timeline(sent_ns=1, done_ns=2))
    return judge(exchange, expects, context=GradeContext(case_severity="model", references={"control": "32"})).outcome


def test_the_schema_and_the_judge_know_the_same_kinds() -> None:
    assert set(schemas()[SUITE]["definitions"]["expect"]["properties"]) - MODIFIERS == set(known_kinds())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
@pytest.mark.parametrize("reply", REPLIES, ids=["words", "JSON", "a call"])
def test_each_kind_of_expectation_is_judged(case: Case, reply: Reply) -> None:
    assert case.ask is not None
    assert judged(case.ask, case.expect, reply) in {"PASS", "FAIL", "INCONCLUSIVE"}


def places(value: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place, *(inner for key, item in items for inner in places(item, (*place, key)))]


def changed(value: Any, place: tuple[Any, ...], key: str | None, other: Any) -> Any:
    if not place:
        return {**value, key: other} if key is not None and isinstance(value, dict) else other
    first, rest = place[0], place[1:]
    if isinstance(value, dict):
        return {name: changed(item, rest, key, other) if name == first else item for name, item in value.items()}
    return [changed(item, rest, key, other) if index == first else item for index, item in enumerate(value)]


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_what_the_loader_accepts_never_surprises_the_judge(data: st.DataObject) -> None:
    case = data.draw(st.sampled_from(CASES))
    assert case.ask is not None
    written = {expect.kind: expect.spec for expect in case.expect}
    place = data.draw(st.sampled_from(places(written)[1:]))
    written = changed(written, place, data.draw(st.none() | st.sampled_from(KEYS)), data.draw(SCALARS | LISTS))
    document = Document(value=written, mark=1, shown="x")
    try:
        validate_expect(document)
        expects = expects_of(document, written, (), case.ask.tools)
    except SuiteError:
        return
    for reply in REPLIES:
        assert judged(case.ask, expects, reply) in {"PASS", "FAIL", "INCONCLUSIVE"}
