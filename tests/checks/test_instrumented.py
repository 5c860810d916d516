"""A server that refuses the engine's own fields is asked without them, once and for all."""

from __future__ import annotations

import dataclasses

import pytest

from pytest_mtp.checks.control import measure_control
from pytest_mtp.checks.instrumented import Instrumented
from pytest_mtp.core.ask import Ask
from pytest_mtp.core.exchange import ChunkStamp, Exchange, Fault, FaultKind, Timeline
from pytest_mtp.core.reply import Reply
from tests.checks.simulated import Simulated

ASK = Ask(messages=({"role": "user", "content": "Why?"},))


class Picky(Simulated):
    """Its adapter asks for token ids, and it refuses them in this way; `broken` refuses everything."""

    def __init__(self, kind: FaultKind = "refused", *, broken: bool = False, **more: object) -> None:
        super().__init__(**more)  # type: ignore[arg-type]
        self.kind, self.broken = kind, broken

    def instrumented(self, ask: Ask) -> Ask:
        return dataclasses.replace(ask, extra_body={**ask.extra_body, "return_token_ids": True})

    def ask(self, ask: Ask) -> Exchange:
        if self.broken or ask.extra_body:
            self.asked.append(ask)
            fault = Fault(kind=self.kind, code="PROTO.refused", message="422, declined: unexpected fields")
            return Exchange(ask=ask, url="u", model="m", fault=fault, timeline=Timeline(sent_ns=0))
        return super().ask(ask)

    ask_alone = ask


@pytest.mark.parametrize("kind", ["refused", "server_error", "malformed"])
def test_the_fields_are_left_out_after_the_first_refusal(kind: FaultKind) -> None:
    server = Picky(kind)
    asking = Instrumented(server, server.ask)
    assert all(asking.ask(ASK).reply is not None for _ in range(3))
    assert [bool(ask.extra_body) for ask in server.asked] == [True, False, False, False]
    assert asking.evidence == ("asked without the fields return_token_ids, which the server refuses: 422, declined: unexpected fields",)


def test_a_server_that_refuses_everything_is_not_asked_twice_for_each_ask() -> None:
    server = Picky(broken=True)
    asking = Instrumented(server, server.ask)
    assert all(asking.ask(ASK).fault is not None for _ in range(3))
    assert [bool(ask.extra_body) for ask in server.asked] == [True, False, True, True]
    assert asking.evidence == ()


def test_a_time_out_says_nothing_about_the_fields() -> None:
    server = Picky("timeout")
    asking = Instrumented(server, server.ask)
    assert asking.ask(ASK).fault is not None
    assert len(server.asked) == 1


def test_an_adapter_without_fields_asks_once() -> None:
    server = Simulated()
    asking = Instrumented(server, server.ask)
    asking.ask(ASK)
    assert server.asked == [ASK]


def test_the_control_survives_a_refusal_and_says_so() -> None:
    server = Picky(seed=3)
    control = measure_control(server)  # type: ignore[arg-type]  # the server in memory is the context too
    assert control.speculation.state == "active"
    assert any("refuses" in line for line in control.speculation.evidence)
    assert sum(bool(ask.extra_body) for ask in server.asked) == 1


class Mute(Simulated):
    """Nothing tells of drafts; streams come with two tokens a chunk. `refuses` logprobs in streams."""

    def __init__(self, *, refuses: bool = False) -> None:
        super().__init__(tells=frozenset())
        self.refuses = refuses

    def ask(self, ask: Ask) -> Exchange:
        exchange = super().ask(ask)
        if not ask.stream:
            return exchange
        if ask.top_logprobs is not None and self.refuses:
            fault = Fault(kind="refused", code="PROTO.refused", message="400, declined: no logprobs in streams")
            return Exchange(ask=ask, url="u", model="m", fault=fault, timeline=Timeline(sent_ns=0))
        stamps = tuple(ChunkStamp(at_ns=index * 10**7, characters=9, token_count=2) for index in range(12))
        timeline = Timeline(sent_ns=0, done_ns=10**9, chunks=stamps)
        return Exchange(ask=ask, url="u", model="m", reply=Reply(content="w " * 24, finish_reason="length"), timeline=timeline)

    ask_alone = ask


@pytest.mark.parametrize("refuses", [False, True])
def test_where_nothing_tells_the_control_looks_at_one_stream_and_proves_nothing_by_it(*, refuses: bool) -> None:
    server = Mute(refuses=refuses)
    speculation = measure_control(server).speculation  # type: ignore[arg-type]
    assert speculation.state == "unknown"
    assert speculation.evidence[0] == "neither counters nor replies tell of drafts"
    assert speculation.evidence[1].startswith("weak evidence: a stream with 2.00 tokens a chunk")
    assert sum(ask.stream for ask in server.asked) == 1 + refuses
