"""An honest fake: right, consistent between its forms, and repeatable."""

from __future__ import annotations

import json
import math

import pytest
from jsonschema import validate

from pytest_mtp.selftest.tokens import split

PROSE = "Why is the sky blue?"


def test_a_stream_says_what_the_whole_reply_says(honest, asked):
    whole, stream = honest.choice(**asked), honest.streamed(**asked)
    calls = [{"id": call["id"], **call["function"]} for call in whole["message"].get("tool_calls", ())]
    assert stream["tool_calls"] == calls
    assert (stream["content"] or None) == whole["message"]["content"]
    assert stream["finish"] == whole["finish_reason"]
    assert stream["done"]


def test_a_stream_counts_what_the_whole_reply_counts(honest, asked):
    whole = honest.post(body(asked))["usage"]
    del whole["prompt_tokens_details"]  # how much of a prompt is cached depends on what was asked before
    assert honest.streamed(**asked)["usage"] == whole


def body(asked):
    fields = {name: value for name, value in asked.items() if name != "prompt"}
    return {"messages": [{"role": "user", "content": asked["prompt"]}], "temperature": 0, **fields}


def test_the_same_question_gets_the_same_answer(honest, asked):
    assert honest.choice(**asked) == honest.choice(**asked)


def test_another_process_would_give_the_same_answer(honest, talk, asked):
    assert talk().choice(**asked) == honest.choice(**asked)


def test_counts_add_up(honest, asked):
    usage = honest.post(body(asked))["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]


def test_tokens_of_the_logprobs_spell_the_text(honest, spoken):
    choice = honest.choice(**spoken, logprobs=True, top_logprobs=2)
    assert "".join(entry["token"] for entry in choice["logprobs"]["content"]) == choice["message"]["content"]


def test_each_token_is_the_best_of_its_alternatives(honest):
    for entry in honest.choice(PROSE, logprobs=True, top_logprobs=20)["logprobs"]["content"]:
        logprobs = [top["logprob"] for top in entry["top_logprobs"]]
        assert entry["token"] == entry["top_logprobs"][0]["token"]
        assert logprobs == sorted(logprobs, reverse=True)
        assert len({top["token"] for top in entry["top_logprobs"]}) == 20
        assert 0.99 < sum(map(math.exp, logprobs)) <= 1.0001


def test_prompt_tokens_grow_with_the_prompt_and_with_tools(honest, asked):
    short = honest.post({"messages": [{"role": "user", "content": "Hi"}]})["usage"]["prompt_tokens"]
    assert honest.post(body(asked))["usage"]["prompt_tokens"] > short


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 8, 17])
def test_a_full_budget_is_reported_and_kept(honest, limit):
    reply = honest.post({"messages": [{"role": "user", "content": PROSE}], "max_tokens": limit})
    assert reply["usage"]["completion_tokens"] == limit
    assert reply["choices"][0]["finish_reason"] == "length"
    assert len(split(reply["choices"][0]["message"]["content"])) == limit


def test_a_budget_inside_a_call_cuts_its_arguments(honest, called):
    whole = honest.choice(**called)["message"]["tool_calls"]
    cut = honest.choice(**called, max_tokens=22)
    assert cut["finish_reason"] == "length"
    assert whole[0]["function"]["arguments"].startswith(cut["message"]["tool_calls"][0]["function"]["arguments"])
    assert honest.streamed(**called, max_tokens=22)["finish"] == "length"


def test_each_token_is_its_own_continuation(honest):
    tokens = split(honest.text(PROSE, max_tokens=40))
    for place in range(len(tokens)):
        messages = [{"role": "user", "content": PROSE}, {"role": "assistant", "content": "".join(tokens[:place])}]
        reply = honest.post({"messages": messages, "temperature": 0, "max_tokens": 1, "logprobs": True, "top_logprobs": 2})
        entry = reply["choices"][0]["logprobs"]["content"][0]
        assert (entry["token"], entry["top_logprobs"][0]["token"]) == (tokens[place], tokens[place])


def test_a_continuation_has_the_logprobs_of_the_whole(honest):
    whole = honest.choice(PROSE, max_tokens=20, logprobs=True, top_logprobs=3)["logprobs"]["content"]
    prefix = "".join(entry["token"] for entry in whole[:7])
    messages = [{"role": "user", "content": PROSE}, {"role": "assistant", "content": prefix}]
    rest = honest.post({"messages": messages, "temperature": 0, "max_tokens": 13, "logprobs": True, "top_logprobs": 3})
    assert rest["choices"][0]["logprobs"]["content"] == whole[7:]


def test_a_continued_answer_ends_where_the_whole_ends(honest, spoken):
    whole = honest.text(**spoken)
    messages = [{"role": "user", "content": spoken["prompt"]}, {"role": "assistant", "content": whole[: len(whole) // 2]}]
    rest = honest.post({**body(spoken), "messages": messages})["choices"][0]
    assert whole[: len(whole) // 2] + rest["message"]["content"] == whole
    assert rest["finish_reason"] == "stop"


def test_after_the_end_comes_nothing(honest):
    messages = [{"role": "user", "content": "What is 2+3? Only the number."}, {"role": "assistant", "content": "5"}]
    reply = honest.post({"messages": messages, "max_tokens": 1})
    assert (reply["choices"][0]["message"]["content"], reply["choices"][0]["finish_reason"]) == ("", "stop")
    assert reply["usage"]["completion_tokens"] == 1


def test_a_sampled_prefix_is_continued_at_its_place(honest):
    sampled = honest.text(PROSE, temperature=1.0, seed=5, max_tokens=20)
    greedy = split(honest.text(PROSE, max_tokens=30))
    messages = [{"role": "user", "content": PROSE}, {"role": "assistant", "content": sampled}]
    rest = honest.post({"messages": messages, "temperature": 0, "max_tokens": 10})["choices"][0]["message"]["content"]
    assert split(rest) == greedy[20:]


def test_a_seed_repeats_and_seeds_differ(honest):
    made = [honest.text(PROSE, temperature=1.0, seed=seed) for seed in (1, 1, 2)]
    assert made[0] == made[1] != made[2]


def test_unseeded_samples_differ(honest):
    assert honest.text(PROSE, temperature=1.0) != honest.text(PROSE, temperature=1.0)


@pytest.mark.parametrize(
    "still", [{"temperature": 0, "seed": 9}, {"temperature": 1.0, "top_k": 1}, {"temperature": 1.0, "top_p": 0.01}], ids=str
)
def test_these_are_greedy(honest, still):
    assert honest.text(PROSE, **still) == honest.text(PROSE)


def test_sampling_leaves_certain_answers_alone(honest):
    assert {honest.text("What is 6*7? Only the number.", temperature=1.5, seed=seed) for seed in range(20)} == {"42"}


def test_several_choices_differ_when_sampling(honest):
    reply = honest.post({"messages": [{"role": "user", "content": PROSE}], "temperature": 1.0, "seed": 3, "n": 3, "max_tokens": 60})
    assert [choice["index"] for choice in reply["choices"]] == [0, 1, 2]
    assert len({choice["message"]["content"] for choice in reply["choices"]}) == 3
    assert reply["usage"]["completion_tokens"] == 180


def test_a_banned_token_does_not_come(honest):
    entry = honest.choice(PROSE, max_tokens=6, logprobs=True)["logprobs"]["content"][3]
    banned = honest.text(PROSE, max_tokens=6, logit_bias={str(entry["id"]): -100})
    assert entry["token"] not in split(banned)


def test_a_penalty_changes_the_words(honest):
    assert honest.text("Write a long story.", frequency_penalty=2.0) != honest.text("Write a long story.")


@pytest.mark.parametrize("form", ["choice", "streamed"])
@pytest.mark.parametrize("stop", [" and", ["never there", ","], "e"], ids=str)
def test_nothing_comes_after_a_stop_word(honest, form, stop):
    whole = honest.text(PROSE)
    first = min(place for word in ([stop] if isinstance(stop, str) else stop) if (place := whole.find(word)) >= 0)
    reply = getattr(honest, form)(PROSE, stop=stop)
    text = reply["content"] if form == "streamed" else reply["message"]["content"]
    assert text == whole[:first]
    assert (reply.get("finish") or reply.get("finish_reason")) == "stop"


def test_logprobs_spell_a_stopped_text_too(honest):
    choice = honest.choice(PROSE, stop="ou", logprobs=True)
    assert choice["message"]["content"].startswith("".join(entry["token"] for entry in choice["logprobs"]["content"][:-1]))


def test_json_schema_is_obeyed(honest):
    schema = {
        "type": "object",
        "properties": {
            "id": {"type": "string", "format": "uuid"},
            "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 2},
            "size": {"type": "number", "exclusiveMinimum": 3, "multipleOf": 0.5},
            "note": {"anyOf": [{"type": "null"}, {"type": "string"}]},
            "part": {"$ref": "#/$defs/part"},
        },
        "required": ["id", "tags", "size", "note", "part"],
        "additionalProperties": False,
        "$defs": {"part": {"type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on"]}},
    }
    text = honest.text("Anything.", response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": schema}})
    validate(json.loads(text), schema)


def test_json_object_is_an_object(honest):
    assert json.loads(honest.text("What is 2+3?", response_format={"type": "json_object"})) == {"answer": 5}


def test_events_are_framed_as_the_protocol_says(honest, asked):
    *chunks, last = honest.events(**asked)
    assert last == "[DONE]"
    assert len({chunk["id"] for chunk in chunks}) == 1
    assert chunks[0]["choices"][0]["delta"]["role"] == "assistant"
    assert [chunk["choices"][0]["finish_reason"] is not None for chunk in chunks[:-1]].index(True) == len(chunks) - 2
    assert chunks[-1]["choices"] == []
    assert chunks[-1]["usage"]["completion_tokens"] > 0


def test_usage_stays_out_of_a_stream_that_did_not_ask(honest):
    request = {"messages": [{"role": "user", "content": PROSE}], "stream": True}
    _, raw = honest.request("POST", "/v1/chat/completions", json.dumps(request).encode())
    assert b'"usage"' not in raw
    assert b'"timings"' in raw
