"""Servers that are not there, not themselves, or die: one clear message, the right outcome and exit code."""

from __future__ import annotations

import contextlib
import http.server
import json
import socket
import threading
from collections.abc import Iterator

import pytest

from pytest_mtp.plugin.controller import EXIT_SERVER_UNUSABLE
from pytest_mtp.selftest.fake import FakeServer
from tests.plugin.conftest import GateRun

SECRET = "sk-very-secret-value"


@contextlib.contextmanager
def serving(handler: type[http.server.BaseHTTPRequestHandler]) -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


class Html(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<html><body>Welcome to nginx</body></html>")

    do_POST = do_GET  # noqa: N815  # the name that http.server looks for

    def log_message(self, *_: object) -> None:
        """Quiet."""


@pytest.fixture
def silent_port() -> Iterator[int]:
    """Accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def unusable(gate: GateRun, *words: str) -> str:
    """The exit code of ours, a report that says blocked, no traceback; returns what was printed."""
    outcome = gate(*words)
    text = outcome.result.stdout.str() + outcome.result.stderr.str()
    assert outcome.result.ret == EXIT_SERVER_UNUSABLE, text
    assert outcome.report.gate.verdict == "blocked"
    assert len(outcome.report.gate.blocking) == 1
    assert "Traceback" not in text
    assert SECRET not in text
    return text


def test_unreachable_host(gate: GateRun) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    assert "INFRA.connect" in unusable(gate, "--mtp-server", f"http://127.0.0.1:{port}")


def test_tls_on_a_plain_port(gate: GateRun) -> None:
    with FakeServer() as server:
        assert "INFRA.tls" in unusable(gate, "--mtp-server", server.url.replace("http://", "https://"))


def test_html_instead_of_json(gate: GateRun) -> None:
    with serving(Html) as url:
        text = unusable(gate, "--mtp-server", url)
    assert "INFRA.path" in text or "PROTO.json" in text
    assert "web page" in text


def test_wrong_credentials(gate: GateRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", SECRET)
    with FakeServer(faults=("unauthorized",)) as server:
        assert "INFRA.auth" in unusable(gate, "--mtp-server", server.url, "--mtp-api-key-env", "A_KEY")


def test_wrong_model_name_says_the_nearest(gate: GateRun) -> None:
    with FakeServer(alias="smol-model") as server:
        text = unusable(gate, "--mtp-server", server.url, "--mtp-model", "smol-modle")
    assert "INFRA.model" in text
    assert "smol-model" in text.replace("smol-modle", "")


def test_a_server_that_never_answers(gate: GateRun, silent_port: int) -> None:
    assert "INFRA.timeout" in unusable(gate, "--mtp-server", f"http://127.0.0.1:{silent_port}", "--mtp-timeout", "1")


@pytest.mark.parametrize("suffix", ["", "/", "/v1", "/v1/"], ids=["bare", "slash", "v1", "v1 slash"])
def test_the_address_with_and_without_its_path(gate: GateRun, suffix: str) -> None:
    with FakeServer() as server:
        root = server.url.removesuffix("/v1")
        outcome = gate("--mtp-server", f"{root}{suffix}", "-k", "sum")
    assert outcome.result.ret == pytest.ExitCode.OK


def test_a_server_that_dies_is_blocked_and_the_rest_is_not_burned(gate: GateRun) -> None:
    outcome = gate("--mtp-launch", "fake?faults=die-after:90", "-p", "no:xdist", suite=many(60))
    cases = outcome.report.cases
    assert len(cases) == 60
    passed = sum(case.verdict.outcome == "PASS" for case in cases)
    blocked = [case for case in cases if case.verdict.outcome == "BLOCKED"]
    assert passed + len(blocked) == 60
    assert passed > 0
    assert sum(case.verdict.exchanges for case in blocked) <= 20, "asks in flight when it died, and no more"
    assert "INFRA.crash" in {finding.code for case in blocked for finding in case.verdict.findings}
    assert outcome.report.gate.verdict == "blocked"
    assert outcome.result.ret == EXIT_SERVER_UNUSABLE


def many(count: int) -> str:
    rows = "".join(
        f"  - {{id: c{i}, ask: \"What is {i} + {i}? End with 'Answer: N'.\", expect: {{number: {2 * i}}}}}\n" for i in range(count)
    )
    return f"schema_version: 1\nsuite: many\ncases:\n{rows}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("schema_version: 1\nsuite: x\ncases: [\n", "*probe.mtp.yaml:*"),
        ("schema_version: 1\nsuite: x\nsuite: y\ncases: []\n", "*probe.mtp.yaml:3:*suite*"),
        (
            "schema_version: 1\nsuite: x\ncases:\n  - id: a\n    aks: hi\n    expect: {number: 1}\n",
            "*probe.mtp.yaml:5:*aks*did you mean 'ask'*",
        ),
        (
            "schema_version: 1\nsuite: x\ncases:\n  - {id: a, ask: hi, expect: {number: 1}}\n  - {id: a, ask: ho, expect: {number: 1}}\n",
            "*probe.mtp.yaml:5:*",
        ),
        ("schema_version: 1\nsuite: x\ncases:\n  - {id: a, ask: hi}\n", "*probe.mtp.yaml:4:*golden*"),
    ],
    ids=["malformed", "duplicate key", "unknown key", "duplicate id", "no golden answer"],
)
def test_a_wrong_suite_file_is_one_message_with_its_line(gate: GateRun, text: str, message: str) -> None:
    outcome = gate("--mtp-launch", "fake", suite=text)
    assert outcome.result.ret == pytest.ExitCode.INTERRUPTED
    outcome.result.stdout.fnmatch_lines([message])
    assert "Traceback" not in outcome.result.stdout.str()


def test_a_golden_answer_without_a_case(gate: GateRun, pytester: pytest.Pytester) -> None:
    folder = pytester.path / "golden_answers" / "x"
    folder.mkdir(parents=True)
    (folder / "any.yaml").write_text(
        "schema_version: 1\nsuite: x\nmodel: any\nprovenance: {author: us, date: '2026-01-01'}\nanswers:\n  b: {expect: {number: 1}}\n"
    )
    outcome = gate("--mtp-launch", "fake", suite="schema_version: 1\nsuite: x\ncases:\n  - {id: a, ask: hi, expect: {number: 1}}\n")
    outcome.result.stdout.fnmatch_lines(["*any.yaml:6:*"])


def test_a_report_folder_that_cannot_be_written_is_said_before_anything_is_asked(pytester: pytest.Pytester) -> None:
    (pytester.path / "taken").write_text("a file")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        result = pytester.runpytest_inprocess("--mtp-server", f"http://127.0.0.1:{listener.getsockname()[1]}", "--mtp-report", "taken")
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--mtp-report: *taken is not a folder*"])


def test_ctrl_c_writes_what_was_measured(pytester: pytest.Pytester) -> None:
    (pytester.path / "probe.mtp.yaml").write_text(many(5))
    (pytester.path / "test_z_interrupt.py").write_text("def test_interrupt():\n    raise KeyboardInterrupt\n")
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "--mtp-launch", "fake", "probe.mtp.yaml", "test_z_interrupt.py")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    report = json.loads((pytester.path / ".mtp" / "mtp-report.json").read_text())
    assert len(report["cases"]) == 5
    assert report["run"]["complete"] is False


def test_a_cancelled_job_keeps_what_was_measured(pytester: pytest.Pytester) -> None:
    (pytester.path / "probe.mtp.yaml").write_text(many(5))
    (pytester.path / "test_z_cancel.py").write_text("import os, signal\n\n\ndef test_cancel():\n    os.kill(os.getpid(), signal.SIGTERM)\n")
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "--mtp-launch", "fake", "probe.mtp.yaml", "test_z_cancel.py")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    report = json.loads((pytester.path / ".mtp" / "mtp-report.json").read_text())
    assert len(report["cases"]) == 5
    assert report["gate"]["verdict"] == "inconclusive"


def test_a_server_that_dies_during_the_control_is_blocked_and_not_broken(gate: GateRun) -> None:
    outcome = gate("--mtp-launch", "fake?faults=die-after:14", suite=many(3))
    assert outcome.report.gate.verdict == "blocked"
    assert outcome.result.ret == EXIT_SERVER_UNUSABLE
    assert [case.verdict.outcome for case in outcome.report.cases] == ["BLOCKED"] * 3


def test_a_server_whose_every_answer_is_broken_closes_the_gate(gate: GateRun) -> None:
    outcome = gate("--mtp-launch", "fake?faults=leaked-reasoning", suite=many(3))
    assert "CTRL.unusable" in outcome.red
    assert outcome.report.gate.verdict == "fail"
    assert outcome.result.ret == pytest.ExitCode.TESTS_FAILED


def test_a_key_that_a_server_quotes_in_its_answer_is_nowhere(
    gate: GateRun, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_KEY", SECRET)
    quoting = "schema_version: 1\nsuite: q\ncases:\n  - {id: q, ask: quote the key, severity: critical, expect: {text: never}}\n"
    with FakeServer(answers={"quote the key": f"You sent Bearer {SECRET}, did you not?"}) as server:
        outcome = gate("--mtp-server", server.url, "--mtp-api-key-env", "A_KEY", "--junitxml", "junit.xml", suite=quoting)
    assert outcome.result.ret == pytest.ExitCode.TESTS_FAILED
    written = [path.read_text() for path in [pytester.path / "junit.xml", *(pytester.path / ".mtp").rglob("*.*")] if path.is_file()]
    assert len(written) >= 4
    assert SECRET not in "".join(written) + outcome.result.stdout.str()
    assert "Bearer ***" in "".join(written)


def test_no_server_skips_with_one_reason(pytester: pytest.Pytester) -> None:
    (pytester.path / "probe.mtp.yaml").write_text(many(3))
    result = pytester.runpytest_inprocess("-rs")
    result.assert_outcomes(skipped=3)
    result.stdout.fnmatch_lines(["*mtp: 3 tests of a server were skipped*", "SKIPPED [[]3]*no server: give --mtp-server URL*"])
