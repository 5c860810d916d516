"""The client against servers on this machine and against transports of our own."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from pytest_mtp.client.http import HttpClient
from pytest_mtp.client.retry import RetryPolicy
from pytest_mtp.core.ask import Ask, Sampling
from pytest_mtp.core.errors import UsageError
from pytest_mtp.core.facts import Endpoint
from tests.client.raw_server import GOOD_STREAM, Talk, closed_port, completion, raw_server, response, stream_head

KEY = "sk-very-secret-key"
ASK = Ask(messages=({"role": "user", "content": "hi"},), sampling=Sampling(max_tokens=4))
STREAM = Ask(messages=({"role": "user", "content": "hi"},), stream=True)
NO_RETRY = RetryPolicy(retries=0)


OPEN: list[HttpClient] = []


@pytest.fixture(autouse=True)
def close_all() -> Iterator[None]:
    yield
    while OPEN:
        OPEN.pop().close()


def client_of(root: str, **settings: Any) -> HttpClient:
    OPEN.append(HttpClient(Endpoint(root=root, api_root=f"{root}/v1", model="m"), **settings))
    return OPEN[-1]


def mocked(handler: Callable[[httpx.Request], httpx.Response], **settings: Any) -> HttpClient:
    return client_of("http://server", transport=httpx.MockTransport(handler), **{"retry": NO_RETRY, **settings})


def good(talk: Talk) -> None:
    talk.send(response(json.dumps(completion())))


def test_the_request_is_what_the_ask_says() -> None:
    with raw_server(good) as server:
        exchange = client_of(server.root, api_key=f" {KEY}\n").ask(ASK)
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /v1/chat/completions HTTP/1.1\r\n")
    fields = {name.lower(): value for name, _, value in (line.partition(b": ") for line in head.split(b"\r\n")[1:])}
    assert fields[b"authorization"] == f"Bearer {KEY}".encode()
    assert fields[b"content-type"] == b"application/json"
    assert json.loads(body) == ASK.body("m")
    assert (exchange.url, exchange.model) == (f"{server.root}/v1/chat/completions", "m")


def test_without_a_key_there_is_no_authorization() -> None:
    with raw_server(good) as server:
        client_of(server.root).ask(ASK)
    assert b"authorization" not in server.requests[0].lower()


def test_the_stamps_are_in_order() -> None:
    with raw_server(lambda talk: talk.send(stream_head() + GOOD_STREAM)) as server:
        line = client_of(server.root).ask(STREAM).timeline
    stamps = [line.sent_ns, line.headers_ns, *(chunk.at_ns for chunk in line.chunks), line.done_ns]
    assert None not in stamps
    assert stamps == sorted(stamp for stamp in stamps if stamp is not None)
    assert line.ttft_s is not None


def test_the_clock_starts_with_the_first_byte_and_not_with_the_connection() -> None:
    ticks = itertools.count(step=1000)
    with raw_server(good) as server:
        exchange = client_of(server.root, timeout_s=60, clock=lambda: next(ticks)).ask(ASK)
    whole_s = exchange.attempts[0].duration_s
    assert exchange.timeline.total_s is not None
    assert 0 < exchange.timeline.total_s < whole_s


def test_a_proxy_of_the_environment_is_used_for_other_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    with raw_server(good) as proxy:
        monkeypatch.setenv("http_proxy", f"http://ann:pa55@127.0.0.1:{proxy.port}")
        exchange = client_of("http://gpu7.invalid:8000").ask(ASK)
    assert exchange.reply is not None
    assert proxy.requests[0].startswith(b"POST http://gpu7.invalid:8000/v1/chat/completions HTTP/1.1\r\n")
    assert b"proxy-authorization: basic" in proxy.requests[0].lower()
    assert "pa55" not in json.dumps(exchange.to_dict())


def test_one_connection_serves_many_asks() -> None:
    def keep(talk: Talk) -> None:
        good(talk)
        while talk.read_request():
            good(talk)

    with raw_server(keep) as server:
        client = client_of(server.root)
        assert all(client.ask(ASK).reply for _ in range(5))
        client.close()
        assert server.connections == 1


def test_an_idle_connection_that_ended_under_our_feet_is_asked_again() -> None:
    def once_then_close(talk: Talk) -> None:
        good(talk)
        if talk.number == 1:
            talk.read_request()  # the next request comes in, and nobody answers

    with raw_server(once_then_close) as server:
        client = client_of(server.root, retry=RetryPolicy(sleep=lambda _: None))
        assert client.ask(ASK).reply is not None
        exchange = client.ask(ASK)
    assert exchange.reply is not None
    assert [attempt.fault.kind if attempt.fault else None for attempt in exchange.attempts] == ["reset", None]


def test_a_fresh_connection_that_ends_without_an_answer_is_not_asked_again() -> None:
    with raw_server(Talk.shut) as server:
        exchange = client_of(server.root).ask(ASK)
    assert exchange.fault is not None
    assert (exchange.fault.kind, len(exchange.attempts), len(server.requests)) == ("reset", 1, 1)


def test_many_threads_share_one_client() -> None:
    barrier = threading.Barrier(8)

    def echo(talk: Talk) -> None:
        barrier.wait(20)  # all eight are in flight at once
        word = json.loads(talk.request.partition(b"\r\n\r\n")[2])["messages"][0]["content"]
        talk.send(response(json.dumps(completion(word))))

    answers: dict[str, str | None] = {}
    with raw_server(echo) as server:
        client = client_of(server.root)

        def ask(word: str) -> None:
            reply = client.ask(Ask(messages=({"role": "user", "content": word},))).reply
            answers[word] = reply.content if reply else None

        threads = [threading.Thread(target=ask, args=(f"word {n}",)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
    assert answers == {f"word {n}": f"word {n}" for n in range(8)}


def test_nobody_listens() -> None:
    pauses: list[float] = []
    policy = RetryPolicy(sleep=pauses.append, jitter=lambda: 0.5)
    exchange = client_of(f"http://127.0.0.1:{closed_port()}", retry=policy).ask(ASK)
    assert exchange.fault is not None
    assert (exchange.fault.kind, exchange.fault.code) == ("connect", "INFRA.connect")
    assert pauses == [0.25, 0.5, 1.0]
    assert [attempt.waited_s for attempt in exchange.attempts] == [0.0, 0.25, 0.5, 1.0]


def test_a_name_that_nobody_knows() -> None:
    exchange = client_of("http://no-such-host.invalid", retry=NO_RETRY).ask(ASK)
    assert exchange.fault is not None
    assert (exchange.fault.kind, exchange.fault.code) == ("connect", "INFRA.connect")
    assert "http://no-such-host.invalid" in exchange.fault.message


@pytest.mark.parametrize("root", [f"http://{'a' * 70}.example", "http://127.0.0.1:99999", "http://ex ample"], ids=["long", "port", "space"])
def test_an_address_that_leads_nowhere_is_a_fault(root: str) -> None:
    exchange = client_of(root, retry=NO_RETRY).ask(ASK)
    assert exchange.fault is not None
    assert exchange.fault.code == "INFRA.connect"


def test_https_on_a_plain_port_is_a_tls_fault_with_advice() -> None:
    with raw_server(lambda talk: talk.send(response("Bad Request", status="400 Bad Request"))) as server:
        exchange = client_of(server.root.replace("http:", "https:")).ask(ASK)
    assert exchange.fault is not None
    assert (exchange.fault.kind, exchange.fault.code, len(exchange.attempts)) == ("tls", "INFRA.tls", 1)
    assert "plain http://" in exchange.fault.message


def test_https_on_a_port_that_only_listens_is_a_tls_fault_too() -> None:
    with raw_server(Talk.hang) as server:
        exchange = client_of(server.root.replace("http:", "https:"), timeout_s=0.3).ask(ASK)
    assert exchange.fault is not None
    assert (exchange.fault.kind, exchange.fault.code, len(exchange.attempts)) == ("tls", "INFRA.tls", 1)
    assert "plain http://" in exchange.fault.message


@pytest.mark.parametrize("root", ["ftp://server", "http://[::1", "server", "http://", "", "http:///x"])
def test_an_address_that_is_none_is_the_users_error(root: str) -> None:
    with pytest.raises(UsageError, match=r"no http\(s\) address"):
        client_of(root)


@pytest.mark.parametrize("key", ["a\nb", "a b", "s\u00e9cret", "\x00"], ids=["newline", "space", "accent", "nul"])
def test_a_key_that_no_header_can_carry_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(UsageError, match="--mtp-api-key-env") as caught:
        client_of("http://server", api_key=key)
    assert key not in str(caught.value)


def test_the_key_is_nowhere_in_what_we_keep() -> None:
    def quotes_it(request: httpx.Request) -> httpx.Response:
        words = f"Incorrect API key provided: {KEY}"
        return httpx.Response(401, json={"error": {"message": words}}, headers={"x-echo": KEY, "set-cookie": "s=1"})

    client = mocked(quotes_it, api_key=KEY)
    exchange = client.ask(ASK)
    assert KEY not in json.dumps(exchange.to_dict())
    assert KEY not in repr(client)
    assert exchange.fault is not None
    assert exchange.fault.message == "401, the credentials were refused: Incorrect API key provided: ***"
    assert (exchange.fault.headers or {})["set-cookie"] == "***"


def test_the_key_is_masked_in_good_answers_too() -> None:
    client = mocked(lambda _: httpx.Response(200, json={**completion(), "api_key": KEY}, headers={"x-echo": KEY}), api_key=KEY)
    reply = client.ask(ASK).reply
    assert reply is not None
    assert KEY not in reply.raw + str(reply.headers)
    fetched = client.fetch("/server_info")
    assert KEY not in fetched.text + str(fetched.headers)


def test_user_and_password_in_the_address_are_used_but_not_kept() -> None:
    seen: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers["authorization"])
        return httpx.Response(200, json=completion())

    client = client_of("http://ann:pa55@server", transport=httpx.MockTransport(handler))
    exchange = client.ask(ASK)
    assert seen == ["Basic YW5uOnBhNTU="]
    assert "pa55" not in json.dumps(exchange.to_dict()) + repr(client)


def test_no_cookie_is_sent_back() -> None:
    seen: list[str | None] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers.get("cookie"))
        return httpx.Response(200, json=completion(), headers={"set-cookie": "replica=7; Path=/"})

    client = mocked(handler)
    client.ask(ASK)
    client.ask(ASK)
    assert seen == [None, None]


def test_a_lone_surrogate_travels_escaped() -> None:
    with raw_server(good) as server:
        client_of(server.root).ask(Ask(messages=({"role": "user", "content": "\ud83d"},)))
    assert b'"\\ud83d"' in server.requests[0]


def test_an_ask_that_is_no_json_is_the_users_error() -> None:
    with pytest.raises(UsageError, match="cannot be written as JSON"):
        mocked(lambda _: httpx.Response(200)).ask(Ask(messages=(), extra_body={"x": float("nan")}))


@pytest.mark.parametrize("stream", [False, True], ids=["unary", "stream"])
def test_a_giant_body_is_not_read_to_its_end(stream: bool) -> None:
    def endless(talk: Talk) -> None:
        talk.send(stream_head())
        while not talk.gone.is_set():
            talk.send(b": " + b"x" * 65536 + b"\n")

    with raw_server(endless) as server:
        exchange = client_of(server.root, max_body=1 << 20).ask(STREAM if stream else ASK)
    assert exchange.fault is not None
    assert (exchange.fault.kind, exchange.fault.code) == ("malformed", "PROTO.sse")
    assert "more than 1048576 bytes" in exchange.fault.message
    assert len(exchange.fault.body) < 5000


def test_the_middle_of_a_long_stream_is_left_out_of_raw() -> None:
    chunk = GOOD_STREAM.partition(b"\n\n")[0] + b"\n\n"
    with raw_server(lambda talk: talk.send(stream_head() + chunk * 20_000 + GOOD_STREAM)) as server:
        reply = client_of(server.root).ask(STREAM).reply
    assert reply is not None
    assert reply.content == "Paris"
    assert "bytes left out" in reply.raw
    assert len(reply.raw) < 2_000_000


def test_a_stream_whose_body_never_ends_after_done_is_taken_and_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_mtp.client.received.LINGER_S", 0.05)

    def lingers(talk: Talk) -> None:
        talk.send(stream_head() + GOOD_STREAM)
        talk.hang()

    with raw_server(lingers) as server:
        exchange = client_of(server.root).ask(STREAM)
    reply = exchange.reply
    assert reply is not None
    assert (reply.content, [note.code for note in reply.notes]) == ("Paris", ["PROTO.sse"])
    assert exchange.timeline.done_ns == exchange.timeline.chunks[-1].at_ns


class TestFetch:
    def test_below_the_root_and_not_below_the_api(self) -> None:
        with raw_server(lambda talk: talk.send(response("a 1\n", kind="text/plain"))) as server:
            fetched = client_of(server.root, api_key=KEY).fetch("metrics?x=1")
        assert (fetched.ok, fetched.status, fetched.text) == (True, 200, "a 1\n")
        assert server.requests[0].startswith(b"GET /metrics?x=1 HTTP/1.1")

    def test_another_status_is_no_fault(self) -> None:
        fetched = mocked(lambda _: httpx.Response(404, text="no")).fetch("/props")
        assert (fetched.ok, fetched.status, fetched.text, fetched.fault) == (False, 404, "no", None)

    @pytest.mark.parametrize(
        ("location", "status"),
        [
            ("/metrics/", 200),
            ("http://server/metrics/", 200),
            ("http://elsewhere/metrics/", 307),
            ("https://server/metrics/", 307),
            ("/metrics", 307),
        ],
        ids=["path", "same-origin", "other-host", "other-scheme", "loop"],
    )
    def test_redirects_stay_on_the_origin(self, location: str, status: int) -> None:
        def handler(request: httpx.Request) -> httpx.Response:
            assert request.url.host == "server"
            moved = request.url.path == "/metrics"
            return httpx.Response(307, headers={"location": location}) if moved else httpx.Response(200, text="ok")

        assert mocked(handler).fetch("/metrics").status == status

    def test_a_redirect_carousel_ends(self) -> None:
        hops: list[str] = []

        def handler(request: httpx.Request) -> httpx.Response:
            hops.append(request.url.path)
            return httpx.Response(302, headers={"location": f"/{len(hops)}"})

        assert mocked(handler).fetch("/0").status == 302
        assert len(hops) == 4

    @pytest.mark.parametrize("path", ["http://elsewhere/x", "//elsewhere/x"])
    def test_an_absolute_url_is_the_callers_error(self, path: str) -> None:
        with pytest.raises(ValueError, match="below the server's root"):
            mocked(lambda _: httpx.Response(200)).fetch(path)

    def test_nobody_listens(self) -> None:
        fetched = client_of(f"http://127.0.0.1:{closed_port()}").fetch("/health")
        assert fetched.fault is not None
        assert (fetched.fault.kind, fetched.ok) == ("connect", False)

    def test_a_server_that_drips_is_a_timeout(self) -> None:
        def drips(talk: Talk) -> None:
            talk.send(b"HTTP/1.1 200 OK\r\n\r\n")
            talk.drip(b"x")

        with raw_server(drips) as server:
            fetched = client_of(server.root, timeout_s=0.2).fetch("/metrics")
        assert fetched.fault is not None
        assert fetched.fault.code == "INFRA.timeout"

    def test_text_of_an_unknown_charset_is_still_text(self) -> None:
        with raw_server(lambda talk: talk.send(response(b"\xff", kind="text/plain; charset=klingon"))) as server:
            assert client_of(server.root).fetch("/x").text == "\ufffd"


def test_a_page_is_fetched_again_where_the_kept_connection_had_ended() -> None:
    def one_page(talk: Talk) -> None:
        talk.send(response('{"page": 1}'))  # kept alive by its headers, and then ended without a word

    with raw_server(one_page) as server:
        client = client_of(server.root)
        pages = [client.fetch("/metrics") for _ in range(3)]
        assert [page.text for page in pages] == ['{"page": 1}'] * 3
        assert server.connections == 3


def test_a_page_that_a_fresh_connection_loses_is_not_fetched_again() -> None:
    with raw_server(lambda talk: talk.shut()) as server:
        assert client_of(server.root).fetch("/metrics").fault is not None
        assert server.connections == 1
