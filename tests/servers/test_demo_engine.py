"""The demo, for real: llama.cpp drafting with a trained head, on one thread."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from pytest_mtp.core.ask import Ask, Sampling
from pytest_mtp.core.errors import UsageError
from pytest_mtp.servers.attach import attach
from pytest_mtp.servers.demo.assemble import MODEL_SHA256, assemble
from pytest_mtp.servers.demo.cache import sha256_of
from pytest_mtp.servers.launch import launch

pytestmark = pytest.mark.engine

ROOT = str(Path(__file__).parents[2])
QUESTIONS = ("Why is the sky blue?", "Write a Python function that adds two numbers.", "Count from 1 to 20.")
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Current weather of a city",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
CONTROLLER = """
import sys, time
from pathlib import Path
from pytest_mtp.servers.launch import launch
server = launch("demo", run_dir=Path(sys.argv[1]), timeout_s=120)
print(server.facts.pid, flush=True)
time.sleep(600)
"""


def question(words, *, max_tokens=40, **more):
    return Ask(messages=({"role": "user", "content": words},), sampling=Sampling(max_tokens=max_tokens), **more)


def gone(pid):
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    """Launch a demo that is stopped at the end of the module."""

    def run(**params):
        servers.append(launch("demo", run_dir=tmp_path_factory.mktemp("run"), params=params, timeout_s=120))
        return servers[-1]

    servers = []
    yield run
    for server in servers:
        server.stop()


@pytest.fixture(scope="module")
def drafting(start):
    return start(depth=3)


@pytest.fixture(scope="module")
def plain(start):
    return start(speculation=False)


def spent(server, *asks):
    """The replies, and how far the server's counters moved."""
    before = server.engine.counters(server.client)
    replies = [server.client.ask(ask).reply for ask in asks]
    return replies, server.engine.counters(server.client).since(before).acceptance


def test_the_model_is_the_known_file():
    assert sha256_of(assemble()) == MODEL_SHA256


def test_the_server_tells_what_it_is(drafting):
    facts = drafting.facts
    assert (facts.engine, facts.model, facts.concurrency, facts.context_length) == ("llamacpp", "SmolLM2-135M-Instruct-MTP", 2, 4096)
    assert facts.engine_version.startswith("xllamacpp 20")
    assert facts.details["model_path"] == str(assemble())
    assert (facts.speculation.state, facts.speculation.method, facts.speculation.depth) == ("unknown", "draft-mtp", 3)
    assert facts.launched
    assert drafting.alive()
    seen = facts.capabilities
    assert (seen.logprobs, seen.metrics, seen.prefill, seen.request_acceptance, seen.usage_in_stream, seen.tools) == (True,) * 6


def test_counters_move_by_what_our_own_replies_say(drafting):
    replies, moved = spent(drafting, *(question(words, stream=stream) for words in QUESTIONS for stream in (False, True)))
    own = [drafting.engine.acceptance_of(reply) for reply in replies]
    assert moved.drafted == sum(one.drafted for one in own) > 0
    assert moved.accepted == sum(one.accepted for one in own) > 0


def test_the_counters_agree_with_each_other(drafting):
    counted = drafting.engine.counters(drafting.client).acceptance
    assert counted.accepted <= counted.drafted <= 3 * counted.rounds
    assert sum(counted.per_position) == counted.accepted
    assert list(counted.per_position) == sorted(counted.per_position, reverse=True)
    assert counted.per_position[0] <= counted.rounds


def test_one_token_is_never_drafted(drafting):
    replies, moved = spent(drafting, question(QUESTIONS[0], max_tokens=1))
    assert (moved.drafted, moved.rounds) == (0, 0)
    assert drafting.engine.acceptance_of(replies[0]).drafted == 0


def test_without_speculation_nothing_is_drafted_and_the_text_is_the_same(drafting, plain):
    asks = [question(words) for words in QUESTIONS]
    replies, moved = spent(plain, *asks)
    assert (moved.drafted, moved.accepted, moved.rounds) == (0, 0, 0)
    assert [plain.engine.acceptance_of(reply) for reply in replies] == [None] * 3
    assert plain.facts.speculation.state == "inactive"
    assert [reply.text for reply in replies] == [reply.text for reply in spent(drafting, *asks)[0]]


def test_a_prefix_is_continued_as_the_model_itself_would(drafting):
    ask = question(QUESTIONS[0], max_tokens=16, top_logprobs=1)
    tokens = [entry.token for entry in drafting.client.ask(ask).reply.logprobs]
    for place in (4, 8, 12):
        more = dataclasses.replace(drafting.engine.continuation(ask, "".join(tokens[:place])), sampling=Sampling(max_tokens=1))
        assert drafting.client.ask(more).reply.logprobs[0].token == tokens[place]


@pytest.mark.parametrize("stream", [False, True], ids=["unary", "stream"])
@pytest.mark.parametrize("choice", ["auto", "required"])
def test_the_template_makes_it_call_a_tool(drafting, stream, choice):
    reply = drafting.client.ask(
        question("Call get_weather for Paris", max_tokens=64, tools=(WEATHER,), tool_choice=choice, stream=stream)
    ).reply
    assert [(call.name, call.arguments) for call in reply.tool_calls] == [("get_weather", '{"city": "Paris"}')]
    assert reply.finish_reason == "tool_calls"


def test_of_two_tools_the_one_that_is_named_is_called(plain):
    other = {
        "type": "function",
        "function": {"name": "search", "parameters": {"type": "object", "properties": {"query": {"type": "string"}}}},
    }
    reply = plain.client.ask(question("Call get_weather for Oslo", max_tokens=64, tools=(other, WEATHER))).reply
    assert [(call.name, call.arguments) for call in reply.tool_calls] == [("get_weather", '{"city": "Oslo"}')]


def test_after_a_tool_result_it_answers_in_words(plain):
    call = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}
    messages = (
        {"role": "user", "content": "Call get_weather for Paris"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "18 degrees, sunny"},
    )
    reply = plain.client.ask(Ask(messages=messages, tools=(WEATHER,), sampling=Sampling(max_tokens=32))).reply
    assert reply is not None
    assert reply.text


def test_it_is_known_when_somebody_attaches_to_it(drafting):
    attached = attach(drafting.facts.endpoint.root, model=None, api_key_env=None, api_key=None, timeout_s=60)
    attached.client.close()
    facts = attached.facts
    assert (facts.engine, facts.engine_version, facts.concurrency, facts.launched) == ("llamacpp", None, 2, False)
    assert (facts.speculation.state, facts.speculation.method, facts.speculation.depth) == ("unknown", "draft-mtp", None)


def test_two_demos_run_side_by_side(drafting, plain):
    assert drafting.facts.endpoint.root != plain.facts.endpoint.root
    assert drafting.facts.pid != plain.facts.pid
    assert drafting.facts.details["alias"] != plain.facts.details["alias"]
    assert drafting.alive()
    assert plain.alive()


def test_a_taken_port_is_said(kit, start):
    stranger = kit.serve({"GET /v1/models": kit.models("SmolLM2-135M-Instruct-MTP"), "POST /v1/chat/completions": kit.answers})
    with pytest.raises(UsageError, match=f"port {stranger.port} for the demo server is taken"):
        start(port=stranger.port)
    assert "POST /v1/chat/completions" not in stranger.asked


def test_stop_leaves_no_process(start):
    server = start()
    pid = server.facts.pid
    kin = [pid, psutil.Process(pid).ppid(), *(child.pid for child in psutil.Process(pid).children(recursive=True))]
    server.stop()
    assert not server.alive()
    assert not any(psutil.pid_exists(one) for one in kin)


def test_a_killed_controller_leaves_no_server(tmp_path):
    controller = subprocess.Popen(
        [sys.executable, "-c", CONTROLLER, str(tmp_path)], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": ROOT}
    )
    with controller:
        pid = int(controller.stdout.readline())
        assert not gone(pid)
        os.kill(controller.pid, signal.SIGKILL)
    for _ in range(6000):
        if gone(pid):
            break
        time.sleep(0.01)
    assert gone(pid)
