"""What a person reads, the graded answer, the rates, and mistakes in a suite."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import Expect
from pytest_mtp.core.errors import UsageError
from pytest_mtp.core.exchange import Exchange, Timeline
from pytest_mtp.core.reply import Reply, ToolCall
from pytest_mtp.judge.judgement import GradeContext, Judgement, View
from pytest_mtp.judge.pipeline import judge
from pytest_mtp.judge.tools.answer import canonical_calls
from pytest_mtp.judge.tools.graders import grade_any_call, grade_calls, grade_no_call, tool_findings
from pytest_mtp.judge.tools.rates import Trigger, dispatch_rate, schema_accuracy, trigger_rates

WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "unit": {"enum": ["C", "F"], "default": "C"}, "note": {"type": "string"}},
    "required": ["city"],
}
ASK = Ask(
    messages=({"role": "user", "content": "What is the weather in Paris?"},),
    tools=({"type": "function", "function": {"name": "get_weather", "parameters": WEATHER}},),
)
CONTEXT = GradeContext()
PARIS = [{"name": "get_weather", "arguments": {"city": "Paris"}}]
GRADERS = {"calls": grade_calls, "no_call": grade_no_call, "any_call": grade_any_call}


def call(id_: str = "a", /, **arguments: Any) -> ToolCall:
    return ToolCall(id=id_, type="function", name="get_weather", arguments=json.dumps(arguments))


def reply(*calls: ToolCall, **fields: Any) -> Reply:
    return Reply(content=fields.pop("content", None), tool_calls=calls, finish_reason="tool_calls" if calls else "stop", **fields)


def graded(given: Reply, spec: Any, kind: str = "calls", **options: Any) -> Judgement:
    view = View(text=given.text, reasoning=given.reasoning or "", reply=given, ask=ASK)
    return GRADERS[kind](view, Expect(kind=kind, spec=spec, options=options), CONTEXT)


def title(given: Reply, spec: Any, kind: str = "calls", **options: Any) -> str:
    return graded(given, spec, kind, **options).findings[0].title


def test_a_wrong_value_names_both_calls_and_the_place() -> None:
    assert title(reply(call(city="Rome")), PARIS) == "expected get_weather(city='Paris'), got get_weather(city='Rome'): /city"


def test_matchers_are_told_in_words() -> None:
    spec = [{"name": "get_weather", "arguments": {"city": {"one_of": ["Paris", "Paris, France"]}}}]
    assert title(reply(call(city="Rome")), spec).startswith("expected get_weather(city=one of 'Paris', 'Paris, France'), got")


def test_the_argument_that_differs_is_never_cut_away() -> None:
    long = {"city": "Paris", "note": "x" * 300}
    words = title(reply(call(**long, unit="F")), [{"name": "get_weather", "arguments": {**long, "unit": "C"}}])
    assert "unit='C'" in words
    assert "unit='F'" in words
    assert len(words) < 300


def test_long_texts_are_shown_one_under_the_other() -> None:
    note = "The quick brown fox jumps over the lazy dog and runs away."
    spec = [{"name": "get_weather", "arguments": {"city": "Paris", "note": note}}]
    detail = graded(reply(call(city="Paris", note=note.replace("lazy", "lame"))), spec).findings[0].detail
    assert "^ first difference" in detail


def test_a_lost_call_names_what_is_missing() -> None:
    two = [*PARIS, {"name": "get_weather", "arguments": {"city": "Rome"}}]
    assert title(reply(call(city="Paris")), two) == "expected 2 calls, got 1: missing get_weather(city='Rome')"


def test_a_leak_shows_both_sides() -> None:
    text = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
    judgement = graded(reply(content=text), PARIS)
    (finding,) = judgement.findings  # the model did its part: no TOOL.missing beside it
    assert finding.code == "TOOL.leak"
    assert finding.detail == f"in the text  {text}\non the wire  no call"


def test_a_leak_of_the_wrong_call_is_also_a_missing_call() -> None:
    text = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>'
    assert [finding.code for finding in graded(reply(content=text), PARIS).findings] == ["TOOL.leak", "TOOL.missing"]


def test_reasoning_in_plain_words_blames_the_parser_for_lost_arguments() -> None:
    judgement = graded(reply(call(), reasoning="I should call get_weather with Paris."), PARIS)
    assert [finding.code for finding in judgement.findings] == ["TOOL.args_empty", "TOOL.intent"]
    assert "the reasoning means get_weather(city='Paris')" in judgement.findings[1].title


def test_reasoning_about_another_city_blames_nobody_else() -> None:
    judgement = graded(reply(call(), reasoning="I should call get_weather with Parisian manners."), PARIS)
    assert [finding.code for finding in judgement.findings] == ["TOOL.args_empty"]


def test_reasoning_that_was_followed_by_an_answer_is_no_intent() -> None:
    judgement = graded(reply(content="It is sunny.", reasoning="I could call get_weather with Paris."), PARIS)
    assert [finding.code for finding in judgement.findings] == ["TOOL.missing"]


def test_replies_that_pass_have_one_answer() -> None:
    spec = [{"name": "get_weather", "arguments": {"city": {"one_of": ["Paris", "Paris, France"]}}}]
    answers = {graded(reply(call(city=city, **more)), spec).answer for city in ("Paris", "paris, france") for more in ({}, {"unit": "C"})}
    assert answers == {'[{"arguments":{"city":"Paris"},"name":"get_weather"}]'}


def test_a_reply_that_fails_answers_with_its_own_calls() -> None:
    assert graded(reply(call(city="Rome", unit="C")), PARIS).answer == '[{"arguments":{"city":"Rome"},"name":"get_weather"}]'


def test_the_canonical_answer_forgets_ids_order_and_spelling_of_numbers() -> None:
    one = (ToolCall(id="a", type="function", name="f", arguments='{"x": 5.0, "y": [1]}'), call("b", city="Paris"))
    other = (call("c", city="Paris"), ToolCall(id="d", type="function", name="f", arguments='{"y":[1],"x":5}'))
    assert canonical_calls(one) == canonical_calls(other)
    assert canonical_calls(one, ordered=True) != canonical_calls(other, ordered=True)


def test_no_call_answers_with_an_empty_list() -> None:
    assert graded(reply(content="Hello."), True, "no_call").answer == "[]"


def test_any_call_answers_with_the_names() -> None:
    assert graded(reply(call(city="Oslo")), "get_weather", "any_call").answer == '["get_weather"]'


def test_a_reply_without_expectation_is_still_held_to_the_wire() -> None:
    given = reply(ToolCall(id=None, type="function", name="get_weather", arguments="{"))
    view = View(text="", reasoning="", reply=given, ask=ASK)
    assert [finding.code for finding in tool_findings(view, CONTEXT)] == ["TOOL.id", "TOOL.args_json"]


def test_the_pipeline_reaches_the_grader() -> None:
    exchange = Exchange(ask=ASK, url="http://127.0.0.1:1/v1", model="m", reply=reply(call(city="Rome")), timeline=Timeline(sent_ns=0))
    judgement = judge(exchange, (Expect(kind="calls", spec=PARIS),), context=CONTEXT)
    assert (judgement.outcome, judgement.code) == ("FAIL", "TOOL.value")


@pytest.mark.parametrize(
    ("kind", "spec", "options", "words"),
    [
        ("calls", "get_weather", {}, "expected a list of"),
        ("calls", [{"arguments": {}}], {}, "expected {name, arguments}"),
        ("calls", [{"name": "f", "argument": {}}], {}, "did you mean 'arguments'"),
        ("calls", [{"name": "f", "arguments": []}], {}, "expected a mapping of arguments"),
        ("calls", PARIS, {"extra": "yes"}, "extra is 'allow'"),
        ("calls", PARIS, {"at_least": 2}, "from 0 to 1"),
        ("calls", [{"name": "get_weather", "arguments": {"city": {"one_of": "Paris"}}}], {}, "/city: one_of is a list"),
        ("calls", [{"name": "get_weather", "arguments": {"city": {"regex": "("}}}], {}, "does not compile"),
        ("calls", [{"name": "get_weather", "arguments": {"city": {"number": "x"}}}], {}, "/city: number, rel and abs are numbers"),
        ("calls", [{"name": "get_weather", "arguments": {"city": {"date": "soon"}}}], {}, "/city: date is an ISO date"),
        ("calls", [{"name": "get_weather", "arguments": {"city": {"any": False}}}], {}, "write {any: true}"),
        ("no_call", False, {}, "write no_call: true"),
        ("any_call", 3, {}, "expected a name"),
        ("any_call", [], {}, "no tool is named"),
    ],
    ids=[
        "no-list", "no-name", "misspelt-key", "arguments-a-list", "extra-a-word", "at-least-too-many", "one-of-a-text", "regex-broken",
        "number-a-text", "date-a-word", "any-false", "no-call-false", "any-call-a-number", "any-call-of-none",
    ],
)  # fmt: skip
def test_a_mistake_in_the_suite_is_told_in_one_line(kind: str, spec: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as caught:
        graded(reply(call(city="Rome")), spec, kind, **options)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_literal_object_may_look_like_a_matcher_where_the_schema_says_so() -> None:
    schema = {"type": "object", "properties": {"when": {"type": "object", "properties": {"date": {"type": "string"}}}}}
    ask = Ask(messages=ASK.messages, tools=({"type": "function", "function": {"name": "book", "parameters": schema}},))
    given = reply(ToolCall(id="a", type="function", name="book", arguments='{"when": {"date": "tomorrow"}}'))
    view = View(text="", reasoning="", reply=given, ask=ask)
    spec = [{"name": "book", "arguments": {"when": {"date": "tomorrow"}}}]
    assert grade_calls(view, Expect(kind="calls", spec=spec), CONTEXT).outcome == "PASS"


def test_a_dispatch_rate_has_an_exact_interval() -> None:
    measure = dispatch_rate(10, 10)
    assert measure.value == 1.0
    assert measure.interval is not None
    assert measure.interval.method == "clopper-pearson"
    assert measure.interval.low == pytest.approx(0.025 ** (1 / 10))  # (alpha / 2)^(1 / n)


def test_a_rate_of_nothing_has_no_value() -> None:
    assert dispatch_rate(0, 0).value is None


def test_trigger_rates_count_what_both_call() -> None:
    pairs = [(True, True), (True, True), (True, False), (False, True), (False, False)]
    precision, recall, f1 = trigger_rates([Trigger(called=a, reference=b) for a, b in pairs])
    assert (precision.value, precision.n) == (2 / 3, 3)
    assert (recall.value, recall.n) == (2 / 3, 3)
    assert (f1.value, f1.n) == (2 / 3, 5)


def test_trigger_rates_of_no_calls_have_no_value() -> None:
    assert [measure.value for measure in trigger_rates([Trigger(called=False, reference=False)])] == [None, None, None]


def test_schema_accuracy_counts_a_leaking_reply_against_the_server() -> None:
    leaking = reply(content='<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>')
    replies = [(ASK, reply(call(city="Paris"))), (ASK, leaking), (ASK, reply(call(city=5))), (ASK, reply(content="Hello."))]
    measure = schema_accuracy(replies)
    assert (measure.value, measure.n) == (0.5, 4)
    assert schema_accuracy(replies, [True, True, True, True]).value == 0.25
