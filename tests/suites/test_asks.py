"""What a case sends."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_mtp.core.case import Case, Suite

MakeCase = Callable[[str], Case]
TOOL = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}


@pytest.mark.parametrize(
    "tools",
    [
        "{f: {description: d, parameters: {type: object}}}",
        "{f: {type: function, function: {name: f, description: d, parameters: {type: object}}}}",
        "[{type: function, function: {name: f, description: d, parameters: {type: object}}}]",
    ],
    ids=["short", "whole by name", "whole in a list"],
)
def test_tools_reach_the_server_in_openai_format(tools: str, case: MakeCase) -> None:
    made = case(f"tools: {tools}\ncases: [{{id: a, ask: Hi?, tools: [f], expect: {{no_call: true}}}}]")
    assert made.ask is not None
    assert made.ask.tools == (TOOL,)


def test_a_tool_can_be_offered_whole_beside_named_ones(case: MakeCase) -> None:
    made = case("""
        tools: {f: {description: d, parameters: {type: object}}}
        cases: [{id: a, ask: Hi?, tools: [f, {type: function, function: {name: g}}], expect: {no_call: true}}]
    """)
    assert made.ask is not None
    assert made.ask.tools == (TOOL, {"type": "function", "function": {"name": "g"}})


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("auto", "auto"),
        ("none", "none"),
        ("required", "required"),
        ("{name: f}", {"type": "function", "function": {"name": "f"}}),
        ("{type: function, function: {name: f}}", {"type": "function", "function": {"name": "f"}}),
    ],
)
def test_a_tool_choice_is_sent_in_openai_format(written: str, sent: object, case: MakeCase) -> None:
    made = case(f"tools: {{f: {{}}}}\ncases: [{{id: a, ask: Hi?, tools: [f], tool_choice: {written}, expect: {{no_call: true}}}}]")
    assert made.ask is not None
    assert made.ask.tool_choice == sent


def test_arguments_written_as_a_mapping_are_sent_as_json_text(case: MakeCase) -> None:
    made = case("""
        cases:
          - id: a
            messages:
              - {role: user, content: Hi?}
              - {role: assistant, tool_calls: [{id: c, function: {name: f, arguments: {city: Zürich, n: 1}}}]}
              - {role: assistant, content: x, tool_calls: [{id: c, type: function, function: {name: f, arguments: "{broken"}}]}
              - {role: tool, tool_call_id: c, content: ok}
            expect: {text: hi}
    """)
    assert made.ask is not None
    first, second = made.ask.messages[1:3]
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"city": "Zürich", "n": 1}'}}
    assert first == {"role": "assistant", "content": None, "tool_calls": [call]}
    assert second == {"role": "assistant", "content": "x", "tool_calls": [{**call, "function": {"name": "f", "arguments": "{broken"}}]}


def test_modifiers_of_calls_are_options_and_no_kinds(case: MakeCase) -> None:
    made = case("""
        tools: {f: {}}
        cases: [{id: a, ask: Hi?, tools: [f], expect: {ordered: true, calls: [{name: f}], extra_args: allow, contains: x}}]
    """)
    assert [expect.kind for expect in made.expect] == ["calls", "contains"]
    assert [expect.options for expect in made.expect] == [{"ordered": True, "extra_args": "allow"}, {}]


@pytest.mark.parametrize(
    ("argument", "parameters"),
    [
        ("{city: {title: x, date: soon}}", "{type: object, properties: {city: {type: object}}}"),
        ("{city: {one_off: x}}", "{type: object, properties: {city: {}}}"),
        ("{other: 1}", "{type: object}"),
        ("{other: 1}", "{type: object, properties: {city: {}}, additionalProperties: true}"),
        ("{other: 1}", "{type: object, properties: {city: {}}, anyOf: [{properties: {other: {}}}]}"),
        ("{other: {absent: true}}", "{type: object, properties: {city: {}}, additionalProperties: false}"),
    ],
    ids=["literal mapping", "parameter of any type", "no properties", "open", "combined", "absent"],
)
def test_arguments_that_a_tool_may_take_are_not_refused(argument: str, parameters: str, load: Callable[[str], Suite]) -> None:
    suite = load(f"""
        tools: {{f: {{parameters: {parameters}}}}}
        cases: [{{id: a, ask: Hi?, tools: [f], expect: {{calls: [{{name: f, arguments: {argument}}}]}}}}]
    """)
    assert suite.cases[0].kind == "tools"


@pytest.mark.parametrize(
    "text",
    ["2026-01-31", "2026-01-31T12:30:00Z", "2026-01", "9:30", "12:30:05+02:00", "24:00", "2026-01-31T08:00:00.5-0300"],
)
def test_dates_of_iso_8601_are_taken(text: str, case: MakeCase) -> None:
    assert case(f"cases: [{{id: a, ask: When?, expect: {{date: '{text}'}}}}]").expect[0].spec == text


@pytest.mark.parametrize(
    "schema",
    [
        "{$ref: '#/$defs/a', $defs: {a: {type: integer}}}",
        "{$defs: {a/b: {type: integer}}, properties: {x: {$ref: '#/$defs/a~1b'}}}",
        "{$schema: 'http://json-schema.org/draft-07/schema#', definitions: {a: {}}, items: [{$ref: '#/definitions/a'}]}",
        "{properties: {$ref: {type: string}}}",
        "{enum: [{$ref: '#/nowhere'}]}",
        "{$defs: {tree: {properties: {kids: {items: {$ref: '#/$defs/tree'}}}}}, $ref: '#/$defs/tree'}",
        "{$defs: {a: {$anchor: here}}, $ref: '#here'}",
        "{prefixItems: [{type: integer}], unevaluatedItems: false}",
    ],
)
def test_sound_schemas_are_taken(schema: str, case: MakeCase) -> None:
    assert case(f"cases: [{{id: a, ask: What?, expect: {{json_schema: {schema}}}}}]").expect[0].kind == "json_schema"
