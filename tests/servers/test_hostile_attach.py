"""Servers that answer, and whose pages are traps: attaching ends with facts or with one error of ours, within its limits."""

from __future__ import annotations

import dataclasses
import gzip
import json
import re

import pytest

from pytest_mtp.client.http import HttpClient
from pytest_mtp.client.retry import RetryPolicy
from pytest_mtp.core.errors import InfraError, UsageError
from pytest_mtp.core.facts import Counters, ServerFacts
from pytest_mtp.servers.address import parse_address
from pytest_mtp.servers.attach import attach_with
from tests.client.raw_server import DONE, delta, event, raw_server, response, stream_head

OWNERS = ("vllm", "sglang", "llamacpp")
POSITION = 'vllm:spec_decode_num_accepted_tokens_per_pos_total{position="%s"} %s\n'
DRAFTS = "# TYPE vllm:spec_decode_num_%s_tokens counter\nvllm:spec_decode_num_%s_tokens_total %s\n"
EVIL = "\x1b[2J\x1b]0;owned\x07\x9b31m\r\n::error::x</details><script>"

PAGES = {
    "ten megabytes": b'{"a": "' + b"a" * (10 << 20) + b'"}',
    "metrics of a megabyte": b"".join(b'vllm:x_total{n="%d"} 1\n' % at for at in range(40_000)),
    "a position beyond memory": (POSITION % (10**12, 1) + DRAFTS % ("draft", "draft", 9) + DRAFTS % ("accepted", "accepted", 3)).encode(),
    "a position below zero": (POSITION % (-5, 1) + DRAFTS % ("draft", "draft", 9) + DRAFTS % ("accepted", "accepted", 3)).encode(),
    "a position of letters": (POSITION % ("x", 1)).encode(),
    "counts beyond floats": (DRAFTS % ("draft", "draft", "1e999") + DRAFTS % ("accepted", "accepted", "NaN")).encode(),
    "counts that add up beyond floats": b'vllm:num_requests_running{a="1"} 1.7e308\nvllm:num_requests_running{a="2"} 1.7e308\n',
    "counts below zero": (DRAFTS % ("draft", "draft", -9) + DRAFTS % ("accepted", "accepted", -3)).encode(),
    "labels without end": b'vllm:x{a="' + b"b" * (1 << 20) + b"\n",
    "nested beyond every stack": b"[" * 200_000,
    "nested within the stack": b"[" * 900 + b"]" * 900,
    "lists without end": b"[" + b"[]," * 1_500_000 + b"[]]",
    "numbers beyond floats": b'{"total_slots": 1e999, "max_model_len": 1e400, "max_total_num_tokens": -1e999, "max_running_requests": NaN}',
    "numbers of a thousand digits": b'{"total_slots": 1'
    + b"0" * 1000
    + b', "default_generation_settings": {"n_ctx": 1'
    + b"0" * 4000
    + b"}}",
    "wrong types": json.dumps(
        {"total_slots": [], "default_generation_settings": 7, "model_path": {"a": 1}, "server_args": 5, "internal_states": "x"}
    ).encode(),
    "slots of all types": json.dumps([None, 7, "x", [], {"speculative": "yes", "n_ctx": -1, "id": {}}]).encode(),
    "doubled keys": b'{"total_slots": 4, "total_slots": "x", "default_generation_settings": {}, "default_generation_settings": []}',
    "control characters": json.dumps({"version": EVIL, "build_info": EVIL, "model_path": EVIL, "total_slots": 1}).encode(),
    "lone surrogates": b'{"version": "\\ud800", "build_info": "\\udfff", "model_path": "\\ud800"}',
    "not utf-8": bytes(range(256)) * 100,
    "utf-16": '{"version": "1"}'.encode("utf-16"),
    "empty": b"",
    "html": f"<!doctype html><title>{EVIL}</title>".encode(),
}

LISTS = {
    "names with control characters": {"data": [{"id": f"m{EVIL}"}]},
    "a name of a megabyte": {"data": [{"id": "m" * (1 << 20)}]},
    "a lone surrogate for a name": {"data": [{"id": "m\ud800"}]},
    "a hundred thousand names": {"data": [{"id": f"m{at}"} for at in range(100_000)]},
    "names that are none": {"data": [{"id": None}, {"id": 7}, {"id": ""}, 7, None, []]},
    "the same name again": {"data": [{"id": "m"}] * 3},
    "aliases of all types": {"data": [{"id": "m", "aliases": [None, 7, "x", EVIL, ["y"]]}, {"id": "n", "aliases": "z"}]},
    "an owner with control characters": {"data": [{"id": "m", "owned_by": EVIL, "root": EVIL, "max_model_len": 1e308}]},
    "numbers in place of lists": {"data": 7},
    "lengths below zero": {
        "data": [{"id": "m", "owned_by": "vllm", "max_model_len": -1, "root": 7, "meta": {"n_ctx": -5, "n_params": "x"}}]
    },
}


def told(models: bytes, page: bytes, head: str = ""):
    """A server that generates well, whatever it says of itself."""

    def serve(talk):
        path = re.match(rb"\w+ (\S+)", talk.request).group(1)
        if path.endswith(b"/models"):
            talk.send(response(models))
        elif b"/chat/completions" not in path:
            talk.send(response(page, headers=head))
        elif b'"stream":true' in talk.request:
            talk.send(stream_head() + event(delta(content="Light")) + event(delta("length")) + DONE)
        else:
            usage = {"prompt_tokens": 12, "completion_tokens": 1, "total_tokens": 13}
            choice = {"index": 0, "message": {"role": "assistant", "content": "Light"}, "finish_reason": "length"}
            talk.send(response(json.dumps({"id": "c", "model": "m", "choices": [choice], "usage": usage})))

    return serve


def attached(serve, *, model=None, timeout_s=20.0):
    """The facts, or the message of the error; never anything else."""
    with raw_server(serve) as server:
        clients = []

        def opener(endpoint):
            clients.append(HttpClient(endpoint, timeout_s=timeout_s, retry=RetryPolicy(retries=0)))
            return clients[-1]

        try:
            bound = attach_with(opener, parse_address(server.root), model=model, api_key_env=None, api_key=None, wait_s=1)
            counted = bound.engine.counters(bound.client)
            assert counted is None or isinstance(counted.since(counted), Counters)
            load = bound.engine.load(bound.client)
            assert load is None or dataclasses.asdict(load) is not None
            facts = bound.facts
        except (InfraError, UsageError) as error:
            return str(error)
        finally:
            for client in clients:
                client.close()
    assert ServerFacts.from_dict(json.loads(json.dumps(facts.to_dict()))) == facts
    return facts


def listed(owner):
    return json.dumps({"object": "list", "data": [{"id": "m", "object": "model", "owned_by": owner, "max_model_len": 4096}]}).encode()


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("owner", OWNERS)
def test_pages(owner, name):
    facts = attached(told(listed(owner), PAGES[name]))
    assert isinstance(facts, ServerFacts), facts
    assert facts.model == "m"
    assert facts.speculation.state in ("inactive", "unknown")


@pytest.mark.parametrize("owner", OWNERS)
def test_pages_that_are_gzip_bombs(owner):
    bomb = gzip.compress(b"\0" * (64 << 20), 1)
    assert isinstance(attached(told(listed(owner), bomb, "Content-Encoding: gzip\r\n")), ServerFacts)


def test_pages_that_never_end():
    good = told(listed("vllm"), b"{}")

    def serve(talk):
        if b"/models" in talk.request[:40] or b"/chat" in talk.request[:40]:
            good(talk)
        else:
            talk.send(b"HTTP/1.1 200 OK\r\n\r\n")
            talk.drip(b" ", 0.05)

    assert isinstance(attached(serve, timeout_s=0.4), ServerFacts)


@pytest.mark.parametrize("name", LISTS)
def test_lists_of_models(name):
    """One name is taken, several are shown to the user; those that no request could carry are refused in one line."""
    answer = attached(told(json.dumps(LISTS[name]).encode(), b"{}"))
    if isinstance(answer, str):
        assert len(answer) < 4000, answer
        assert "Traceback" not in answer
    else:
        assert answer.model.startswith("m") or answer.models == (), answer
