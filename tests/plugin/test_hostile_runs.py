"""Whole runs against servers gone mad: an exit code of ours, a report, no traceback, and no control characters anywhere."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import jsonschema
import pytest

from pytest_mtp.checks.control import PROMPTS
from pytest_mtp.reports.json_report import report_schema
from tests.client.raw_server import DONE, GOOD_STREAM, RawServer, Serve, Talk, completion, delta, event, raw_server, response, stream_head

EVIL = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202e\r\n::error::x\n</details><script>alert(1)</script>|`![a](http://x)"
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
ANSWERS = {"capital": "Paris", "sum": "4", "code": "def add(a, b): return a + b", "prose": "Light is scattered by the air."}
KNOWN = {prompt.prompt: ANSWERS[prompt.id] for prompt in PROMPTS}


def honestly(talk: Talk, content: str) -> None:
    if b'"stream":true' in talk.request:
        talk.send(stream_head() + event(delta(role="assistant", content=content)) + event(delta("stop")) + DONE)
    else:
        talk.send(response(json.dumps(completion(content=content))))


def mad(serve: Serve) -> Serve:
    """Honest to the questions of the control, so that the run begins; to all others as `serve` does."""

    def one(talk: Talk) -> None:
        path = talk.request.split(b" ", 2)[1]
        if path.endswith(b"/models"):
            talk.send(response(json.dumps({"object": "list", "data": [{"id": "m", "object": "model", "owned_by": "somebody"}]})))
            return
        if b"/chat/completions" not in path:
            talk.send(response("Not Found", status="404 Not Found"))
            return
        messages = json.loads(talk.request.partition(b"\r\n\r\n")[2])["messages"]
        known = KNOWN.get(next(message["content"] for message in messages if message["role"] == "user"))
        if known is not None:
            honestly(talk, known)
        else:
            serve(talk)

    return one


def slow(talk: Talk) -> None:
    talk.send(stream_head())
    talk.drip(b": \n", 0.05)


def poured(talk: Talk) -> None:
    talk.send(stream_head())
    for _ in range(80):
        talk.send(event(delta(content="word ")) * 16_000)


def everything(talk: Talk) -> None:
    body = completion(
        content=EVIL, reasoning_content=EVIL, tool_calls=[{"id": EVIL, "type": EVIL, "function": {"name": EVIL, "arguments": EVIL}}]
    )
    talk.send(response(json.dumps({**body, "id": EVIL, "model": EVIL, "system_fingerprint": EVIL, EVIL: {EVIL: EVIL}})))


BEHAVIOURS: dict[str, Serve] = {
    "control characters everywhere": everything,
    "control characters in an error": lambda talk: talk.send(
        response(json.dumps({"error": {"message": EVIL, "code": EVIL}}), status="400 No")
    ),
    "control characters in a page": lambda talk: talk.send(
        response(f"<html><title>{EVIL}</title>", status="500 \x1b[31m", kind="text/html")
    ),
    "control characters in a stream": lambda talk: talk.send(stream_head() + event(delta(content=EVIL)) + EVIL.encode() + b"\n" + DONE),
    "lone surrogates": lambda talk: talk.send(response(json.dumps(completion(content="\ud800 \udfff", reasoning_content="\ud800")))),
    "bytes of all values": lambda talk: talk.send(response(bytes(range(256)))),
    "closes": lambda _: None,
    "resets": lambda talk: talk.reset(),
    "never ends": slow,
    "pours": poured,
    "nested": lambda talk: talk.send(response("[" * 200_000)),
    "numbers beyond floats": lambda talk: talk.send(
        response(json.dumps(completion()).replace('"completion_tokens": 1', '"completion_tokens": 1e999, "x": -1e999'))
    ),
    "a stream to all": lambda talk: talk.send(stream_head() + GOOD_STREAM),
    "gzip of nothing": lambda talk: talk.send(response(b"plain", headers="Content-Encoding: gzip\r\n")),
    "redirects": lambda talk: talk.send(b"HTTP/1.1 302 \x1b[31m\r\nLocation: /\x1b[31m?token=s3cret\r\nContent-Length: 0\r\n\r\n"),
    "calls of all kinds": lambda talk: talk.send(
        response(json.dumps(completion(tool_calls=[None, 7, {"function": {"name": [], "arguments": {"a": float(10**300)}}}])))
    ),
}


IN_EVERY_LANE = ("control characters everywhere", "control characters in an error", "lone surrogates", "never ends", "pours", "redirects")
"""The others take longer than the unit lane has."""

RUNS = [name if name in IN_EVERY_LANE else pytest.param(name, marks=pytest.mark.engine) for name in BEHAVIOURS]


def clean(words: str) -> str:
    """The first control character with what stands around it."""
    found = CONTROL.search(words)
    return repr(words[max(0, found.start() - 60) : found.end() + 20]) if found else ""


def run(pytester: pytest.Pytester, server: RawServer, *words: str) -> pytest.RunResult:
    common = ("-p", "no:cacheprovider", "-p", "no:randomly", "--color=no", "-v", "--mtp-server", server.root, "--mtp-timeout", "1")
    return pytester.runpytest_inprocess(*common, *words)


def assert_told(pytester: pytest.Pytester, result: pytest.RunResult, exits: tuple[int, ...]) -> None:
    out, errors = result.stdout.str(), result.stderr.str()
    assert result.ret in exits, out
    for words in (out, errors):
        assert "Traceback" not in words
        assert "INTERNALERROR" not in words
        assert not clean(words)
    folder = Path(pytester.path) / ".mtp"
    report = (folder / "mtp-report.json").read_text()
    jsonschema.validate(json.loads(report), report_schema())
    assert not clean(report)
    markdown = (folder / "summary.md").read_text()
    assert not clean(markdown)
    assert "<script" not in markdown
    assert "s3cret" not in out + errors + report + markdown
    for file in folder.rglob("*.jsonl"):
        assert not clean(file.read_text())


@pytest.mark.parametrize("name", RUNS)
def test_mad_once_the_run_has_begun(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: None)  # between retries
    with raw_server(mad(BEHAVIOURS[name])) as server:
        result = run(pytester, server, "--mtp-suite", "builtin:smoke", "--mtp-suite", "builtin:limits")
    assert_told(pytester, result, (pytest.ExitCode.TESTS_FAILED, 69))
    if name == "control characters everywhere":
        assert "\\x1b" in result.stdout.str()  # they are told, in a form that does nothing


@pytest.mark.parametrize("name", ["control characters in an error", "never ends", "redirects"])
def test_mad_from_the_start(pytester: pytest.Pytester, name: str) -> None:
    with raw_server(BEHAVIOURS[name]) as server:
        result = run(pytester, server, "--mtp-suite", "builtin:smoke")
    assert_told(pytester, result, (69,))


def test_a_model_whose_name_is_a_weapon(pytester: pytest.Pytester) -> None:
    def serve(talk: Talk) -> None:
        if b"/models" in talk.request[:60]:
            talk.send(response(json.dumps({"data": [{"id": f"m{EVIL}", "owned_by": EVIL, "aliases": [EVIL]}]})))
        elif b"/chat" in talk.request[:60]:
            honestly(talk, EVIL)
        else:
            talk.send(response(EVIL, status="404 Not Found"))

    with raw_server(serve) as server:
        result = run(pytester, server, "--mtp-suite", "builtin:smoke")
    assert_told(pytester, result, (pytest.ExitCode.TESTS_FAILED, 69))
