"""Chunks and bodies to a reply."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mtp.client.assemble import ProtocolError, StreamAssembler, reply_of_body
from pytest_mtp.client.sse import SseEvent
from pytest_mtp.core.exchange import ChunkStamp
from pytest_mtp.core.record import Record
from pytest_mtp.core.reply import Reply, TokenLogprob, TopToken, Usage
from tests.client.raw_server import completion, delta

USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
FINISH = delta("stop")


def assemble(*chunks: Any, done: bool = True) -> tuple[Reply, list[ChunkStamp]]:
    assembler = StreamAssembler()
    texts = [chunk if isinstance(chunk, str) else json.dumps(chunk) for chunk in chunks] + (["[DONE]"] if done else [])
    for at, text in enumerate(texts):
        assembler.feed(SseEvent(at_ns=at, data=text))
    return assembler.finish(headers={}, raw=""), assembler.stamps


def codes(reply: Reply) -> list[str]:
    return [note.code for note in reply.notes]


def with_choice(chunk: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {**chunk, "choices": [{**chunk["choices"][0], **fields}]}


def body(message: dict[str, Any] | None = None, **fields: Any) -> Reply:
    plain = completion()
    if message is not None:
        plain["choices"][0]["message"] = message  # type: ignore[index]  # a dict of objects
    return reply_of_body(json.dumps({**plain, **fields}), headers={"server": "x"}, raw="raw")


def test_a_stream_becomes_one_reply() -> None:
    reply, stamps = assemble(
        delta(role="assistant", content=""),
        delta(content="Pa"),
        delta(content="ris"),
        FINISH,
        {"id": "c1", "choices": [], "usage": USAGE, "timings": {"draft_n": 3}},
    )
    assert (reply.content, reply.finish_reason, reply.usage, reply.model, reply.id) == (
        "Paris",
        "stop",
        Usage(prompt_tokens=3, completion_tokens=2, total_tokens=5),
        "m",
        "c1",
    )
    assert reply.extras == {"timings": {"draft_n": 3}}
    assert codes(reply) == []
    assert [(stamp.kind, stamp.characters, stamp.at_ns) for stamp in stamps] == [
        ("role", 0, 0),
        ("content", 2, 1),
        ("content", 3, 2),
        ("finish", 0, 3),
        ("usage", 0, 4),
    ]


def test_content_is_none_when_only_nulls_came_and_empty_when_an_empty_text_came() -> None:
    assert assemble(delta(content=None), FINISH)[0].content is None
    assert assemble(delta(content=""), FINISH)[0].content == ""


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_reasoning_comes_under_two_names(name: str) -> None:
    reply, stamps = assemble(delta(**{name: "so "}), delta(**{name: "what"}), delta(content="x"), FINISH)
    assert (reply.reasoning, reply.content) == ("so what", "x")
    assert stamps[0].kind == "reasoning"
    assert body({"role": "assistant", "content": "x", name: "so"}).reasoning == "so"


def test_reasoning_sent_under_both_names_is_taken_once() -> None:
    assert assemble(delta(reasoning="so", reasoning_content="so"), FINISH)[0].reasoning == "so"


def test_a_refusal_is_kept_apart() -> None:
    assert assemble(delta(refusal="I "), delta(refusal="won't"), FINISH)[0].refusal == "I won't"


def test_tool_call_fragments_are_stamped_as_tool() -> None:
    start = {"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": ""}}
    reply, stamps = assemble(
        delta(tool_calls=[start]), delta(tool_calls=[{"index": 0, "function": {"arguments": "{}"}}]), delta("tool_calls")
    )
    assert [(call.name, call.arguments, call.type) for call in reply.tool_calls] == [("f", "{}", "function")]
    assert [(stamp.kind, stamp.characters) for stamp in stamps] == [("tool", 1), ("tool", 2), ("finish", 0)]


@pytest.mark.parametrize(
    ("chunks", "done", "expected"),
    [
        pytest.param([delta(content="x")], True, ["PROTO.truncated"], id="no-finish-reason"),
        pytest.param([delta(content="x")], False, ["PROTO.truncated", "PROTO.done"], id="cut"),
        pytest.param([delta(content="x"), FINISH], False, ["PROTO.done"], id="no-done"),
        pytest.param([FINISH, FINISH], True, ["PROTO.finish"], id="two-finish-reasons"),
        pytest.param([FINISH, delta(content="x")], True, ["PROTO.finish"], id="content-after-finish"),
        pytest.param([delta(content="x", role="assistant"), delta("length", role="assistant")], True, [], id="role-in-every-chunk"),
        pytest.param([with_choice(delta(content="x"), finish_reason=""), FINISH], True, [], id="empty-finish-reason-in-chunks"),
        pytest.param([with_choice(FINISH, finish_reason=7)], True, ["PROTO.finish"], id="finish-reason-as-number"),
        pytest.param([with_choice(FINISH, delta=None)], True, [], id="null-delta"),
        pytest.param([with_choice(FINISH, delta=[1])], True, ["PROTO.sse"], id="delta-as-list"),
        pytest.param(["7", "null", "[]", FINISH], True, ["PROTO.sse"] * 3, id="chunks-that-are-no-objects"),
        pytest.param([{"choices": None}, {"choices": [None]}, FINISH], True, [], id="null-choices"),
        pytest.param(["{oops", FINISH], True, ["PROTO.sse"], id="no-json"),
        pytest.param([{**FINISH, "error": None}], True, [], id="null-error"),
        pytest.param([with_choice(FINISH, index=1)], True, ["PROTO.truncated", "PROTO.sse"], id="choice-one-alone"),
        pytest.param([delta(content=["a"]), FINISH], True, ["PROTO.json"], id="content-as-list"),
        pytest.param([delta(function_call={"name": "f"}), FINISH], True, ["TOOL.wire"], id="legacy-call"),
        pytest.param([delta(function_call=None), FINISH], True, [], id="null-legacy-call"),
        pytest.param([{**FINISH, "usage": 7}], True, ["PROTO.usage"], id="usage-as-number"),
        pytest.param([{**FINISH, "usage": {"completion_tokens": "2"}}], True, ["PROTO.usage"], id="count-as-text"),
        pytest.param(['{"choices": [], "x": NaN}', FINISH], True, ["PROTO.json"], id="nan"),
    ],
)
def test_notes_of_a_stream(chunks: list[Any], done: bool, expected: list[str]) -> None:
    assert sorted(codes(assemble(*chunks, done=done)[0])) == sorted(expected)


def test_a_repeated_note_is_kept_once_and_many_are_bounded() -> None:
    assert codes(assemble(*["7"] * 50, FINISH)[0]) == ["PROTO.sse"]
    assert len(codes(assemble(*map(str, range(500)), FINISH)[0])) == 40


def test_an_event_without_its_blank_line_is_noted_but_not_for_done() -> None:
    assembler = StreamAssembler()
    assembler.feed(SseEvent(at_ns=0, data=json.dumps(FINISH), unterminated=True))
    assembler.feed(SseEvent(at_ns=1, data="[DONE]", unterminated=True))
    assert codes(assembler.finish(headers={}, raw="")) == ["PROTO.sse"]


def test_message_instead_of_delta_is_read_and_noted() -> None:
    chunk = {"choices": [{"index": 0, "message": {"content": "Paris"}, "finish_reason": "stop"}]}
    reply, _ = assemble(chunk)
    assert (reply.content, codes(reply)) == ("Paris", ["PROTO.sse"])


def test_other_choices_are_counted_and_left_out() -> None:
    one = {"index": 1, "delta": {"content": "b"}, "finish_reason": "stop"}
    two = {"index": 0, "delta": {"content": "a"}, "finish_reason": "stop"}
    assert (assemble({"choices": [one]}, {"choices": [two]})[0].content, assemble({"choices": [one, two]})[0].choices) == ("a", 2)
    plain = {"choices": [{"index": 1, "message": {"content": "b"}}, {"index": 0, "message": {"content": "a"}, "finish_reason": "stop"}]}
    reply = body(**plain)
    assert (reply.content, reply.choices) == ("a", 2)


LOGPROB = {"id": 5, "token": "a", "logprob": -0.5, "bytes": [97], "top_logprobs": [{"id": 5, "token": "a", "logprob": -0.5}]}


@pytest.mark.parametrize(
    ("fields", "count"),
    [
        pytest.param({"token_ids": [3575, 282]}, 2, id="token-ids"),
        pytest.param({"logprobs": {"content": [LOGPROB, LOGPROB, LOGPROB]}}, 3, id="logprobs"),
        pytest.param({"token_ids": [1, 2], "logprobs": {"content": [LOGPROB]}}, 2, id="ids-before-logprobs"),
        pytest.param({"token_ids": None, "logprobs": {"content": None}}, None, id="nulls"),
        pytest.param({"logprobs": {"content": []}}, None, id="an-empty-list-is-absence"),
        pytest.param({}, None, id="nothing-offered"),
    ],
)
def test_tokens_of_a_chunk_are_counted_only_where_they_are_offered(fields: dict[str, Any], count: int | None) -> None:
    _, stamps = assemble(with_choice(delta(content=" capital of"), **fields), {**FINISH, "usage": USAGE})
    assert [stamp.token_count for stamp in stamps] == [count, None]


def test_continuous_usage_counts_the_tokens_of_a_chunk() -> None:
    def usage(tokens: int) -> dict[str, Any]:
        return {"usage": {"completion_tokens": tokens}}

    reply, stamps = assemble(
        {**delta(role="assistant", content=""), **usage(0)},
        {**delta(content="a b"), **usage(3)},
        {**delta(content="c"), **usage(4)},
        FINISH,
    )
    assert [stamp.token_count for stamp in stamps] == [None, 3, 1, None]
    assert reply.usage == Usage(completion_tokens=4)


def test_usage_that_comes_once_says_nothing_of_single_chunks() -> None:
    _, stamps = assemble(delta(content="a b"), {**delta("stop", content="c"), "usage": USAGE})
    assert [stamp.token_count for stamp in stamps] == [None, None]


def test_usage_that_shrinks_is_noted() -> None:
    reply, _ = assemble({**delta(content="a"), "usage": {"completion_tokens": 4}}, {**FINISH, "usage": {"completion_tokens": 2}})
    assert codes(reply) == ["PROTO.usage"]
    assert reply.usage == Usage(completion_tokens=2)


def test_token_ids_and_logprobs_of_all_chunks_stand_in_the_reply() -> None:
    reply, _ = assemble(
        with_choice(delta(content="a"), token_ids=[1, 2], logprobs={"content": [LOGPROB]}), with_choice(FINISH, token_ids=[3])
    )
    assert reply.token_ids == (1, 2, 3)
    assert reply.logprobs == (TokenLogprob(token="a", logprob=-0.5, token_id=5, top=(TopToken(token="a", logprob=-0.5, token_id=5),)),)


def test_a_late_extra_is_added_and_a_late_null_erases_nothing() -> None:
    reply, _ = assemble(
        {**delta(content="a"), "timings": {"predicted_n": 1, "draft_n": 2}, "prompt_token_ids": [1]},
        {**FINISH, "timings": {"predicted_n": 2}, "prompt_token_ids": None, "sglext": {"x": 1}},
    )
    assert reply.extras == {"timings": {"predicted_n": 2, "draft_n": 2}, "prompt_token_ids": [1], "sglext": {"x": 1}}


def test_unnamed_fields_of_the_choice_stand_under_choice() -> None:
    assert assemble(with_choice(FINISH, stop_reason=2, matched_stop=None))[0].extras == {"choice": {"stop_reason": 2}}


def test_the_last_of_several_values_in_a_choice_counts() -> None:
    reply, _ = assemble(with_choice(delta(content="a"), tokens_per_step=1.0), with_choice(FINISH, tokens_per_step=2.5), delta(content=None))
    assert reply.extras == {"choice": {"tokens_per_step": 2.5}}


def test_a_body_keeps_unnamed_fields_of_its_choice_too() -> None:
    plain = completion()
    plain["choices"][0]["meta_info"] = {"spec_verify_ct": 3}  # type: ignore[index]  # a dict of objects
    assert reply_of_body(json.dumps(plain), headers={}, raw="").extras == {"choice": {"meta_info": {"spec_verify_ct": 3}}}


def test_unnamed_fields_of_usage_stand_under_usage() -> None:
    counts = {**USAGE, "prompt_tokens_details": {"cached_tokens": 1}, "reasoning_tokens": 0}
    assert body(usage={**counts, "accepted": 4, "rejected": None}).extras == {"usage": {"accepted": 4}}
    assert assemble(FINISH, {"choices": [], "usage": {**counts, "accepted": 4}})[0].extras == {"usage": {"accepted": 4}}
    assert body(usage=counts).extras == {}
    assert body(usage=[1]).extras == {}


@pytest.mark.parametrize(
    ("event", "says"),
    [
        pytest.param(SseEvent(at_ns=0, data='{"error": {"message": "boom"}}'), "error object in the stream", id="object"),
        pytest.param(SseEvent(at_ns=0, data='{"error": "boom", "choices": []}'), "error object in the stream", id="text"),
        pytest.param(SseEvent(at_ns=0, event="error", data="boom"), "error event in the stream", id="event-of-words"),
        pytest.param(SseEvent(at_ns=0, event="error", data='{"message": "boom"}'), "error object in the stream", id="event-of-json"),
    ],
)
def test_an_error_inside_a_stream_is_no_reply(event: SseEvent, says: str) -> None:
    assembler = StreamAssembler()
    assembler.feed(SseEvent(at_ns=0, data=json.dumps(delta(content="a"))))
    with pytest.raises(ProtocolError, match=says):
        assembler.feed(event)


def test_a_body_becomes_a_reply() -> None:
    reply = body(timings={"draft_n": 1}, system_fingerprint="b0", service_tier=None)
    assert (reply.content, reply.finish_reason, reply.system_fingerprint, reply.extras) == (
        "Paris",
        "stop",
        "b0",
        {"timings": {"draft_n": 1}},
    )
    assert (reply.headers, reply.raw, reply.notes) == ({"server": "x"}, "raw", ())


def test_a_body_without_finish_reason_is_noted() -> None:
    assert codes(body(choices=[{"index": 0, "message": {"content": "x"}}])) == ["PROTO.finish"]


def test_content_in_parts_is_joined_and_noted() -> None:
    reply = body({"content": [{"type": "text", "text": "Pa"}, "ris", {"type": "image"}]})
    assert (reply.content, codes(reply)) == ("Paris", ["PROTO.json"])


def test_surrogates_and_nul_are_kept_as_they_came() -> None:
    assert assemble('{"choices": [{"index": 0, "delta": {"content": "\\ud83d\\u0000"}, "finish_reason": "stop"}]}')[0].content == "\ud83d\0"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["index", "id", "name", "function", "text", "content", "token"]) | st.text(max_size=3), inner, max_size=3
        )
    ),
    max_leaves=6,
)
FIELDS = st.sampled_from(["content", "reasoning", "reasoning_content", "refusal", "tool_calls", "role"])
CHOICES = st.fixed_dictionaries(
    {},
    optional={
        "index": JSON,
        "delta": st.dictionaries(FIELDS, JSON, max_size=4) | JSON,
        "message": st.dictionaries(FIELDS, JSON, max_size=4) | JSON,
        "finish_reason": JSON,
        "logprobs": st.dictionaries(st.sampled_from(["content", "tokens", "token_logprobs"]), JSON, max_size=3) | JSON,
        "token_ids": JSON,
    },
)
CHUNKS = st.fixed_dictionaries(
    {}, optional={"choices": st.lists(CHOICES, max_size=2) | JSON, "usage": JSON, "error": JSON, "id": JSON, "timings": JSON}
)


def survives(record: Record) -> bool:
    return type(record).from_dict(json.loads(json.dumps(record.to_dict()))).to_dict() == record.to_dict()


@given(chunks=st.lists(CHUNKS | JSON, max_size=5))
def test_no_chunk_can_break_the_assembler(chunks: list[Any]) -> None:
    try:
        reply, stamps = assemble(*(json.dumps(chunk) for chunk in chunks))
    except ProtocolError:
        return
    assert survives(reply)
    assert all(survives(stamp) for stamp in stamps)


@given(plain=CHUNKS | JSON)
def test_no_body_can_break_the_assembler(plain: Any) -> None:
    try:
        reply = reply_of_body(json.dumps(plain), headers={}, raw="")
    except ProtocolError:
        return
    assert survives(reply)
