"""Tool calls put together from deltas, and what is said of deltas that break the rules."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_mtp.client.calls import CallAssembler
from pytest_mtp.core.reply import ToolCall


def part(index: object = 0, **fields: Any) -> dict[str, Any]:
    """A delta: `id` and `type` beside the function, `name` and `arguments` inside."""
    function = {name: fields.pop(name) for name in ("name", "arguments") if name in fields}
    return {**({} if index is None else {"index": index}), **fields, **({"function": function} if function else {})}


def assemble(*deltas: Any) -> tuple[list[tuple[str | None, str | None, str]], list[str]]:
    assembler = CallAssembler()
    for delta in deltas:
        assembler.feed([delta])
    calls = assembler.finish()
    return [(call.id, call.name, call.arguments) for call in calls], [f"{note.code} {note.detail}" for note in assembler.notes]


WHOLE = [("a", "f", '{"x": 1}')]
START = part(id="a", type="function", name="f", arguments="")


@pytest.mark.parametrize(
    ("deltas", "expected"),
    [
        pytest.param([part(id="a", name="f", arguments='{"x": 1}')], WHOLE, id="one-delta"),
        pytest.param([START, part(arguments='{"x"'), part(arguments=": 1}")], WHOLE, id="fragments"),
        pytest.param([part(id="a", name="f"), part(arguments='{"x": 1}'), part()], WHOLE, id="null-arguments-at-the-ends"),
        pytest.param([START, part(id="a", arguments='{"x": 1}')], WHOLE, id="the-id-repeated"),
        pytest.param([START, part(id="", arguments='{"x": 1}')], WHOLE, id="an-empty-id-in-a-fragment"),
        pytest.param([part(name="f", arguments=""), part(id="a", arguments='{"x": 1}')], WHOLE, id="a-late-id"),
        pytest.param(
            [START, part(arguments="{}"), part(1, id="b", name="g", arguments=""), part(1, arguments="[]")],
            [("a", "f", "{}"), ("b", "g", "[]")],
            id="two-calls",
        ),
        pytest.param(
            [START, part(1, id="b", name="g", arguments="["), part(arguments="{}"), part(1, arguments="]")],
            [("a", "f", "{}"), ("b", "g", "[]")],
            id="two-calls-interleaved",
        ),
    ],
)
def test_a_proper_stream_is_assembled_without_a_note(deltas: list[Any], expected: list[Any]) -> None:
    assert assemble(*deltas) == (expected, [])


@pytest.mark.parametrize(
    ("deltas", "expected", "note"),
    [
        pytest.param(
            [part(None, id="a", name="f", arguments='{"x"'), part(None, arguments=": 1}")],
            WHOLE,
            "TOOL.wire a streamed call has no index",
            id="no-index",
        ),
        pytest.param(
            [part(None, id="a", name="f", arguments="{}"), part(None, id="b", name="f", arguments="{}")],
            [("a", "f", "{}"), ("b", "f", "{}")],
            "TOOL.wire a streamed call has no index",
            id="two-calls-without-index",
        ),
        pytest.param(
            [part("0", id="a", name="f", arguments='{"x": 1}')],
            WHOLE,
            "TOOL.wire the index of a call is not an integer",
            id="index-as-text",
        ),
        pytest.param(
            [part(2, id="a", name="f", arguments='{"x": 1}')], WHOLE, "TOOL.wire the indices of the calls have a gap: 2", id="gap"
        ),
        pytest.param(
            [part(1, id="a", name="f", arguments='{"x": 1}')], WHOLE, "TOOL.wire the indices of the calls have a gap: 1", id="from-one"
        ),
        pytest.param(
            [START, part(id="b", arguments='{"x": 1}')], WHOLE, "TOOL.id the id of a call changes midway: 'a', then 'b'", id="id-changes"
        ),
        pytest.param(
            [part(id="a", name="f", arguments="{}"), part(id="b", name="f", arguments="{}")],
            [("a", "f", "{}"), ("b", "f", "{}")],
            "TOOL.wire index 0 stands for two calls: ids 'a' and 'b'",
            id="one-index-for-two-calls",
        ),
        pytest.param(
            [part(id="a", name="f", arguments='{"x"'), part(id="b", name="f", arguments=": 1}")],
            WHOLE,
            "TOOL.id the id of a call changes midway",
            id="a-new-id-for-each-fragment",
        ),
        pytest.param(
            [START, part(name="f", arguments='{"x": 1}')], WHOLE, "TOOL.wire the name of a call is sent again: 'f'", id="name-repeated"
        ),
        pytest.param(
            [part(id="a", name="get_"), part(name="weather", arguments="{}")],
            [("a", "get_weather", "{}")],
            "TOOL.wire the name of a call comes in pieces",
            id="name-in-pieces",
        ),
        pytest.param(
            [part(id="a", name="get_"), part(name="get_weather", arguments="{}")],
            [("a", "get_weather", "{}")],
            "TOOL.wire the name of a call is sent again",
            id="name-growing",
        ),
        pytest.param([part(id="a", name="f", arguments={"x": 1})], WHOLE, "TOOL.wire arguments are not a string", id="arguments-as-object"),
        pytest.param(
            [part(id=7, name="f", arguments='{"x": 1}')],
            [("7", "f", '{"x": 1}')],
            "TOOL.id id of a call is not a string",
            id="id-as-number",
        ),
        pytest.param(
            [part(id="a", name=3, arguments="")], [("a", "3", "")], "TOOL.wire name of a call is not a string", id="name-as-number"
        ),
        pytest.param(["f"], [], "TOOL.wire a call is not an object: 'f'", id="a-call-of-text"),
        pytest.param([None], [], "TOOL.wire a call is not an object: 'null'", id="a-null-call"),
        pytest.param(
            [{"index": 0, "id": "a", "function": "f"}], [("a", None, "")], "TOOL.wire function is not an object", id="function-as-text"
        ),
    ],
)
def test_a_breach_is_survived_and_noted(deltas: list[Any], expected: list[Any], note: str) -> None:
    calls, notes = assemble(*deltas)
    assert calls == expected
    assert any(found.startswith(note) for found in notes), notes


def test_each_kind_of_breach_is_noted_once() -> None:
    _, notes = assemble(*[part(None, id="a", name="f", arguments="x")] * 100)
    assert sorted(note.partition(":")[0] for note in notes) == [
        "TOOL.wire a streamed call has no index",
        "TOOL.wire the name of a call is sent again",
    ]


def test_a_list_that_is_none_is_noted() -> None:
    assembler = CallAssembler()
    assert assembler.feed({"index": 0}) == 0
    assert assembler.whole("x") == ()
    assert [note.detail for note in assembler.notes] == ["tool_calls is not a list: '{\"index\": 0}'"]


def test_characters_of_names_and_arguments_are_counted() -> None:
    assert CallAssembler().feed([part(id="a", name="abc", arguments="{}"), part(1, arguments="[1]")]) == 8


def test_whole_calls_need_no_index() -> None:
    assembler = CallAssembler()
    calls = assembler.whole([{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}])
    assert calls == (ToolCall(id="a", type="function", name="f", arguments="{}"),)
    assert assembler.notes == ()


@pytest.mark.parametrize(
    ("call", "note"),
    [
        pytest.param({"id": "a", "function": {"name": "f"}}, "a call has no arguments string", id="missing"),
        pytest.param({"id": "a", "function": {"name": "f", "arguments": None}}, "a call has no arguments string", id="null"),
        pytest.param({"id": "a", "function": {"name": "f", "arguments": {"x": 1}}}, "arguments are not a string", id="object"),
        pytest.param({"id": "a"}, "function is not an object", id="no-function"),
    ],
)
def test_whole_calls_without_an_arguments_string_are_noted(call: dict[str, Any], note: str) -> None:
    assembler = CallAssembler()
    assert len(assembler.whole([call])) == 1
    assert [(found.code, found.detail.startswith(note)) for found in assembler.notes] == [("TOOL.wire", True)]
