"""The endpoints, the errors, and clients that mean no good."""

from __future__ import annotations

import json
import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from pytest_mtp.selftest import FakeServer

CHAT = "/v1/chat/completions"


def test_it_names_itself(honest):
    model = honest.get("/v1/models")["data"][0]
    assert (model["id"], model["owned_by"]) == ("fake-model", "pytest-mtp-fake")


def test_it_says_what_it_speculates_with(talk):
    assert talk(depth=2).get("/fake/info")["speculation"] == {"enabled": True, "method": "mtp", "depth": 2}
    assert talk(speculation=False).get("/fake/info")["speculation"] == {"enabled": False, "method": None, "depth": 0}


def test_it_is_healthy(honest):
    assert honest.get("/health") == {"status": "ok"}


def test_one_connection_carries_many_requests(honest):
    honest.text("What is 1+1?")
    before = honest.connection.sock
    honest.raw_stream("What is 1+2?")
    honest.request("POST", CHAT, b"{")
    honest.text("What is 1+3?")
    assert honest.connection.sock is before


@pytest.mark.parametrize(
    ("body", "word"),
    [
        pytest.param(b"{", "not JSON", id="broken JSON"),
        pytest.param(b"[]", "object", id="a list"),
        pytest.param(b"{}", "messages", id="no messages"),
        pytest.param(b'{"messages": "hi"}', "messages", id="a string for messages"),
        pytest.param(b'{"messages": [{"role": "pirate", "content": ""}]}', "role", id="unknown role"),
        pytest.param(b'{"messages": [7]}', "role", id="a number for a message"),
        pytest.param(b"[" * 100_000, "not JSON", id="very deep"),
        pytest.param(b"\xff\xfe\x00", "not JSON", id="no UTF-8"),
        pytest.param(b"", "not JSON", id="nothing"),
    ],
)
def test_a_bad_body_gets_400_with_a_reason(honest, body, word):
    status, answer = honest.request("POST", CHAT, body)
    assert status == 400
    assert word in json.loads(answer)["error"]["message"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("temperature", "hot"),
        ("temperature", -1),
        ("max_tokens", 0),
        ("max_tokens", True),
        ("n", 1000),
        ("top_p", 2),
        ("stop", [1]),
        ("tools", [{}]),
        ("tools", 5),
        ("tool_choice", "banana"),
        ("tool_choice", "required"),
        ("tool_choice", {"type": "function", "function": {"name": "nobody"}}),
        ("response_format", {"type": "banana"}),
        ("response_format", {"type": "json_schema"}),
        ("top_logprobs", 3),
        ("logit_bias", {"a": 1}),
        ("stream_options", 3),
    ],
    ids=lambda value: json.dumps(value)[:24],
)
def test_a_bad_option_gets_400_that_names_it(honest, field, value):
    body = {"messages": [{"role": "user", "content": "hi"}], field: value}
    assert field.split("_logprobs")[0] in honest.post(body, expect=400)["error"]["message"]


def test_an_unknown_model_gets_404_that_names_it(honest):
    error = honest.post({"model": "gpt-9", "messages": [{"role": "user", "content": "hi"}]}, expect=404)["error"]
    assert "gpt-9" in error["message"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", CHAT, 405), ("GET", "/v1/nothing", 404), ("POST", "/v1/models", 404), ("DELETE", CHAT, 405), ("BREW", "/pot", 501)],
    ids=str,
)
def test_other_methods_and_paths_are_refused_in_json(honest, method, path, status):
    code, answer = honest.request(method, path, b"{}" if method == "POST" else None)
    assert code == status
    assert json.loads(answer)["error"]["code"] == status
    honest.connection.close()


def test_a_prompt_beyond_the_context_is_refused(talk):
    body = {"messages": [{"role": "user", "content": "word " * 200}]}
    assert talk(context_length=100).post(body, expect=400)["error"]["type"] == "exceed_context_size_error"


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", id="TLS"),
        pytest.param(b"GET\r\n\r\n", id="half a request line"),
        pytest.param(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: banana\r\n\r\n", id="a word for a length"),
        pytest.param(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", id="a huge body"),
        pytest.param(
            b"POST /v1/chat/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", id="a chunked body"
        ),
        pytest.param(b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 200 + b"\r\n", id="too many headers"),
        pytest.param(b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n", id="a long path"),
        pytest.param(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 40\r\n\r\n{", id="less than announced"),
    ],
)
def test_hostile_bytes_never_end_it(honest, sent):
    with socket.create_connection(("127.0.0.1", honest.server.port), timeout=20) as raw:
        raw.sendall(sent)
        raw.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: _receive(raw), b""))
    assert b" 200 " not in answer.partition(b"\r\n")[0]
    assert honest.get("/health") == {"status": "ok"}


def _receive(raw: socket.socket) -> bytes:
    try:
        return raw.recv(65536)
    except ConnectionResetError:  # it closed with our bytes unread
        return b""


def test_a_client_that_leaves_in_mid_stream_does_no_harm(honest):
    body = json.dumps({"messages": [{"role": "user", "content": "Write a long story."}], "stream": True}).encode()
    with socket.create_connection(("127.0.0.1", honest.server.port)) as raw:
        raw.sendall(b"POST %b HTTP/1.1\r\nContent-Length: %d\r\n\r\n%b" % (CHAT.encode(), len(body), body))
        assert raw.recv(15) == b"HTTP/1.1 200 OK"
    assert honest.text("What is 20+3? Only the number.") == "23"


def test_lone_surrogates_survive_the_way_back(honest):
    assert honest.text("Repeat this text exactly: a\ud800b") == "a\ud800b"


def test_a_key_is_asked_for_where_one_is_set(talk):
    locked = talk(api_key="sesame")
    assert locked.request("GET", "/v1/models")[0] == 401
    assert locked.request("GET", "/v1/models", headers={"Authorization": "Bearer sesame"})[0] == 200


def test_many_at_once_get_the_answers_of_one_at_a_time(honest):
    def ask(number):
        with type(honest)(honest.server) as own:
            return own.text(f"What is {number} + {number}? Only the number.")

    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(ask, range(24)))
    assert made == [str(2 * number) for number in range(24)]


def test_beyond_its_seats_it_answers_503(talk):
    crowded = talk(max_concurrency=1)
    crowded.server.seats.acquire()
    assert crowded.post({"messages": [{"role": "user", "content": "hi"}]}, expect=503)["error"]["code"] == 503
    crowded.server.seats.release()
    assert crowded.text("What is 2+3? Only the number.") == "5"


def test_it_remembers_what_it_was_sent(talk):
    server = talk()
    server.text("What is 2+3?")
    assert server.server.seen[-1]["messages"][0]["content"] == "What is 2+3?"


def test_stopping_twice_and_never_starting_are_fine():
    server = FakeServer()
    server.stop()
    server.stop()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", server.port))
