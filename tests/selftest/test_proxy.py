"""The fault proxy: what no fault strikes passes byte by byte, and what one strikes is changed as the fake's own replies are."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import sys
import threading
import time
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from pytest_mtp.core.errors import UsageError
from pytest_mtp.selftest import FakeServer
from pytest_mtp.selftest.arming import arm
from pytest_mtp.selftest.proxy import PROXIED, FaultProxy
from pytest_mtp.selftest.reread import completion_of, completion_of_stream, frames_in, written
from tests.selftest.conftest import PROMPTS, Talk, body_for

RECORDED = Path(__file__).parents[1] / "servers" / "recorded"
STREAMS = sorted(path for path in RECORDED.rglob("*stream*.txt") if b"data:" in path.read_bytes())
BODIES = sorted(path for path in RECORDED.rglob("*.json") if b'"chat.completion"' in path.read_bytes())
PATH = "/v1/chat/completions"
NEVER = "no-done?longer=100000"


class Recording(ThreadingHTTPServer):
    """Answers everything with the same bytes, in the pieces given; remembers what it was sent."""

    daemon_threads = True

    def __init__(self, pieces: list[bytes], content_type: str, status: int = 200) -> None:
        self.pieces, self.content_type, self.status = pieces, content_type, status
        self.asked: list[tuple[str, dict[str, str], bytes]] = []
        self.go_on = threading.Event()
        self.go_on.set()
        super().__init__(("127.0.0.1", 0), _Replay)
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Replay(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Recording

    def log_message(self, *args):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.asked.append((self.path, dict(self.headers.items()), body))
        self.send_response(self.server.status)
        self.send_header("Content-Type", self.server.content_type)
        self.send_header("X-Engine", "one; two")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for number, piece in enumerate(self.server.pieces):
            if number:
                self.server.go_on.wait(10)
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        self.wfile.write(b"0\r\n\r\n")

    do_GET = do_POST  # noqa: N815


@pytest.fixture
def behind(request):
    """A proxy before a recording, and the recording."""
    made = []

    def start(pieces, content_type="text/event-stream; charset=utf-8", faults=(), status=200):
        upstream = Recording(pieces, content_type, status)
        proxy = FaultProxy(upstream.url, faults=faults).start()
        made.append((upstream, proxy))
        return proxy, upstream

    yield start
    for upstream, proxy in made:
        upstream.go_on.set()
        proxy.stop()
        upstream.shutdown()
        upstream.server_close()


def ask(proxy, body=None, method="POST", path=PATH, headers=None):
    host = proxy.url.removeprefix("http://")
    with closing(http.client.HTTPConnection(host, timeout=20)) as connection:
        raw = body if isinstance(body, bytes) else json.dumps(body or body_for("hello", stream=True)).encode()
        connection.request(method, path, raw, headers or {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()


def cut_in(raw: bytes, size: int) -> list[bytes]:
    return [raw[start : start + size] for start in range(0, len(raw), size)]


@pytest.mark.parametrize("size", [1, 7, 4096])
@pytest.mark.parametrize("path", STREAMS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_recorded_stream_passes_byte_by_byte(behind, path, size):
    raw = path.read_bytes()[: 600 if size == 1 else None]
    proxy, _ = behind(cut_in(raw, size), faults=[NEVER])
    status, headers, got = ask(proxy)
    assert (status, got) == (200, raw)
    assert headers["Content-Type"] == "text/event-stream; charset=utf-8"
    assert headers["X-Engine"] == "one; two"


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_struck_stream_without_the_thing_to_break_passes_byte_by_byte(behind, path):
    """Two calls are what it breaks, and these streams have one at most."""
    raw = path.read_bytes()
    proxy, _ = behind(cut_in(raw, 100), faults=["second-call-lost"])
    assert ask(proxy)[2] == raw
    assert proxy.struck == {"second-call-lost": 1}


@pytest.mark.parametrize("path", BODIES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_recorded_body_passes_byte_by_byte(behind, path):
    raw = path.read_bytes()
    proxy, _ = behind([raw], "application/json", faults=[NEVER])
    assert ask(proxy, body_for("hello"))[2] == raw


@pytest.mark.parametrize("path", BODIES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_real_body_is_read_and_only_the_struck_part_changes(behind, path):
    raw = path.read_bytes()
    came = json.loads(raw)
    proxy, _ = behind([raw], "application/json", faults=["usage-mismatch"])
    got = json.loads(ask(proxy, body_for("hello"))[2])
    assert got.pop("usage") == {**came["usage"], "completion_tokens": came["usage"]["completion_tokens"] + 3}
    for choice, before in zip(got.pop("choices"), came["choices"], strict=True):
        for field in ("content", "reasoning_content", "reasoning"):
            assert (choice["message"].get(field) or "") == (before["message"].get(field) or "")
        assert choice["finish_reason"] == before["finish_reason"]
    assert got == {name: value for name, value in came.items() if name not in ("usage", "choices")}


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_events_are_cut_and_joined_to_the_same_bytes(path):
    raw = path.read_bytes()
    assert b"".join(written(frame) for frame in frames_in(cut_in(raw, 11))) == raw


def test_the_request_goes_up_as_it_came(behind):
    proxy, upstream = behind([b"data: [DONE]\n\n"], faults=[NEVER])
    raw = b'{"model": "m",  "messages":[{"role":"user","content":"h\\u00e9"}]}'
    ask(proxy, raw, headers={"Authorization": "Bearer k", "Content-Type": "application/json", "X-Mine": "1"})
    path, headers, body = upstream.asked[0]
    assert (path, body) == (PATH, raw)
    assert headers["Authorization"] == "Bearer k"
    assert headers["X-Mine"] == "1"
    assert "User-Agent" not in headers


def test_other_paths_and_refusals_pass(behind):
    proxy, upstream = behind([b'{"error": {"message": "no"}}'], "application/json", status=418, faults=["stop-at-the-cap"])
    assert ask(proxy, b"", "GET", "/v1/models?x=1")[::2] == (418, b'{"error": {"message": "no"}}')
    assert upstream.asked[0][0] == "/v1/models?x=1"
    assert ask(proxy)[::2] == (418, b'{"error": {"message": "no"}}')
    assert ask(proxy, b"no json at all")[0] == 418


def test_words_pass_as_they_come(behind):
    """The first piece is here while the upstream still holds the second back; a fault that works event by event keeps that."""
    pieces = [b'data: {"choices": [{"index": 0, "delta": {"content": "a"}}]}\n\n', b"data: [DONE]\n\n"]
    for faults in ([NEVER], ["empty-reasons"]):
        proxy, upstream = behind(pieces, faults=faults)
        upstream.go_on.clear()
        with socket.create_connection(("127.0.0.1", int(proxy.url.rpartition(":")[2])), timeout=10) as connection:
            raw = json.dumps(body_for("hello", stream=True)).encode()
            connection.sendall(b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%b" % (PATH.encode(), len(raw), raw))
            got = b""
            while b'"a"' not in got:
                got += connection.recv(65536)
            assert b"[DONE]" not in got
            upstream.go_on.set()
            while b"0\r\n\r\n" not in got:
                got += connection.recv(65536)
        assert b"[DONE]" in got


def test_a_dead_upstream_is_a_502():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with FaultProxy(f"http://127.0.0.1:{taken.getsockname()[1]}/v1") as proxy:
            status, _, body = ask(proxy)
    assert status == 502
    assert "upstream" in json.loads(body)["error"]["message"]


def test_a_client_that_hangs_up_is_passed_on():
    with FakeServer(token_delay_ms=20) as fake, FaultProxy(fake.url) as proxy:
        raw = json.dumps(body_for("Write a long story.", stream=True)).encode()
        with socket.create_connection(("127.0.0.1", int(proxy.url.rpartition(":")[2])), timeout=10) as connection:
            connection.sendall(b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%b" % (PATH.encode(), len(raw), raw))
            assert connection.recv(100)
        deadline = time.monotonic() + 20
        while fake.counters.running and time.monotonic() < deadline:
            time.sleep(0.02)
        assert fake.counters.running == 0


SAME_AS_THE_FAKE = [name for name in PROXIED if not any(word.fault.door or word.fault.refuse for word in arm([name]))]


@pytest.mark.parametrize("prompt", ["prose", "two calls", "json"])
@pytest.mark.parametrize("name", SAME_AS_THE_FAKE)
def test_the_proxy_breaks_whole_replies_as_the_fake_does(name, prompt):
    dialects = [str(arm([name])[0].fault.setting.get("dialects"))] if "dialects" in arm([name])[0].fault.setting else []
    with (
        FakeServer(faults=[name], dialects=dialects) as broken,
        FakeServer(dialects=dialects) as honest,
        FaultProxy(honest.url, faults=[name]) as proxy,
    ):
        asked = body_for(**(PROMPTS[prompt] | {"stop": ["zzz", "!!"], "max_tokens": 300, "frequency_penalty": 1.0}))
        with Talk(broken) as talk:
            one = talk.post(asked)
        status, _, raw = ask(proxy, asked)
    other = json.loads(raw)
    assert status == 200
    assert said(one) == said(other)


def said(body):
    message = body["choices"][0]["message"]
    calls = [(call["id"], call["function"]["name"], call["function"]["arguments"]) for call in message.get("tool_calls", ())]
    usage = body.get("usage") or {}
    return message.get("content") or "", message.get("reasoning_content") or "", calls, body["choices"][0]["finish_reason"], usage


@pytest.mark.parametrize("name", [name for name in SAME_AS_THE_FAKE if arm([name])[0].fault.frames])
def test_the_proxy_breaks_streams_as_the_fake_does(name):
    fault = arm([name])[0].fault
    dialects = [str(fault.setting.get("dialects"))] if "dialects" in fault.setting else []
    for prompt in ("prose", "two calls", "echo"):
        with (
            FakeServer(faults=[name], dialects=dialects) as broken,
            FakeServer(dialects=dialects) as honest,
            FaultProxy(honest.url, faults=[name]) as proxy,
        ):
            asked = body_for(**PROMPTS[prompt], stream=True, stream_options={"include_usage": True})
            with Talk(broken) as talk:
                _, one = talk.request("POST", PATH, json.dumps(asked).encode())
            other = ask(proxy, asked)[2]
        assert payloads(one) == payloads(other)


def payloads(raw):
    found = []
    for frame in frames_in([raw]):
        payload = dict(frame.payload) if not isinstance(frame.payload, str) else {"text": frame.payload}
        found.append({name: value for name, value in payload.items() if name not in ("id", "created")})
    return found


def test_a_stream_is_read_as_its_whole_reply_is(honest):
    for asked in PROMPTS.values():
        stream = completion_of_stream(tuple(frames_in([honest.raw_stream(**asked)])))
        whole = completion_of(honest.post(body_for(**asked)))
        assert [(choice.text("content"), choice.finish, [head.name for head in choice.calls]) for choice in stream.choices] == [
            (choice.text("content"), choice.finish, [head.name for head in choice.calls]) for choice in whole.choices
        ]


def test_a_rate_strikes_a_share_and_a_seed_repeats_it():
    def struck(seed):
        with FakeServer() as fake, FaultProxy(fake.url, faults=["finish-reason@0.3"], seed=seed) as proxy:
            return [json.loads(ask(proxy, body_for(f"Say {n}", max_tokens=4))[2])["choices"][0]["finish_reason"] for n in range(60)]

    first = struck(7)
    assert first == struck(7)
    assert first != struck(8)
    assert 6 <= first.count("stop") <= 32


def test_faults_compose():
    with FakeServer() as fake, FaultProxy(fake.url, faults=["usage-mismatch", "stop-at-the-cap", "no-done"]) as proxy:
        body = json.loads(ask(proxy, body_for("Write a long story.", max_tokens=5))[2])
        assert body["choices"][0]["finish_reason"] == "stop"
        assert body["usage"]["completion_tokens"] == 8
        assert b"[DONE]" not in ask(proxy, body_for("Hello", stream=True))[2]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["wrong-value"], "a proxy cannot show it"),
        (["no-dome"], "did you mean 'no-done'"),
        (["no-done?stremed"], "did you mean 'streamed'"),
        (["no-done?after=x"], "whole number"),
        (["no-done?streamed=3"], "takes no number"),
        (["no-done@2"], "between 0 and 1"),
    ],
)
def test_wrong_words_are_one_clear_message(words, message):
    with pytest.raises(UsageError, match=message):
        FaultProxy("http://127.0.0.1:1", faults=words)


@pytest.mark.parametrize("word", ["localhost:8000", "ftp://x", "http://", "http://[::1"])
def test_an_address_that_is_none(word):
    with pytest.raises(UsageError, match="--upstream"):
        FaultProxy(word)


def test_the_command_serves_and_ends():
    with FakeServer() as fake:
        words = [sys.executable, "-m", "pytest_mtp.selftest.proxy", "--upstream", fake.url, "--fault", "no-done"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
            url = process.stdout.readline().split()[1]
            host = url.removeprefix("http://")
            with closing(http.client.HTTPConnection(host, timeout=20)) as connection:
                connection.request("POST", PATH, json.dumps(body_for("Hello", stream=True)), {"Content-Type": "application/json"})
                assert b"[DONE]" not in connection.getresponse().read()
            process.terminate()
            assert process.stdout.read() == "struck: no-done 1\n"
        assert process.returncode == 0
