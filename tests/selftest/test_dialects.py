"""Honest ways of writing: the reader of replies must see the same answer in all of them, and accuse none."""

from __future__ import annotations

import pytest

from pytest_mtp.client.http import HttpClient
from pytest_mtp.core.ask import Ask, Sampling
from pytest_mtp.core.errors import UsageError
from pytest_mtp.core.facts import Endpoint
from pytest_mtp.judge.judgement import GradeContext
from pytest_mtp.judge.pipeline import judge
from pytest_mtp.selftest import FakeServer
from pytest_mtp.selftest.dialects import DIALECTS

NOTES = {"missing-done": {"PROTO.done"}, "no-usage": {"PROTO.usage_missing"}}


def asks(prompts):
    for fields in prompts.values():
        for stream in (False, True):
            tools = tuple(fields.get("tools", ()))
            yield Ask(
                messages=({"role": "user", "content": fields["prompt"]},),
                tools=tools,
                response_format=fields.get("response_format"),
                sampling=Sampling(temperature=0.0, max_tokens=700),
                stream=stream,
                top_logprobs=None if tools else 2,
            )


def exchanges(server, prompts):
    endpoint = Endpoint(root=server.url, api_root=f"{server.url}/v1", model="fake-model")
    client = HttpClient(endpoint, timeout_s=20)
    try:
        return [client.ask(ask) for ask in asks(prompts)]
    finally:
        client.close()


@pytest.fixture(scope="module")
def plain(honest):
    return exchanges(honest.server, honest.prompts)


@pytest.mark.parametrize("name", [name for name in DIALECTS if name != "no-tools"])
def test_the_answer_is_the_same_and_nobody_is_accused(honest, talk, plain, name):
    server = talk(dialects=[name]).server
    for expected, exchange in zip(plain, exchanges(server, honest.prompts), strict=True):
        assert exchange.reply is not None, exchange.fault
        assert expected.reply is not None
        assert exchange.reply.text == expected.reply.text
        assert exchange.reply.tool_calls == expected.reply.tool_calls
        assert exchange.reply.finish_reason == expected.reply.finish_reason
        findings = judge(exchange, (), context=GradeContext(case_severity="critical", references={})).findings
        assert {finding.code for finding in findings} <= NOTES.get(name, set())


def test_all_dialects_together_are_still_understood(honest, talk, plain):
    names = [name for name in DIALECTS if name not in ("no-tools", "fine-chunks", "reasoning-content")]
    replies = [exchange.reply for exchange in exchanges(talk(dialects=names).server, honest.prompts)]
    assert [reply and (reply.text, reply.tool_calls) for reply in replies] == [(x.reply.text, x.reply.tool_calls) for x in plain]


def test_lines_end_in_crlf(talk):
    raw = talk(dialects=["crlf"]).raw_stream("What is 2+3?")
    assert raw.count(b"\n") == raw.count(b"\r\n") > 4


def test_comments_stand_between_events(talk):
    assert b": keep-alive\n" in talk(dialects=["keep-alive-comments"]).raw_stream("What is 2+3?")


def test_a_whole_reply_may_come_in_one_chunk(talk, spoken):
    events = talk(dialects=["coarse-chunks"]).events(**spoken)
    assert sum(bool(event["choices"] and event["choices"][0]["delta"].get("content")) for event in events if event != "[DONE]") == 1


def test_two_calls_may_come_in_one_chunk(talk):
    server = talk(dialects=["coarse-chunks"])
    deltas = [
        event["choices"][0]["delta"] for event in server.events(**server.prompts["two calls"]) if event != "[DONE]" and event["choices"]
    ]
    assert [len(delta.get("tool_calls", ())) for delta in deltas] == [0, 2, 0]


def test_what_is_not_offered_is_not_there(talk):
    server = talk(dialects=["no-usage", "no-logprobs", "no-metrics", "no-timings"])
    reply = server.post({"messages": [{"role": "user", "content": "hi"}], "logprobs": True})
    assert not {"usage", "timings"} & set(reply)
    assert "logprobs" not in reply["choices"][0]
    assert server.request("GET", "/metrics")[0] == 404


def test_tokens_of_a_verify_step_may_lack_logprobs(talk):
    entries = talk(dialects=["no-verified-logprobs"]).choice("Why is the sky blue?", logprobs=True, top_logprobs=2)["logprobs"]["content"]
    assert len(entries[0]["top_logprobs"]) == 2
    assert {(entry["logprob"], len(entry["top_logprobs"])) for entry in entries[1:]} == {(0.0, 0)}


def test_reasoning_stands_in_its_own_field(talk, honest):
    message = talk(dialects=["reasoning-content"]).choice("What is 2+3?")["message"]
    assert message["reasoning_content"]
    assert message["content"] == honest.text("What is 2+3?")


def test_without_prefill_the_answer_begins_anew(talk):
    server = talk(dialects=["no-prefill"])
    messages = [{"role": "user", "content": "What is 2+3?"}, {"role": "assistant", "content": "The result"}]
    assert server.post({"messages": messages})["choices"][0]["message"]["content"] == "The result is 5.\nAnswer: 5"


def test_without_tools_the_answer_is_words(talk, called):
    reply = talk(dialects=["no-tools"]).choice(**called)
    assert "tool_calls" not in reply["message"]
    assert reply["message"]["content"]


def test_an_unknown_dialect_is_refused_with_a_hint():
    with pytest.raises(UsageError, match="did you mean 'crlf'"):
        FakeServer(dialects=["clrf"])
