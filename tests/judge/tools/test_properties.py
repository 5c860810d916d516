"""What must hold for every reply: no exception, no dependence on order, and no reward for more calls."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import Expect
from pytest_mtp.core.reply import Reply, ToolCall
from pytest_mtp.judge.judgement import GradeContext, Judgement, View
from pytest_mtp.judge.tools.answer import canonical_calls
from pytest_mtp.judge.tools.arguments import parse_arguments
from pytest_mtp.judge.tools.assignment import assign, longest_in_order, most_pairs
from pytest_mtp.judge.tools.dialects import DIALECTS
from pytest_mtp.judge.tools.graders import grade_calls, grade_no_call, tool_findings
from pytest_mtp.judge.tools.leaks import leak_findings
from pytest_mtp.judge.tools.parity import stream_parity
from pytest_mtp.judge.tools.quick import surely_fits, surely_schema
from pytest_mtp.judge.tools.wire import wire_findings

NAMES = ("alpha", "beta")
SCHEMA = {
    "type": "object",
    "properties": {
        "a": {"type": "string"},
        "b": {"type": "integer"},
        "c": {"type": "array", "items": {"type": "string"}},
        "d": {"default": 1},
    },
}
ASK = Ask(
    messages=({"role": "user", "content": "go"},),
    tools=tuple({"type": "function", "function": {"name": name, "parameters": SCHEMA}} for name in NAMES),
)
CONTEXT = GradeContext()
FEW = settings(max_examples=120, deadline=None)

words = st.sampled_from(["x", "y", "z", "-5", "1.5"])
scalars = st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.floats(allow_nan=False, allow_infinity=False, width=32), words)
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3), max_leaves=6)
arguments = st.fixed_dictionaries(
    {}, optional={"a": words, "b": st.integers(-3, 3), "c": st.lists(words, max_size=3), "d": st.integers(0, 2)}
)
calls = st.lists(st.tuples(st.sampled_from(NAMES), arguments), max_size=4)
matchers = st.one_of(words, st.builds(lambda options: {"one_of": options}, st.lists(words, min_size=1, max_size=3)))
golds = st.lists(
    st.builds(
        lambda name, a, b: {"name": name, "arguments": {**({} if a is None else {"a": a}), **({} if b is None else {"b": b})}},
        st.sampled_from(NAMES),
        st.none() | matchers,
        st.none() | st.integers(-3, 3),
    ),
    max_size=4,
)
markers = st.sampled_from([marker for dialect in DIALECTS for marker in dialect.markers])
texts = st.lists(
    st.text(max_size=12) | markers | st.sampled_from(['{"name": "alpha", "arguments": {}}', "alpha", "(", "{", "}", "\n"]), max_size=8
).map("".join)


def reply_of(made: list[tuple[str, Any]], **fields: Any) -> Reply:
    wire = tuple(ToolCall(id=f"id{i}", type="function", name=n, arguments=json.dumps(a)) for i, (n, a) in enumerate(made))
    return Reply(content=None, tool_calls=wire, finish_reason="tool_calls" if wire else "stop", **fields)


def graded(reply: Reply, spec: list[Any], **options: Any) -> Judgement:
    view = View(text=reply.text, reasoning=reply.reasoning or "", reply=reply, ask=ASK)
    return grade_calls(view, Expect(kind="calls", spec=spec, options=options), CONTEXT)


@FEW
@given(golds, calls, st.randoms(use_true_random=False))
def test_the_verdict_does_not_depend_on_any_order(spec: list[Any], made: list[Any], chance: random.Random) -> None:
    first = graded(reply_of(made), spec)
    turned = [(name, dict(chance.sample(sorted(a.items()), len(a)))) for name, a in chance.sample(made, len(made))]
    second = graded(reply_of(turned), chance.sample(spec, len(spec)))
    assert (first.outcome, first.answer) == (second.outcome, second.answer)


@FEW
@given(golds, calls)
def test_the_accepted_calls_pass_and_say_the_same_answer(spec: list[Any], made: list[Any]) -> None:
    right = [(gold["name"], {key: v["one_of"][-1] if isinstance(v, dict) else v for key, v in gold["arguments"].items()}) for gold in spec]
    judgement = graded(reply_of(right), spec)
    assert judgement.outcome == "PASS", judgement.findings
    other = graded(reply_of(made), spec)
    assert other.outcome == "FAIL" or other.answer == judgement.answer


@FEW
@given(golds, calls, st.tuples(st.sampled_from(NAMES), arguments), st.integers(0, 4))
def test_one_more_call_never_turns_fail_into_pass_unless_it_was_missing(spec: list[Any], made: list[Any], extra: Any, at: int) -> None:
    if graded(reply_of(made), spec).outcome == "FAIL" and len(made) >= len(spec):
        assert graded(reply_of([*made[:at], extra, *made[at:]]), spec).outcome == "FAIL"


@FEW
@given(golds, calls)
def test_a_call_of_no_tool_never_turns_fail_into_pass(spec: list[Any], made: list[Any]) -> None:
    before = graded(reply_of(made), spec, extra="allow")
    after = graded(reply_of([*made, ("gamma", {})]), spec, extra="allow")
    assert after.outcome == "FAIL" or before.outcome == "PASS"


@FEW
@given(calls, st.sampled_from(["", " ", "\n\t "]), st.integers(0, 4))
def test_white_space_of_arguments_means_nothing(made: list[Any], space: str, indent: int) -> None:
    spec = [{"name": name, "arguments": a} for name, a in made]
    loose = tuple(
        ToolCall(id=f"id{i}", type="function", name=n, arguments=space + json.dumps(a, indent=indent) + space)
        for i, (n, a) in enumerate(made)
    )
    reply = Reply(content=None, tool_calls=loose, finish_reason="tool_calls" if loose else "stop")
    assert graded(reply, spec).outcome == "PASS"
    assert canonical_calls(loose) == canonical_calls(reply_of(made).tool_calls)


@FEW
@given(values)
def test_arguments_come_back_as_they_went(value: Any) -> None:
    parsed = parse_arguments(json.dumps({"v": value}))
    assert parsed.whole
    assert parsed.value == {"v": value}


@FEW
@given(st.dictionaries(words, values, max_size=3), st.integers(1, 40))
def test_a_cut_object_is_never_whole(value: dict[str, Any], missing: int) -> None:
    text = json.dumps(value)
    assert not parse_arguments(text[: -min(missing, len(text))]).whole


@FEW
@given(st.dictionaries(words, values, max_size=3), st.sampled_from(["}", "}}", "]", "\n}", " ] }"]))
def test_a_doubled_brace_is_always_seen(value: dict[str, Any], tail: str) -> None:
    assert parse_arguments(json.dumps(value) + tail).shape == "extra_brace"


@settings(max_examples=200, deadline=None)
@given(
    st.text(max_size=60) | texts,
    st.none() | st.text(max_size=12),
    st.none() | st.text(max_size=5),
    st.sampled_from(["stop", "length", None, "x"]),
)
def test_no_string_raises(text: str, name: str | None, id_: str | None, finish: str | None) -> None:
    wire = (
        ToolCall(id=id_, type=name, name=name, arguments=text),
        ToolCall(id=id_, type="function", name="alpha", arguments=text, index=3),
    )
    reply = Reply(content=text, reasoning=text, tool_calls=wire, finish_reason=finish)
    view = View(text=text, reasoning=text, reply=reply, ask=ASK)
    findings = [
        *wire_findings(reply, ASK, "model"),
        *leak_findings(text, text, ASK, reply),
        *tool_findings(view, CONTEXT),
        *stream_parity(reply, Reply(content=text), ASK),
        *graded(reply, [{"name": "alpha", "arguments": {"a": {"regex": "x"}}}]).findings,
        *grade_no_call(view, Expect(kind="no_call", spec=True), CONTEXT).findings,
    ]
    assert findings
    assert all(json.dumps(finding.to_dict()) for finding in findings)
    assert all(len(finding.title) < 400 and "\n" not in finding.title for finding in findings)


@FEW
@given(texts)
def test_text_alone_is_accused_of_nothing_but_leaks(text: str) -> None:
    found = leak_findings(text, "", ASK, Reply(content=text, finish_reason="stop"))
    assert {finding.code for finding in found} <= {"TOOL.leak", "TOOL.leak_malformed"}


@FEW
@given(texts)
def test_a_conversation_that_quotes_every_marker_is_about_markup(text: str) -> None:
    about = {"role": "user", "content": " ".join(marker for dialect in DIALECTS for marker in dialect.markers) + " as JSON"}
    ask = Ask(messages=(about,), tools=ASK.tools)
    assert leak_findings(text, "", ask, Reply(content=text, finish_reason="stop")) == ()


@pytest.mark.parametrize("nested", ["[" * 100_000, '{"a":' * 20_000, '{"a":[' * 60 + "]}" * 60, '"' * 9999, "{" * 5000 + "}" * 5000])
def test_deep_nesting_is_told_and_not_followed(nested: str) -> None:
    assert not parse_arguments(nested).whole


schemas = st.recursive(
    st.builds(dict, type=st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object"]))
    | st.builds(dict, enum=st.lists(scalars, min_size=1, max_size=3))
    | st.just({}),
    lambda inner: (
        st.builds(lambda items: {"type": "array", "items": items}, inner)
        | st.builds(
            lambda p, r: {"type": "object", "properties": p, "required": r},
            st.dictionaries(words, inner, max_size=3),
            st.lists(words, max_size=2, unique=True),
        )
        | st.builds(lambda p: {"properties": p, "additionalProperties": False}, st.dictionaries(words, inner, max_size=2))
    ),
    max_leaves=5,
)


@settings(max_examples=300, deadline=None)
@given(schemas, values)
def test_what_the_quick_check_accepts_jsonschema_accepts(schema: dict[str, Any], value: Any) -> None:
    if surely_fits(schema, value):
        assert jsonschema.Draft202012Validator(schema).is_valid(value)
        assert jsonschema.Draft4Validator(schema).is_valid(value)


@settings(max_examples=300, deadline=None)
@given(schemas | st.dictionaries(st.sampled_from(["type", "required", "enum", "items", "properties", "title"]), values, max_size=3))
def test_what_the_quick_check_takes_for_a_schema_is_one(schema: dict[str, Any]) -> None:
    if surely_schema(schema):
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.Draft4Validator.check_schema(schema)


edges = st.integers(1, 5).flatmap(
    lambda n: st.integers(1, 5).flatmap(lambda m: st.lists(st.lists(st.booleans(), min_size=m, max_size=m), min_size=n, max_size=n))
)


@FEW
@given(edges)
def test_a_matching_is_as_large_as_it_can_be(table: list[list[bool]]) -> None:
    paired = most_pairs(len(table), len(table[0]), lambda i, j: table[i][j])
    assert len({i for i, _ in paired}) == len({j for _, j in paired}) == len(paired)
    assert all(table[i][j] for i, j in paired)
    assert len(paired) == _augmented(table)


def _augmented(table: list[list[bool]]) -> int:
    """Size of a maximum matching by augmenting paths."""
    owner: dict[int, int] = {}

    def place(i: int, seen: set[int]) -> bool:
        for j, edge in enumerate(table[i]):
            if edge and j not in seen:
                seen.add(j)
                if j not in owner or place(owner[j], seen):
                    owner[j] = i
                    return True
        return False

    return sum(place(i, set()) for i in range(len(table)))


@FEW
@given(edges)
def test_the_longest_chain_rises_and_none_is_longer(table: list[list[bool]]) -> None:
    chain = longest_in_order(len(table), len(table[0]), lambda i, j: table[i][j])
    assert all(table[i][j] for i, j in chain)
    assert all(a < c and b < d for (a, b), (c, d) in itertools.pairwise(chain))
    best: dict[tuple[int, int], int] = {}
    for i in range(len(table)):
        for j in range(len(table[0])):
            here = 1 + max((n for (a, b), n in best.items() if a < i and b < j), default=0) if table[i][j] else 0
            best[i, j] = max(here, best.get((i - 1, j), 0), best.get((i, j - 1), 0))
    assert len(chain) == best[len(table) - 1, len(table[0]) - 1]


def test_an_assignment_of_nothing_is_empty() -> None:
    assert assign([]) == []
    assert assign([[]]) == []
