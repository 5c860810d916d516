"""A plain client without any repair, since what stands on the wire is the subject."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, Self

import pytest

from pytest_mtp.selftest import FakeServer

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Current weather of a city",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "unit": {"type": "string", "enum": ["C", "F"]}},
            "required": ["city"],
        },
    },
}
TRIP = {
    "type": "function",
    "function": {
        "name": "plan_trip",
        "parameters": {
            "type": "object",
            "properties": {"origin": {"type": "string"}, "destination": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["origin", "destination", "days"],
        },
    },
}

PROMPTS: dict[str, dict[str, Any]] = {
    "prose": {"prompt": "Why is the sky blue?"},
    "german": {"prompt": "Schreibe bitte etwas über die Stadt."},
    "chinese": {"prompt": "请写一篇关于城市的文章"},
    "long": {"prompt": "Write a long story."},
    "sum": {"prompt": "What is 17 * 3 + 2?"},
    "code": {"prompt": "Write a Python function that adds two numbers."},
    "echo": {"prompt": "Repeat this text exactly: Zoë ate 3 🍎 with naïve 東京 friends 👩‍👩‍👧."},
    "call": {"prompt": "What is the weather in Paris?", "tools": [WEATHER]},
    "two calls": {"prompt": "What is the weather in Paris and in Rome?", "tools": [WEATHER, TRIP]},
    "long call": {"prompt": "Call plan_trip for a trip of 4 days from Oslo to Madrid.", "tools": [WEATHER, TRIP]},
    "no call": {"prompt": "Tell me about bridges.", "tools": [WEATHER]},
    "json": {
        "prompt": "Describe a cat.",
        "response_format": {
            "type": "json_schema",
            "json_schema": {
                "name": "cat",
                "schema": {
                    "type": "object",
                    "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 3}},
                    "required": ["name", "age"],
                },
            },
        },
    },
}


def body_for(prompt: str, **fields: Any) -> dict[str, Any]:
    return {"model": "fake-model", "messages": [{"role": "user", "content": prompt}], "temperature": 0, **fields}


class Talk:
    """One keep-alive connection to a fake."""

    prompts = PROMPTS

    def __init__(self, server: FakeServer) -> None:
        self.server = server
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    def request(self, method: str, path: str, raw: bytes | None = None, headers: dict[str, str] | None = None) -> tuple[int, bytes]:
        self.connection.request(method, path, raw, headers or {})
        answer = self.connection.getresponse()
        return answer.status, answer.read()

    def get(self, path: str) -> Any:
        status, body = self.request("GET", path)
        assert status == 200, body
        return json.loads(body)

    def post(self, body: dict[str, Any], expect: int = 200) -> Any:
        status, answer = self.request("POST", "/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
        assert status == expect, answer
        return json.loads(answer)

    def named(self, name: str, **fields: Any) -> dict[str, Any]:
        """The whole reply to one of `PROMPTS`, without what may differ between two honest servers."""
        reply = self.post(body_for(**(PROMPTS[name] | fields)))
        reply.get("usage", {}).pop("prompt_tokens_details", None)  # what the cache holds depends on who asked before
        for count in ("cache_n", "prompt_n"):
            reply.get("timings", {}).pop(count, None)
        return {key: value for key, value in reply.items() if key not in ("id", "created")}

    def choice(self, prompt: str, **fields: Any) -> dict[str, Any]:
        return self.post(body_for(prompt, **fields))["choices"][0]

    def text(self, prompt: str, **fields: Any) -> str:
        return self.choice(prompt, **fields)["message"]["content"]

    def raw_stream(self, prompt: str, **fields: Any) -> bytes:
        body = body_for(prompt, stream=True, stream_options={"include_usage": True}, **fields)
        status, answer = self.request("POST", "/v1/chat/completions", json.dumps(body).encode())
        assert status == 200, answer
        return answer

    def events(self, prompt: str, **fields: Any) -> list[Any]:
        lines = self.raw_stream(prompt, **fields).decode().split("\n")  # splitlines would cut at U+0085 inside of data
        data = [line.removeprefix("data:").strip() for line in lines if line.startswith("data:")]
        return [item if item == "[DONE]" else json.loads(item) for item in data]

    def streamed(self, prompt: str, **fields: Any) -> dict[str, Any]:
        """Choice 0 of a stream, put together by the letter of the protocol."""
        message: dict[str, Any] = {"content": None, "tool_calls": []}
        finish, usage, done = None, None, False
        for event in self.events(prompt, **fields):
            if event == "[DONE]":
                done = True
                continue
            usage = event.get("usage") or usage
            for choice in event.get("choices", ()):
                finish = choice["finish_reason"] or finish
                delta = choice["delta"]
                if delta.get("content") is not None:
                    message["content"] = (message["content"] or "") + delta["content"]
                for call in delta.get("tool_calls", ()):
                    if call["index"] == len(message["tool_calls"]):
                        message["tool_calls"].append({"id": call["id"], "name": call["function"]["name"], "arguments": ""})
                    message["tool_calls"][call["index"]]["arguments"] += call["function"]["arguments"]
        (usage or {}).pop("prompt_tokens_details", None)  # as in `named`
        return {**message, "finish": finish, "usage": usage, "done": done}

    def counters(self) -> dict[str, float]:
        _, text = self.request("GET", "/metrics")
        lines = [line.rpartition(" ") for line in text.decode().splitlines() if not line.startswith("#")]
        return {name.removeprefix("fake:"): float(value) for name, _, value in lines if "_created" not in name}


@pytest.fixture
def talk() -> Iterator[Callable[..., Talk]]:
    """Start a fake with these options and talk to it."""
    with ExitStack() as stack:

        def start(**options: Any) -> Talk:
            return stack.enter_context(Talk(stack.enter_context(FakeServer(**options))))

        yield start


@pytest.fixture(scope="session")
def honest() -> Iterator[Talk]:
    """One honest fake for all who do not look at its counters."""
    with FakeServer() as server, Talk(server) as made:
        yield made


@pytest.fixture(params=PROMPTS, ids=str)
def asked(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Every kind of prompt in turn, as arguments of `Talk.choice`."""
    return PROMPTS[request.param]


@pytest.fixture(params=[name for name in PROMPTS if name.endswith(("call", "calls")) and name != "no call"], ids=str)
def called(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The prompts that are answered with calls."""
    return PROMPTS[request.param]


@pytest.fixture(params=[name for name in PROMPTS if not name.endswith(("call", "calls")) or name == "no call"], ids=str)
def spoken(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The prompts that are answered in words."""
    return PROMPTS[request.param]
