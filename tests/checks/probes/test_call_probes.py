"""The probes of cut calls and of an agent's session, each against a lawful server and against the fault that it is for."""

from __future__ import annotations

import json

import pytest

from pytest_mtp.checks.kinds import check_for
from pytest_mtp.core.case import Case, Source
from pytest_mtp.core.errors import NotOffered
from pytest_mtp.core.exchange import Fault
from pytest_mtp.core.reply import Reply, ToolCall, Usage

WHOLE = 30
"""Tokens of the whole call."""

REFUSAL = Fault(kind="refused", code="PROTO.refused", message="400 no tools", status=400, body="{}")
CRASH = Fault(kind="server_error", code="INFRA.5xx", message="500, the server failed", status=500, body="Internal Server Error")


def run(kind, server, **params):
    return check_for(kind)(Case(id="c", suite="s", source=Source(path="s", line=1), check=kind, params=params), server)


def codes(verdict):
    return [found.code for found in verdict.findings]


def made(text="", *, reason="stop", calls=(), tokens=4, prompt=9):
    usage = Usage(prompt_tokens=prompt, completion_tokens=tokens, total_tokens=prompt + tokens)
    return Reply(content=text, tool_calls=tuple(calls), finish_reason=reason, usage=usage)


def call(query="x", *, id_="c1", arguments=None):
    return ToolCall(id=id_, type="function", name="find", arguments=arguments or json.dumps({"query": query}), index=0)


def cutting(half):
    """A server that calls, and what it makes of a budget below the whole call."""

    def answer(ask):
        budget = ask.sampling.max_tokens
        return made(reason="tool_calls", calls=[call()], tokens=WHOLE) if budget >= WHOLE else half(budget)

    return answer


@pytest.mark.parametrize(
    "half",
    [
        pytest.param(lambda budget: made(reason="length", tokens=budget), id="nothing is left of it"),
        pytest.param(lambda budget: made('<tool_call>{"name": "fi', reason="length", tokens=budget), id="its markup"),
        pytest.param(lambda budget: made(reason="length", calls=[call(arguments='{"que')], tokens=budget), id="a fragment"),
    ],
)
def test_a_cut_call_that_says_so(memory, half):
    verdict = run("cut_calls", memory(cutting(half)))
    assert (verdict.outcome, codes(verdict), verdict.exchanges) == ("PASS", [], 3)


@pytest.mark.parametrize(
    ("half", "code"),
    [
        pytest.param(lambda _budget: CRASH, "PROTO.no_reply", id="the request fails"),
        pytest.param(lambda budget: made(reason="tool_calls", calls=[call(arguments="{}")], tokens=budget), "PROTO.finish", id="complete"),
        pytest.param(lambda budget: made(reason="stop", tokens=budget), "PROTO.finish", id="a natural end"),
    ],
)
def test_a_cut_call_that_breaks_the_reply(memory, half, code):
    verdict = run("cut_calls", memory(cutting(half)))
    assert (verdict.outcome, codes(verdict)) == ("FAIL", [code, code])
    assert [found.where for found in verdict.findings] == ["cut, unstreamed", "cut, streamed"]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        pytest.param(lambda _ask: made("I cannot."), "did not answer with a call alone", id="no call"),
        pytest.param(lambda _ask: made("Well:", reason="tool_calls", calls=[call()]), "did not answer with a call alone", id="words first"),
        pytest.param(lambda _ask: made(reason="tool_calls", calls=[call()], tokens=5), "how many tokens", id="too short"),
        pytest.param(cutting(lambda _budget: made("Oh.", tokens=3)), "ended by itself after 3 tokens", id="another answer"),
    ],
)
def test_a_call_that_cannot_be_cut_is_inconclusive(memory, answer, why):
    verdict = run("cut_calls", memory(answer))
    assert (verdict.outcome, why in verdict.reason) == ("INCONCLUSIVE", True)


def test_a_server_without_tools_is_skipped(memory):
    for kind in ("cut_calls", "agent_loop"):
        with pytest.raises(NotOffered, match="no tools"):
            run(kind, memory(lambda _ask: REFUSAL))


class Agent:
    """Calls for each question, says words after each result; counts its prompt by messages. `broken` may change any reply."""

    def __init__(self, broken=lambda _ask, reply: reply, *, calls=True):
        self.broken, self.calls, self.made = broken, calls, 0

    def __call__(self, ask):
        prompt = 10 * len(ask.messages)
        if ask.messages[-1]["role"] == "tool":
            reply = made(f"The result is {ask.messages[-1]['content']}", prompt=prompt)
        elif self.calls:
            self.made += 1
            words = ask.messages[-1]["content"].removeprefix("Call find for ")
            reply = made(reason="tool_calls", calls=[call(words, id_=f"c{self.made}")], prompt=prompt)
        else:
            reply = made("I would rather not.", prompt=prompt)
        return self.broken(ask, reply)


def test_a_session_of_six_turns(memory):
    server = memory(Agent())
    verdict = run("agent_loop", server)
    assert (verdict.outcome, codes(verdict), verdict.exchanges) == ("PASS", [], 12)
    assert [ask.stream for ask in server.asked[:4]] == [False, True, True, False]
    last = server.asked[-1].messages
    assert [message["role"] for message in last[:4]] == ["user", "assistant", "tool", "assistant"]
    assert [message["tool_calls"][0]["id"] for message in last if message.get("tool_calls")] == [f"c{turn}" for turn in range(1, 7)]


def test_calls_are_put_into_the_mouth_of_a_model_that_makes_none(memory):
    server = memory(Agent(calls=False))
    verdict = run("agent_loop", server, turns=3)
    assert (verdict.outcome, codes(verdict)) == ("PASS", [])
    assert {m.stratum: m.n for m in verdict.measures if m.stratum} == {"calls": 0, "words after a result": 3, "the history is read": 1}
    assert len([message for message in server.asked[-1].messages if message.get("tool_calls")]) == 3


def late(change):
    """From the third question on."""
    return lambda ask, reply: change(reply) if len(ask.messages) > 8 else reply


@pytest.mark.parametrize(
    ("broken", "code"),
    [
        pytest.param(late(lambda _reply: CRASH), "PROTO.no_reply", id="the history breaks the template"),
        pytest.param(
            late(lambda _reply: made('<tool_call>\n{"name": "find", "arguments": {"query": "x"}}\n</tool_call>', prompt=200)),
            "TOOL.leak",
            id="markup leaks later",
        ),
        pytest.param(
            late(lambda _reply: made(reason="tool_calls", calls=[call(arguments='{"q')], prompt=200)), "TOOL.args_json", id="json"
        ),
        pytest.param(late(lambda _reply: made("x", prompt=30)), "TOOL.template", id="the history is dropped"),
        pytest.param(late(lambda _reply: made("\ufffd\ufffd\ufffd", prompt=200)), "GEN.degenerate.replacement", id="a wreck"),
        pytest.param(late(lambda _reply: made("", prompt=200)), "GEN.empty", id="nothing"),
    ],
)
def test_a_session_that_breaks_in_a_later_turn(memory, broken, code):
    verdict = run("agent_loop", memory(Agent(broken)))
    assert verdict.outcome == "FAIL"
    assert code in codes(verdict)


def from_0(ask, reply):
    return made(reason="tool_calls", calls=[call(id_="call_0")], prompt=len(ask.messages)) if reply.tool_calls else reply


def test_ids_that_begin_again_in_each_reply_are_a_note(memory):
    verdict = run("agent_loop", memory(Agent(from_0)))
    assert (verdict.outcome, [(found.code, found.severity) for found in verdict.findings]) == ("PASS", [("TOOL.id", "note")])
