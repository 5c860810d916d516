"""The server suite on a real engine: llama.cpp, alone and behind a proxy that admits more than it runs."""

from __future__ import annotations

import http.client
import http.server
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from pytest_mtp.core.facts import ServerFacts
from pytest_mtp.core.run import RunReport
from pytest_mtp.core.verdict import Verdict
from pytest_mtp.servers.demo.assemble import assemble
from pytest_mtp.servers.launch import launch
from pytest_mtp.servers.launched import LaunchedServer

pytestmark = pytest.mark.engine

SUITE = """
schema_version: 1
suite: server
cases:
  - {id: identity, check: identity}
  - {id: admission, check: admission, with: {most: 8, max_tokens: 16}}
"""


Gate = Callable[..., tuple[int, str, RunReport]]


def asked(gate: Gate, folder: Path, url: str) -> tuple[ServerFacts, Mapping[str, Verdict]]:
    """One run as a user types it."""
    folder.joinpath("server.mtp.yaml").write_text(SUITE)
    code, text, report = gate(folder, "--mtp-server", url, "server.mtp.yaml")
    assert code == 0, text
    (server,) = report.servers
    return server, {case.verdict.case_id: case.verdict for case in report.cases}


def numbers(verdict: Verdict) -> dict[str, tuple[float | None, bool]]:
    return {measure.name: (measure.value, measure.note.startswith("exactly")) for measure in verdict.measures}


@contextmanager
def door(url: str, width: int) -> Iterator[str]:
    """A reverse proxy that passes `width` chats on at a time and answers 429 to the others."""
    seats = threading.BoundedSemaphore(width)
    target = urlsplit(url).netloc

    class Proxy(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.pass_on(b"")

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if not seats.acquire(blocking=False):
                self.send_response(429)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(b'{"error": {"message": "too many parallel requests", "code": 429}}')
                return
            try:
                self.pass_on(body)
            finally:
                seats.release()

        def pass_on(self, body: bytes) -> None:
            behind = http.client.HTTPConnection(target, timeout=120)
            behind.request(self.command, self.path, body or None, {"Content-Type": "application/json"})
            got = behind.getresponse()
            self.send_response(got.status)
            self.send_header("Content-Type", got.getheader("Content-Type", "application/json"))
            self.end_headers()
            while piece := got.read1():
                self.wfile.write(piece)
            behind.close()

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    proxy.daemon_threads = True
    thread = threading.Thread(target=proxy.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{proxy.server_address[1]}"
    finally:
        proxy.shutdown()
        thread.join()
        proxy.server_close()


@pytest.fixture
def started(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[LaunchedServer]:
    server = launch("demo", run_dir=tmp_path, params={"n_parallel": request.param}, timeout_s=180)
    yield server
    server.stop()


@pytest.mark.parametrize("started", [2], indirect=True)
def test_the_demo_is_what_it_says_and_runs_two_at_once(started: LaunchedServer, gate: Gate, tmp_path: Path) -> None:
    server, verdicts = asked(gate, tmp_path, started.facts.endpoint.root)
    assert server.process is not None
    assert server.process.pid == started.facts.pid
    assert server.process.model_path == str(assemble())
    assert server.process.real_paths[str(assemble())] == str(assemble().resolve())
    assert verdicts["identity"].findings == ()
    admission = verdicts["admission"]
    assert admission.findings == ()
    assert numbers(admission) == {"requests_admitted": (8.0, False), "requests_run_at_once": (2.0, True)}


@pytest.mark.parametrize("started", [1], indirect=True)
def test_a_proxy_that_admits_four_before_an_engine_that_runs_one_is_reported(started: LaunchedServer, gate: Gate, tmp_path: Path) -> None:
    with door(started.facts.endpoint.root, 4) as url:
        server, verdicts = asked(gate, tmp_path, url)
    assert numbers(verdicts["admission"]) == {"requests_admitted": (4.0, True), "requests_run_at_once": (1.0, True)}
    (finding,) = verdicts["admission"].findings
    assert (finding.code, finding.severity) == ("PERF.admission", "note")
    assert "admits 4 requests at once, and the engine runs 1" in finding.title
    assert "llama.cpp -np/--parallel" in finding.detail
    assert verdicts["identity"].findings == ()
    assert server.process is not None
    assert server.process.pid == started.facts.pid  # found below the process that listens, which started it
    assert any("the server that it started is" in line for line in server.evidence)
