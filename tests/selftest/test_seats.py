"""The fake's front door, its engine's seats and its workers, each a number of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import httpx

from pytest_mtp.client.http import HttpClient
from pytest_mtp.core.facts import Endpoint, Load
from pytest_mtp.selftest.server import FakeServer
from pytest_mtp.servers.engines.fake import Fake

BODY = {"messages": [{"role": "user", "content": "Describe the sea."}], "max_tokens": 64, "stream": True}


def load(fake: FakeServer) -> Load | None:
    client = HttpClient(Endpoint(root=fake.url, api_root=f"{fake.url}/v1", model=fake.alias))
    try:
        return Fake().load(client)
    finally:
        client.close()


def wait_until(holds: Callable[[], bool]) -> None:
    given = threading.Event()
    for _ in range(2000):
        if holds():
            return
        given.wait(0.01)
    raise AssertionError("it never came to that")


def post(fake: FakeServer) -> httpx.Response:
    return httpx.post(f"{fake.url}/v1/chat/completions", json=BODY, timeout=60)


def test_the_door_answers_429_and_the_seats_503_each_with_retry_after() -> None:
    for limits, status in (({"door": 1}, 429), ({"max_concurrency": 1}, 503), ({"door": 1, "max_concurrency": 2}, 429)):
        with FakeServer(token_delay_ms=5000, **limits) as fake, ThreadPoolExecutor() as pool:
            inside = pool.submit(post, fake)
            wait_until(lambda fake=fake: fake.counters.running == 1)
            refused = post(fake)
            assert refused.status_code == status
            assert refused.headers["retry-after"] in ("0", "1")
            fake.ended.set()  # no step waits any longer
            assert inside.result().status_code == 200


def test_who_finds_no_worker_waits_and_the_gauges_tell() -> None:
    with FakeServer(token_delay_ms=5000, workers=1) as fake, ThreadPoolExecutor() as pool:
        replies = [pool.submit(post, fake) for _ in range(3)]
        wait_until(lambda: fake.counters.running + fake.counters.waiting == 3)
        assert load(fake) == Load(running=1, waiting=2, source="/metrics")
        fake.ended.set()
        assert [reply.result().status_code for reply in replies] == [200] * 3
        wait_until(lambda: load(fake) == Load(running=0, waiting=0, source="/metrics"))


def test_without_limits_all_run() -> None:
    with FakeServer(token_delay_ms=5000) as fake, ThreadPoolExecutor() as pool:
        replies = [pool.submit(post, fake) for _ in range(5)]
        wait_until(lambda: fake.counters.running == 5)
        assert fake.counters.waiting == 0
        fake.ended.set()
        assert all(reply.result().status_code == 200 for reply in replies)
