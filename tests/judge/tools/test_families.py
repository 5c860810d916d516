"""Every dialect of the table: its call is recognised, its broken call is the model's, and talk about it accuses nobody."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.reply import Reply, ToolCall
from pytest_mtp.core.verdict import Finding
from pytest_mtp.judge.reasoning import split_reasoning
from pytest_mtp.judge.tools.leaks import leak_findings

HERE = Path(__file__).parent / "vectors"
WEATHER = yaml.safe_load((HERE / "tools.yaml").read_text(encoding="utf-8"))["get_weather"]
ASK = Ask(
    messages=({"role": "user", "content": "What will it be like in the French capital?"},),
    tools=({"type": "function", "function": {"name": "get_weather", **WEATHER}},),
)
CALL = ToolCall(id="a", type="function", name="get_weather", arguments=json.dumps({"city": "Paris", "days": 3}))
SHOWN = "get_weather(city='Paris', days=3)"


def families(key: str = "text", *, without: str = "") -> list[Any]:
    loaded = yaml.safe_load((HERE / "families.yaml").read_text(encoding="utf-8"))
    rows = [row for row in loaded if key in row and not (without and row.get(without))]
    return [pytest.param(row["family"], row[key], id=row.get("id", row["family"])) for row in rows]


def leaks(text: str, reasoning: str = "", *, ask: Ask = ASK, calls: tuple[ToolCall, ...] = ()) -> tuple[Finding, ...]:
    reply = Reply(content=text, reasoning=reasoning, tool_calls=calls, finish_reason="tool_calls" if calls else "stop")
    split = split_reasoning(reply)
    return leak_findings(split.text, split.reasoning, ask, reply, "regression")


def test_there_are_at_least_fourteen_families() -> None:
    assert len({param.values[0] for param in families()}) >= 14


@pytest.mark.parametrize(("family", "text"), families())
def test_a_complete_call_in_the_text_blames_the_parser(family: str, text: str) -> None:
    (finding,) = leaks(text)
    assert (finding.code, finding.severity) == ("TOOL.leak", "critical")
    assert SHOWN in finding.title
    assert family.split(",", maxsplit=1)[0] in finding.title
    assert "has no call" in finding.title


@pytest.mark.parametrize(("family", "text"), families())
def test_prose_before_the_call_changes_nothing(family: str, text: str) -> None:
    assert [finding.code for finding in leaks(f"Let me look that up.\n\n{text}")] == ["TOOL.leak"], family


@pytest.mark.parametrize(("family", "text"), families("broken"))
def test_a_broken_call_is_the_models(family: str, text: str) -> None:
    (finding,) = leaks(text)
    assert (finding.code, finding.severity) == ("TOOL.leak_malformed", "regression"), family


@pytest.mark.parametrize(("family", "text"), families(without="bare"))
def test_markup_beside_the_call_on_the_wire_is_a_leak(family: str, text: str) -> None:
    (finding,) = leaks(text, calls=(CALL,))
    assert (finding.code, finding.severity) == ("TOOL.leak", "critical"), family
    assert "beside the call on the wire" in finding.title


@pytest.mark.parametrize(("family", "text"), families(without="bare"))
def test_a_conversation_about_the_markup_accuses_nobody(family: str, text: str) -> None:
    ask = dataclasses.replace(ASK, messages=({"role": "user", "content": f"Explain this:\n{text}"},))
    assert leaks(f"It is a call:\n{text}\nand asks for the weather.", ask=ask) == (), family


@pytest.mark.parametrize(("family", "text"), families(without="fenced"))
def test_markup_in_a_code_fence_accuses_nobody(family: str, text: str) -> None:
    assert leaks(f"An example:\n````\n{text}\n````\nThat is all.") == (), family


@pytest.mark.parametrize(("family", "text"), families(without="bare"))
def test_reasoning_that_makes_the_call_blames_the_parser_for_an_empty_reply(family: str, text: str) -> None:
    (finding,) = leaks("", f"I will ask for it. {text}")
    assert (finding.code, finding.severity) == ("TOOL.intent", "critical"), family
    assert SHOWN in finding.title


@pytest.mark.parametrize("marker", ["<|tool_call_begin|>", "<｜tool▁sep｜>", "[ARGS]", "<think>"])
def test_a_long_program_about_markers_may_be_an_argument(marker: str) -> None:
    program = f"MARKER = '{marker}'\n" + "x = 1\n" * 400
    call = dataclasses.replace(CALL, arguments=json.dumps({"city": program}))
    assert leaks("", calls=(call,)) == ()


@pytest.mark.parametrize("marker", ["<|tool_call_begin|>", "<｜tool▁sep｜>", "[ARGS]", "</think>"])
def test_a_marker_at_the_end_of_a_long_argument_was_left_behind(marker: str) -> None:
    call = dataclasses.replace(CALL, arguments=json.dumps({"city": "x = 1\n" * 400 + marker}))
    assert [finding.code for finding in leaks("", calls=(call,))] == ["TOOL.leak"]
