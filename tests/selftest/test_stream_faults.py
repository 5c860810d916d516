"""Faults of streams alone: what a client that joins the deltas is left with."""

from __future__ import annotations

import pytest

CALLED = ("call", "two calls", "long call")


def test_a_truncated_stream_has_all_but_its_end(honest, talk, asked):
    end = {"finish": None, "usage": None, "done": False}
    assert talk(faults=["truncated-stream"]).streamed(**asked) == {**honest.streamed(**asked), **end}


def test_a_cut_stream_ends_in_the_middle(honest, talk, asked):
    stream, whole = talk(faults=["cut-stream"]).streamed(**asked), honest.streamed(**asked)
    assert (stream["finish"], stream["usage"], stream["done"]) == (None, None, False)
    assert (whole["content"] or "").startswith(stream["content"] or "")
    assert stream["content"] != whole["content"] or stream["tool_calls"] != whole["tool_calls"]


def test_a_stream_without_done_has_all_the_rest(honest, talk, asked):
    assert {**talk(faults=["no-done"]).streamed(**asked), "done": True} == honest.streamed(**asked)


def test_an_error_in_the_stream_is_its_last_event(talk, asked):
    last = talk(faults=["error-in-stream"]).events(**asked)[-1]
    assert last["error"]["code"] == 500


def test_arguments_are_lost_in_streams_only(honest, talk, asked):
    expected = honest.streamed(**asked)
    for call in expected["tool_calls"]:
        call["arguments"] = ""
    assert talk(faults=["stream-only-empty-arguments"]).streamed(**asked) == expected


@pytest.mark.parametrize("prompt", CALLED)
def test_only_the_last_fragment_of_streamed_arguments_is_lost(honest, talk, prompt):
    asked = honest.prompts[prompt]
    cut, whole = talk(faults=["lost-tail"]).streamed(**asked)["tool_calls"], honest.streamed(**asked)["tool_calls"]
    assert cut[:-1] == whole[:-1]
    assert cut[-1]["arguments"] != whole[-1]["arguments"]
    assert whole[-1]["arguments"].startswith(cut[-1]["arguments"])


def test_every_index_is_zero(talk):
    server = talk(faults=["zero-index"])
    calls = [call for event in server.events(**server.prompts["two calls"]) if event != "[DONE]" for call in calls_in(event)]
    assert {call["index"] for call in calls} == {0}
    assert len({call["id"] for call in calls if "id" in call}) == 2


def calls_in(event):
    return event["choices"][0]["delta"].get("tool_calls", ()) if event["choices"] else ()


@pytest.mark.parametrize("prompt", CALLED)
def test_arguments_come_twice_in_streams(honest, talk, prompt):
    asked = honest.prompts[prompt]
    doubled = [{**call, "arguments": 2 * call["arguments"]} for call in honest.streamed(**asked)["tool_calls"]]
    assert talk(faults=["repeated-arguments"]).streamed(**asked)["tool_calls"] == doubled


def test_the_first_words_of_a_stream_are_lost(honest, talk, spoken):
    whole, cut = honest.streamed(**spoken), talk(faults=["lost-first-delta"]).streamed(**spoken)
    assert whole["content"].endswith(cut["content"] or "")
    assert {**whole, "content": None} == {**cut, "content": None}
