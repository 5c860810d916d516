"""The adapter of the fake engine, against the fake engine."""

from __future__ import annotations

import dataclasses

import pytest

from pytest_mtp.core.ask import Ask, Sampling
from pytest_mtp.selftest import FakeServer
from pytest_mtp.servers.engines.fake import Fake

ASK = Ask(messages=({"role": "user", "content": "Write about the sea."},), sampling=Sampling(max_tokens=40))


@pytest.fixture
def attached(kit):
    def attach(**options):
        server = FakeServer(**options)
        server.start()
        servers.append(server)
        return kit.attach(server.url)

    servers = []
    yield attach
    for server in servers:
        server.stop()


def test_it_is_known_by_its_signature(attached):
    facts = attached(depth=2).facts
    assert facts.engine == "fake"
    assert "/v1/models: owned_by is 'pytest-mtp-fake'" in facts.evidence
    assert (facts.speculation.state, facts.speculation.depth) == ("unknown", 2)
    assert facts.capabilities.metrics is True
    assert facts.capabilities.prefill is True
    assert facts.capabilities.logprobs is True


def test_speculation_that_is_off_is_inactive(attached):
    server = attached(speculation=False)
    assert server.facts.speculation.state == "inactive"
    assert server.engine == Fake(speculates=False)


def test_its_counters_move_with_our_request_as_its_reply_says(attached):
    server = attached(depth=3)
    before = server.engine.counters(server.client)
    reply = server.client.ask(ASK).reply
    moved = server.engine.counters(server.client).since(before).acceptance
    own = server.engine.acceptance_of(reply)
    assert (moved.drafted, moved.accepted) == (own.drafted, own.accepted)
    assert moved.drafted >= moved.accepted > 0
    assert sum(moved.per_position) == moved.accepted


def test_a_reply_of_one_token_drafts_nothing(attached):
    server = attached()
    one = dataclasses.replace(ASK, sampling=Sampling(max_tokens=1))
    assert server.engine.acceptance_of(server.client.ask(one).reply).drafted == 0


def test_it_continues_what_it_said(attached):
    server = attached()
    whole = server.client.ask(ASK).reply.text
    cut = whole.index(" ", len(whole) // 2)
    rest = server.client.ask(server.engine.continuation(ASK, whole[:cut])).reply.text
    assert whole[cut:].startswith(rest[: len(whole) - cut])


def test_metrics_that_are_off_give_no_counters(attached):
    server = attached(dialects=["no-metrics"])
    assert server.engine.counters(server.client) is None
    assert server.facts.capabilities.metrics is False
