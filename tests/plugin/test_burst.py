"""Many requests at once: each in a thread of its own, sent once."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from pytest_mtp.client.http import HttpClient
from pytest_mtp.core.ask import Ask, Sampling
from pytest_mtp.core.facts import Endpoint
from pytest_mtp.plugin.context import CaseContext
from pytest_mtp.selftest.server import FakeServer

ASKS = [Ask(messages=({"role": "user", "content": f"Say {n}."},), sampling=Sampling(max_tokens=4), stream=True) for n in range(6)]


@pytest.fixture
def behind_a_door_of_two() -> Iterator[tuple[FakeServer, CaseContext]]:
    with FakeServer(door=2, token_delay_ms=100) as fake:
        client = HttpClient(Endpoint(root=fake.url, api_root=f"{fake.url}/v1", model=fake.alias), timeout_s=30)
        nothing = SimpleNamespace()
        yield (
            fake,
            CaseContext(
                server=nothing,
                lease=nothing,
                pool=nothing,
                alone=client.ask,
                control=nothing,
                once=lambda ask: client.ask(ask, retried=False),
            ),
        )
        client.close()


def test_a_burst_overlaps_is_not_retried_and_keeps_its_order(behind_a_door_of_two: tuple[FakeServer, CaseContext]) -> None:
    fake, context = behind_a_door_of_two
    exchanges = context.burst(ASKS)
    assert [exchange.ask for exchange in exchanges] == ASKS
    assert [len(exchange.attempts) for exchange in exchanges] == [1] * 6
    refused = [exchange.fault for exchange in exchanges if exchange.fault is not None]
    assert [(fault.kind, fault.status) for fault in refused] == [("busy", 429)] * 4
    assert len(fake.seen) == 6
    assert context.exchanges == exchanges
    latest_start = max(exchange.timeline.sent_ns for exchange in exchanges)
    assert all(latest_start < (exchange.timeline.done_ns or 0) for exchange in exchanges if exchange.reply)


def test_no_asks_are_no_burst(behind_a_door_of_two: tuple[FakeServer, CaseContext]) -> None:
    assert list(behind_a_door_of_two[1].burst([])) == []
