"""Several turns: results are used, calls are not repeated, pending ids are answered, states are as expected."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.exchange import Exchange, Fault, Timeline
from pytest_mtp.core.record import Json
from pytest_mtp.core.reply import Reply, ToolCall
from pytest_mtp.judge.tools.simulation import Simulator, state_findings, states_after
from pytest_mtp.judge.tools.turns import after_result_findings, past_calls, turn_findings, uses_result

TOOLS = tuple(
    {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in ("get_weather", "put", "get", "delete")
)
USER = {"role": "user", "content": "What is the weather in Paris?"}


def called(id_: str = "a", name: str = "get_weather", **arguments: Json) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments or {"city": "Paris"})}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": id_, "type": "function", "function": function}]}


def result(content: str, id_: str = "a") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id_, "content": content}


def ask(*messages: Mapping[str, Any]) -> Ask:
    return Ask(messages=messages, tools=TOOLS)


def text(words: str) -> Reply:
    return Reply(content=words, finish_reason="stop")


def call(name: str = "get_weather", id_: str | None = "b", **arguments: Json) -> Reply:
    wire = ToolCall(id=id_, type="function", name=name, arguments=json.dumps(arguments or {"city": "Paris"}))
    return Reply(content=None, tool_calls=(wire,), finish_reason="tool_calls")


def exchange(asked: Ask, reply: Reply | None) -> Exchange:
    fault = None if reply else Fault(kind="timeout", code="INFRA.timeout", message="no answer")
    return Exchange(ask=asked, url="http://127.0.0.1:1/v1", model="m", reply=reply, fault=fault, timeline=Timeline(sent_ns=0))


def codes(findings: tuple[Any, ...]) -> list[str]:
    return [f"{finding.code} {finding.severity}" for finding in findings]


AFTER = ask(USER, called(), result('{"temperature": 18.0, "sky": "cloudy"}'))


@pytest.mark.parametrize(
    "words",
    ["It is 18 °C and cloudy.", "18 degrees.", "18,0 Grad, bewölkt", "Cloudy today.", "About 18."],
    ids=["both", "number", "other-decimal-mark", "word", "rounded"],
)
def test_an_answer_that_uses_the_result_is_fine(words: str) -> None:
    assert after_result_findings(text(words), AFTER, "model") == ()


def test_an_answer_that_ignores_the_result_is_told() -> None:
    (finding,) = after_result_findings(text("I cannot look up the weather."), AFTER, "regression")
    assert (finding.code, finding.severity) == ("TOOL.after_result", "regression")
    assert "temperature" in finding.title


def test_the_same_call_again_after_its_result_is_told() -> None:
    (finding,) = after_result_findings(call(city="paris"), AFTER, "regression")
    assert (finding.code, finding.where) == ("TOOL.after_result", "call 0")
    assert "get_weather(city='paris') again" in finding.title


def test_another_call_after_a_result_is_fine() -> None:
    assert after_result_findings(call(city="Rome"), AFTER, "model") == ()


def test_a_user_may_ask_for_the_same_thing_again() -> None:
    again = ask(USER, called(), result("18"), {"role": "assistant", "content": "18 degrees"}, {"role": "user", "content": "And now?"})
    assert after_result_findings(call(), again, "model") == ()


def test_a_call_without_a_result_may_be_made_again() -> None:
    assert after_result_findings(call(), ask(USER, called()), "model") == ()


@pytest.mark.parametrize(
    ("words", "content", "known", "used"),
    [
        ("It is 18.4 degrees", '{"t": 18.4}', "", True),
        ("It is 18 degrees", '{"t": 18.4}', "", True),
        ("It is 25 degrees", '{"t": 18.4}', "", False),
        ("3 degrees below zero", '{"t": -3}', "", True),
        ("1,234 people", '{"people": 1234}', "", True),
        ("Order AB-17 is on its way", '{"order": "AB-17", "ok": true}', "", True),
        ("Your order is on its way", '{"order": "AB-17", "ok": true}', "Where is my order?", False),
        ("Es regnet.", '{"sky": "rainy"}', "", None),
        ("Done.", '{"ok": true}', "", None),
        ("It is Paris", '{"city": "Paris"}', "What about Paris?", None),
        ("18 degrees", "18 degrees and windy", "", True),
        ("Nice weather", "18 degrees and windy", "", False),
    ],
    ids=[
        "same",
        "rounded",
        "other",
        "sign-in-words",
        "grouped",
        "identifier",
        "identifier-left-out",
        "translated",
        "nothing-telling",
        "known-before",
        "prose",
        "prose-unused",
    ],
)
def test_use_of_a_result_is_seen_by_what_only_it_can_tell(words: str, content: str, known: str, *, used: bool | None) -> None:
    assert uses_result(words, content, known) is used


def test_past_calls_carry_their_results_and_take_mappings_as_arguments() -> None:
    message = called()
    message["tool_calls"][0]["function"]["arguments"] = {"city": "Paris"}
    (past,) = past_calls(ask(USER, message, result("18")))
    assert (past.name, past.arguments, past.result) == ("get_weather", {"city": "Paris"}, "18")


def test_a_conversation_in_order_has_nothing_to_tell() -> None:
    first = exchange(ask(USER), call(id_="a"))
    second = exchange(AFTER, text("18 degrees"))
    assert turn_findings([first, second], "model") == ()


def test_a_call_that_got_no_result_is_a_note_about_the_conversation() -> None:
    first = exchange(ask(USER), call(id_="zzz"))
    second = exchange(AFTER, text("18 degrees"))
    assert codes(turn_findings([first, second], "model")) == ["TOOL.id note"]


def test_a_call_that_nobody_can_answer_is_the_servers_fault() -> None:
    first = exchange(ask(USER), call(id_=None))
    second = exchange(AFTER, text("18 degrees"))
    assert codes(turn_findings([first, second], "model")) == ["TOOL.id critical"]


def test_a_turn_without_a_reply_is_passed_over() -> None:
    assert turn_findings([exchange(ask(USER), None)], "model") == ()


class Shelf:
    """Things on a shelf."""

    def __init__(self) -> None:
        self.things: dict[str, Json] = {}

    def call(self, name: str, arguments: Mapping[str, Json]) -> Json:
        if name == "put":
            self.things[str(arguments["what"])] = arguments.get("count", 1)
        elif name == "delete":
            del self.things[str(arguments["what"])]
        return dict(self.things)

    def state(self) -> Mapping[str, Json]:
        return {"things": dict(self.things)}


def turn(*replies: Reply) -> list[Exchange]:
    return [exchange(ask(USER), reply) for reply in replies]


def expected(*turns: list[tuple[str, dict[str, Json]]]) -> tuple[Mapping[str, Json], ...]:
    shelf: Simulator = Shelf()
    return states_after(shelf, turns)


def test_the_same_state_by_another_way_passes() -> None:
    wanted = expected([("put", {"what": "cup", "count": 2})])
    assert state_findings([turn(call("put", what="cup"), call("put", what="cup", count=2))], Shelf(), wanted, "model") == ()


def test_the_first_turn_with_another_state_is_told() -> None:
    wanted = expected([("put", {"what": "cup"})], [("put", {"what": "pot"})])
    (finding,) = state_findings([turn(call("put", what="cup")), turn(call("put", what="pan"))], Shelf(), wanted, "regression")
    assert (finding.code, finding.severity, finding.where) == ("TOOL.value", "regression", "turn 1")
    assert "/things" in finding.title


def test_a_refusal_of_the_tool_changes_nothing() -> None:
    wanted = expected([("put", {"what": "cup"})])
    assert state_findings([turn(call("delete", what="pot"), call("put", what="cup"))], Shelf(), wanted, "model") == ()


def test_a_result_that_was_never_fetched_is_told_although_the_state_is_right() -> None:
    wanted = expected([("get", {})])
    (finding,) = state_findings([turn(text("Nothing there."))], Shelf(), wanted, "model", results=[[{}]])
    assert "no call gave the result {}" in finding.title
