"""`pytest-mtp doctor`, as typed, against the fake engine."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import httpx
import jsonschema
import pytest

from pytest_mtp.checks import kinds
from pytest_mtp.cli.main import main
from pytest_mtp.core.case import Case
from pytest_mtp.core.errors import InfraError
from pytest_mtp.core.protocols import CheckContext
from pytest_mtp.core.run import RunReport
from pytest_mtp.core.verdict import Verdict
from pytest_mtp.reports.json_report import report_schema
from pytest_mtp.selftest import FakeServer

Start = Callable[..., FakeServer]


@pytest.fixture
def fake() -> Iterator[Start]:
    with ExitStack() as stack:
        yield lambda **options: stack.enter_context(FakeServer(**options))


class Told:
    """One visit: exit code, screen, and what went to stderr."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *words: str) -> None:
        self.code = main(["doctor", *words])
        self.out, self.err = capsys.readouterr()

    @property
    def first(self) -> str:
        """The headline, which may take several rows."""
        return " ".join(self.out.split("\n\n")[0].split())

    def section(self, label: str) -> str:
        """Its rows in one."""
        rows, taken = self.out.splitlines(), list[str]()
        at = next(number for number, row in enumerate(rows) if row.startswith(label.ljust(13)))
        for row in rows[at:]:
            if taken and not row.startswith(" "):
                break
            taken.append(row[13:])
        return " ".join(taken)


Doctor = Callable[..., Told]


@pytest.fixture
def doctor(capsys: pytest.CaptureFixture[str]) -> Doctor:
    return lambda *words: Told(capsys, *words)


def document(told: Told) -> RunReport:
    plain = json.loads(told.out)
    jsonschema.validate(plain, report_schema())
    return RunReport.from_dict(plain)


def test_a_server_that_speculates_is_said_to_and_how_well(fake: Start, doctor: Doctor) -> None:
    server = fake()
    told = doctor(server.url, "--quick")
    assert (told.code, told.err) == (0, "")
    assert told.first.startswith("Speculation is on (mtp, depth 3): ")
    assert told.section("server").startswith(f"fake 0.1.0, at {server.url}/v1 by /v1/models: owned_by")
    assert "fake-model, 32768 tokens of context" in told.section("serves")
    spoken = told.section("speculation")
    assert spoken.startswith("ACTIVE, mtp, depth 3, ")
    assert "mean length" in spoken
    assert "by position" in spoken
    assert "drafted, " in spoken.partition("by /metrics: ")[2]
    assert told.section("process") == "not known: it runs inside this process"
    assert told.section("found").startswith("note ID.process: the process behind the server cannot be seen")
    assert f"pytest --mtp-server {server.url} --mtp-suite builtin:smoke" in told.section("next")


def test_every_line_fits_eighty_columns_and_holds_no_colour(fake: Start, doctor: Doctor) -> None:
    told = doctor(fake().url)
    assert max(map(len, told.out.splitlines())) <= 80
    assert "\x1b" not in told.out
    assert re.findall(r"(\w+): accepted [\d.]+ %", told.section("drafting")) == [
        "greedy",
        "sampled_low",
        "sampled",
        "tools",
        "structured",
        "long",
    ]
    assert "lets in at least 16 requests" in told.section("admission")


def test_a_server_that_does_not_speculate(fake: Start, doctor: Doctor) -> None:
    told = doctor(fake(speculation=False).url, "--quick")
    assert told.code == 0
    assert told.first == "This server does not speculate, and nothing is wrong with it otherwise."


def test_a_head_on_disk_and_unused_comes_first(fake: Start, doctor: Doctor, holding: str) -> None:
    told = doctor(fake(speculation=False).url, "--quick", "--checkpoint", holding)
    assert told.code == 0
    assert told.first.startswith("The head is on disk and unused: ")
    assert "SPEC.inactive: the checkpoint holds a head and the server does not speculate" in told.section("found")
    assert told.section("next").startswith("1. Set fake's speculation flag")


def test_speculation_without_a_head_on_disk_is_harm(fake: Start, doctor: Doctor, plain: str) -> None:
    told = doctor(fake().url, "--quick", "--checkpoint", plain)
    assert told.code == 1
    assert told.first.startswith("Something is wrong, ID.checkpoint: the server speculates by mtp")


def test_a_dead_drafter_is_harm(fake: Start, doctor: Doctor) -> None:
    told = doctor(fake(faults=["dead-drafter"]).url, "--quick")
    assert told.code == 1
    assert told.first == "Something is wrong, SPEC.dead: speculation is dead"
    assert told.section("speculation").startswith("DEAD")
    assert "SPEC.dead: " in told.section("next")


def test_a_broken_server_is_not_measured_further(fake: Start, doctor: Doctor) -> None:
    told = doctor(fake(faults=["replacement-characters"]).url)
    assert told.code == 1
    assert "critical GEN.degenerate" in told.section("found")


def test_a_server_that_tells_nothing_is_visited_all_the_same(fake: Start, doctor: Doctor) -> None:
    told = doctor(fake(dialects=["no-metrics", "no-timings", "no-usage", "no-logprobs", "no-prefill", "no-tools"]).url)
    assert told.code == 0
    assert told.first.startswith("Whether this server speculates cannot be seen: ")
    assert told.section("speculation").startswith("UNKNOWN")
    assert told.section("drafting").startswith("not known: speculation cannot be seen on this server")


def test_requests_of_others_are_named_and_not_counted_as_ours(fake: Start, doctor: Doctor) -> None:
    server = fake(dialects=["no-timings"])
    over, begun = threading.Event(), threading.Event()

    def others() -> None:
        body = {"model": "fake-model", "max_tokens": 64, "messages": [{"role": "user", "content": "Tell me a long story about the sea."}]}
        with httpx.Client(timeout=60) as client:  # one client: making one takes longer than a visit
            while not over.is_set():
                client.post(f"{server.url}/v1/chat/completions", json=body)
                begun.set()

    stranger = threading.Thread(target=others)
    stranger.start()
    try:
        assert begun.wait(60)
        told = doctor(server.url, "--quick")
    finally:
        over.set()
        stranger.join()
    assert told.code == 0
    assert "not ours" in told.section("speculation")


@pytest.mark.parametrize("words", [(), ("--quick",)], ids=["all", "quick"])
def test_one_json_document_in_the_schema_of_the_report(fake: Start, doctor: Doctor, words: tuple[str, ...]) -> None:
    told = doctor(fake().url, "--json", *words)
    report = document(told)
    assert (told.code, report.gate.verdict, report.servers[0].speculation.state) == (0, "pass", "active")
    assert report.gate.reasons[0].startswith("Speculation is on")
    assert report.run.notes[-1].startswith("Judge its answers: ")
    assert [case.kind for case in report.cases] == (["identity"] if words else ["identity", "drafting", "admission"])


def test_nobody_listens(doctor: Doctor) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        told, plain = doctor(url), doctor(url, "--json")
    assert (told.code, plain.code) == (69, 69)
    assert told.first.startswith("This server cannot be used: ")
    assert told.section("found").startswith("critical INFRA.connect: no connection")
    report = document(plain)
    assert (report.gate.verdict, report.gate.blocking[0].code, report.servers) == ("blocked", "INFRA.connect", ())
    assert report.run.notes == ("Is it running, and is the host and port right?",)


@pytest.mark.parametrize("fault", ["die-after:9", "die-after:25"], ids=["in the control", "in a probe"])
def test_a_server_that_dies_midway_is_a_report_all_the_same(fake: Start, doctor: Doctor, fault: str) -> None:
    told = doctor(fake(faults=[fault]).url, "--json", "--timeout", "5")
    report = document(told)
    assert (told.code, report.gate.verdict, report.servers[0].engine) == (69, "blocked", "fake")
    assert report.gate.blocking[0].code.startswith("INFRA.")


def test_a_name_of_a_model_cannot_move_the_cursor(fake: Start, doctor: Doctor) -> None:
    told = doctor(fake(alias="evil\x1b[2J\u202emodel").url, "--quick")
    assert told.code == 0
    assert not {"\x1b", "\u202e"} & set(told.out + told.err)
    assert "evil\\x1b[2J\\u202emodel" in told.section("serves")


def test_a_key_is_sent_and_never_shown(fake: Start, doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCTOR_KEY", "sesame-open-7")
    url = fake(api_key="sesame-open-7").url
    opened, closed = doctor(url, "--api-key-env", "DOCTOR_KEY", "--json"), doctor(url)
    assert (opened.code, closed.code) == (0, 69)
    assert "sesame-open-7" not in opened.out + opened.err
    assert closed.section("found").startswith("critical INFRA.auth: ")
    assert "--api-key-env VAR" in closed.section("next")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("ftp://x",), "scheme 'ftp' is not http or https"),
        (("http://h:1", "--timeout", "0"), "--timeout 0: expected seconds"),
        (("http://h:1", "--api-key-env", "sk-123"), "expected the NAME of a variable"),
        (("http://h:1", "--api-key-env", "NOT_SET_ANYWHERE"), "'NOT_SET_ANYWHERE', named for the API key, is not set"),
        (("http://h:1", "--checkpoint", "/nowhere/at/all"), "/nowhere/at/all: does not exist"),
    ],
)
def test_what_the_user_can_mend_is_one_message(doctor: Doctor, words: tuple[str, ...], said: str) -> None:
    told = doctor(*words)
    assert (told.code, told.out) == (2, "")
    assert said in told.err
    assert "Traceback" not in told.err


def test_ctrl_c_leaves_no_traceback(fake: Start, doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pytest_mtp.cli.visit.measure_control", interrupted)
    told = doctor(fake().url)
    assert (told.code, told.out, told.err) == (130, "", "pytest-mtp: interrupted\n")


def test_one_probe_without_an_answer_is_a_finding_where_the_server_still_answers(
    fake: Start, doctor: Doctor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reset(case: Case, context: CheckContext) -> Verdict:
        raise InfraError("the connection ended", code="INFRA.reset", hint=f"{case.id} at {context.server.facts.endpoint.root}")

    monkeypatch.setattr("pytest_mtp.cli.diagnose.PROBES", ("x_reset",))
    kinds.register("x_reset", reset)
    try:
        told = doctor(fake().url)
    finally:
        kinds.forget("x_reset")
    assert told.code == 1
    assert told.first == "Something is wrong, INFRA.reset: the connection ended"
    assert "INFRA.reset: x_reset at http://127.0.0.1" in told.section("next")
