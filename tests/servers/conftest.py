"""Small HTTP servers that behave as told, and a client that gives up at once."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pytest_mtp.client.http import HttpClient
from pytest_mtp.client.retry import RetryPolicy
from pytest_mtp.core.facts import Endpoint
from pytest_mtp.servers.address import parse_address
from pytest_mtp.servers.attach import attach_with
from pytest_mtp.servers.server import BoundServer

RECORDED = Path(__file__).parent / "recorded"

Route = Callable[[Mapping[str, Any]], "Page"]


@dataclass(frozen=True, kw_only=True)
class Page:
    """`close` ends the connection without an answer."""

    status: int = 200
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    close: bool = False


def page(value: object, status: int = 200) -> Page:
    return Page(status=status, body=json.dumps(value))


def html(status: int = 200) -> Page:
    return Page(status=status, body="<!doctype html><title>Welcome</title>", headers={"Content-Type": "text/html"})


def models(*names: str, owned_by: str = "somebody", **more: object) -> Page:
    return page({"object": "list", "data": [{"id": name, "object": "model", "owned_by": owned_by, **more} for name in names]})


def completion(text: str = "Light", *, prompt_tokens: int = 12, model: str = "m", **more: object) -> dict[str, Any]:
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "length"}],
        "usage": {"prompt_tokens": prompt_tokens, "completion_tokens": 1, "total_tokens": prompt_tokens + 1},
        **more,
    }


def answers(body: Mapping[str, Any]) -> Page:
    """A plain server: refuses logprobs, streams without usage, answers anew after a final assistant message."""
    if body.get("logprobs"):
        return page({"error": {"message": "logprobs are not supported", "type": "invalid_request_error"}}, 400)
    if body.get("stream"):
        chunk = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        delta = [{"index": 0, "delta": {"role": "assistant", "content": "Light is"}, "finish_reason": "length"}]
        return Page(
            body=f"data: {json.dumps({**chunk, 'choices': delta})}\n\ndata: [DONE]\n\n", headers={"Content-Type": "text/event-stream"}
        )
    anew = body["messages"][-1]["role"] == "assistant"
    return page(completion(prompt_tokens=18 if anew else 12))


class StubServer:
    """Serves `routes`, keyed `METHOD /path`; keeps what was asked."""

    def __init__(self, routes: Mapping[str, Page | Route]) -> None:
        self.routes, self.asked = dict(routes), list[str]()
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        stub = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self.answer({})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                stub.bodies.append(body)
                self.answer(body)

            def answer(self, body: Mapping[str, Any]) -> None:
                key = f"{self.command} {self.path}"
                stub.asked.append(key)
                stub.headers.append({name.lower(): value for name, value in self.headers.items()})
                route = stub.routes.get(key, page({"error": {"message": f"Not Found: {self.path}"}}, 404))
                got = route if isinstance(route, Page) else route(body)
                if got.close:
                    self.close_connection = True
                    return
                content = got.body.encode()
                self.send_response(got.status)
                for name, value in got.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                pass

        self._http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.port = self._http.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=partial(self._http.serve_forever, poll_interval=0.01))
        self._thread.start()

    def close(self) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()


@contextmanager
def serving(routes: Mapping[str, Page | Route]) -> Iterator[StubServer]:
    stub = StubServer(routes)
    try:
        yield stub
    finally:
        stub.close()


@dataclass(frozen=True)
class Tools:
    """What tests of this folder use, since test modules cannot import each other."""

    serve: Callable[[Mapping[str, Page | Route]], StubServer]
    attach: Callable[..., BoundServer]
    client: Callable[[str], HttpClient]
    Page = Page
    page = staticmethod(page)
    html = staticmethod(html)
    models = staticmethod(models)
    completion = staticmethod(completion)
    answers = staticmethod(answers)
    recorded = RECORDED


@pytest.fixture
def kit() -> Iterator[Tools]:
    with ExitStack() as open_things:

        def serve(routes: Mapping[str, Page | Route]) -> StubServer:
            return open_things.enter_context(serving(routes))

        def attach(url: str, *, model: str | None = None, key: str | None = None, wait_s: float = 5) -> BoundServer:
            def opener(endpoint: Endpoint) -> HttpClient:
                return HttpClient(endpoint, api_key=key, timeout_s=wait_s, retry=RetryPolicy(retries=0))

            server = attach_with(opener, parse_address(url), model=model, api_key_env=None, api_key=key, wait_s=wait_s)
            open_things.callback(server.client.close)
            return server

        def client(url: str) -> HttpClient:
            made = HttpClient(Endpoint(root=url, api_root=f"{url}/v1", model="m"), timeout_s=5, retry=RetryPolicy(retries=0))
            open_things.callback(made.close)
            return made

        yield Tools(serve=serve, attach=attach, client=client)
