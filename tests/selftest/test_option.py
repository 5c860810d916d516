"""`--mtp-self-test`: which suites it takes, what it prints, and that nothing else runs."""

from __future__ import annotations

import pytest

from pytest_mtp.plugin import selftest
from pytest_mtp.selftest.matrix import chosen


@pytest.fixture
def few(monkeypatch):
    """The catalogue is cut to one fault, since a run takes a second each; remembers the suites."""
    asked = []

    def matrix(suites, faults, **options):
        asked.append(tuple(suites))
        return real(suites, faults, **options)

    real = selftest.matrix
    monkeypatch.setattr(selftest, "chosen", lambda _: chosen(["cap-ignored"]))
    monkeypatch.setattr(selftest, "matrix", matrix)
    return asked


def test_the_suites_of_the_command_line_are_run(pytester, few):
    result = pytester.runpytest_inprocess("--mtp-self-test", "--mtp-suite", "builtin:limits", "-p", "no:cacheprovider")
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        ["caught (1 of 1)", "*cap-ignored  closed  *PROTO.budget*limits::budgets*", "no false alarm in 1 honest run"]
    )
    assert [path.rpartition("/")[2] for path in few[0]] == ["limits.mtp.yaml"]
    assert not (pytester.path / ".mtp").exists()


def test_a_single_case_may_be_named(pytester, few):
    assert pytester.runpytest_inprocess("--mtp-self-test", "builtin:limits::stops").ret == 0
    assert few[0][0].endswith("limits.mtp.yaml::stops")


def test_without_suites_the_standard_plan_and_the_probes_are_meant(pytester, monkeypatch):
    asked = []
    monkeypatch.setattr(selftest, "matrix", lambda suites, faults, **_: asked.append((tuple(suites), len(faults))))
    monkeypatch.setattr(selftest, "lines_of", lambda *_, **__: ["done"])
    assert pytester.runpytest_inprocess("--mtp-self-test").ret == 0
    assert asked == [(("builtin:standard", "builtin:probes"), len(chosen(())))]


def test_a_server_beside_it_is_a_mistake(pytester):
    result = pytester.runpytest_inprocess("--mtp-self-test", "--mtp-launch", "fake")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*leave --mtp-server and --mtp-launch out*"])


def test_a_suite_that_cannot_be_read_is_a_mistake(pytester, few):
    pytester.path.joinpath("x.mtp.yaml").write_text("schema_version: 1\nsuite: x\ncases: [{id: a, chek: budgets}]\n", encoding="utf-8")
    result = pytester.runpytest_inprocess("--mtp-self-test", "x.mtp.yaml")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*chek*"])
