"""When the client asks again, how long it waits, and that it says so."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from pytest_mtp.client.http import HttpClient
from pytest_mtp.client.retry import RetryPolicy, retry_after_s
from pytest_mtp.core.ask import Ask
from pytest_mtp.core.exchange import Exchange, Fault
from pytest_mtp.core.facts import Endpoint
from tests.client.raw_server import completion

NOON = 1_577_880_000.0  # 2020-01-01 12:00:00 UTC
GOOD = httpx.Response(200, json=completion())


def run(*answers: httpx.Response | Exception, **policy: Any) -> tuple[Exchange, list[float], int]:
    pauses: list[float] = []
    left = list(answers)

    def handler(request: httpx.Request) -> httpx.Response:
        answer = left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    retry = RetryPolicy(sleep=pauses.append, now=lambda: NOON, jitter=lambda: 0.5, **policy)
    client = HttpClient(Endpoint(root="http://s", api_root="http://s/v1", model="m"), transport=httpx.MockTransport(handler), retry=retry)
    exchange = client.ask(Ask(messages=({"role": "user", "content": "hi"},)))
    return exchange, pauses, len(answers) - len(left)


@pytest.mark.parametrize(
    "first",
    [httpx.ConnectError("refused"), httpx.ConnectTimeout("slow"), httpx.Response(429), httpx.Response(503), httpx.ProxyError("502")],
    ids=["refused", "no-connection", "429", "503", "proxy"],
)
def test_asked_again(first: httpx.Response | Exception) -> None:
    exchange, pauses, asked = run(first, GOOD)
    assert exchange.reply is not None
    assert (asked, pauses) == (2, [0.25])
    assert [attempt.fault is None for attempt in exchange.attempts] == [False, True]
    assert [attempt.waited_s for attempt in exchange.attempts] == [0.0, 0.25]


@pytest.mark.parametrize(
    "first",
    [
        httpx.ReadTimeout("slow"),
        httpx.RemoteProtocolError("peer closed"),
        httpx.ReadError("reset"),
        httpx.Response(500),
        httpx.Response(502),
        httpx.Response(504),
        httpx.Response(400),
        httpx.Response(401),
        httpx.Response(404),
        httpx.Response(200, text=""),
        httpx.Response(200, text="<html>"),
        httpx.Response(200, json={"error": {"message": "boom", "code": 503}}),
        httpx.Response(307, headers={"location": "/"}),
        httpx.UnsupportedProtocol("ftp"),
    ],
    ids=["timeout", "closed", "reset", "500", "502", "504", "400", "401", "404", "empty", "html", "error-with-200", "redirect", "protocol"],
)
def test_never_asked_again(first: httpx.Response | Exception) -> None:
    exchange, pauses, asked = run(first, GOOD)
    assert exchange.fault is not None
    assert (asked, pauses) == (1, [])


def test_the_count_is_bounded_and_the_last_fault_stands() -> None:
    busy = [httpx.Response(429, json={"error": f"busy {n}"}) for n in range(9)]
    exchange, pauses, asked = run(*busy)
    assert asked == 4
    assert pauses == [0.25, 0.5, 1.0]
    assert exchange.fault is not None
    assert (exchange.fault.code, exchange.fault.message) == ("INFRA.busy", "429, busy: busy 3")
    assert len(exchange.attempts) == 4


def test_no_retries_means_one_attempt() -> None:
    assert run(httpx.Response(503), retries=0)[2] == 1


@pytest.mark.parametrize(
    ("value", "pause"),
    [
        pytest.param("2", 2.0, id="seconds"),
        pytest.param("0", 0.25, id="zero-still-backs-off"),
        pytest.param("Wed, 01 Jan 2020 12:00:07 GMT", 7.0, id="date"),
        pytest.param("Wed, 01 Jan 2020 11:00:00 GMT", 0.25, id="date-in-the-past"),
        pytest.param("86400", 30.0, id="capped"),
        pytest.param("soon", 0.25, id="nonsense"),
        pytest.param("-5", 0.25, id="negative"),
        pytest.param("", 0.25, id="empty"),
    ],
)
def test_retry_after(value: str, pause: float) -> None:
    assert run(httpx.Response(503, headers={"retry-after": value}), GOOD)[1] == [pause]


@pytest.mark.parametrize("value", ["9" * 5000, "1.5.2", "inf", "nan", "\u0663", "Fri, 99 Foo 99999 99:99:99 GMT"])
def test_a_hostile_retry_after_is_harmless(value: str) -> None:
    seconds = retry_after_s(value, now=NOON)
    assert seconds is None or 0 <= seconds < 1e13


def test_jitter_spreads_the_pauses() -> None:
    fault = Fault(kind="busy", code="INFRA.busy", message="")
    low, high = (RetryPolicy(jitter=lambda at=at: at).pause_s(2, fault) for at in (0.0, 1.0))
    assert (low, high) == (0.25, 0.75)
