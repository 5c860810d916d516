"""The self-test's own arithmetic over runs that are made up, one real run, and the command with its words."""

from __future__ import annotations

import json

import pytest

from pytest_mtp.cli.main import main
from pytest_mtp.core.errors import InfraError, UsageError
from pytest_mtp.selftest.faults import FAULTS
from pytest_mtp.selftest.matrix import chosen, matrix
from pytest_mtp.selftest.reports import ROWS
from pytest_mtp.selftest.telling import alone, lines_of, markdown_of
from pytest_mtp.selftest.trial import Seen, Trial, run_trial

CLASSES = frozenset(
    """spec-accept tool-args-stream prefix-cache spec-slow sampling-params spec-structured reasoning-split spec-garbage spec-lossless
    spec-inactive stop-strings tool-drop finish-reason spec-metrics tool-leak tool-choice stream-frame spec-crash logprobs structured
    proxy-sse disconnect tool-index usage memory context-overflow tool-name empty-content concurrency measurement token-budget
    chat-template error-mapping eos unicode admission stream-parity n-choices""".split()  # noqa: SIM905 (a list of words reads better)
)


def seen(case, code, severity="critical", *, closes=True, kind="k"):
    return Seen(case=case, kind=kind, code=code, severity=severity, closes=closes)


def trial(*found, is_open=None, unreached=()):
    return Trial(seen=found, open=not found if is_open is None else is_open, requests=10, seconds=1.0, unreached=unreached)


def made_up(answers):
    """A runner that answers by the word of the fault, or `honest`."""

    def run(suites, *, faults=(), setting=None, seed=0):
        return answers.get(faults[0] if faults else "honest", trial())

    return run


def rows(answers, *names, **options):
    return matrix(["s"], [FAULTS[name] for name in names], run=made_up(answers), **options).rows


def test_the_catalogue_has_every_class_and_each_fault_its_reports():
    assert {kind for kind, _ in ROWS.values()} == CLASSES
    assert len(FAULTS) >= 90
    assert all(
        reports and all(report.count("/") == 1 and report.rpartition("#")[2].isdecimal() for report in reports)
        for _, reports in ROWS.values()
    )
    assert set(ROWS) <= set(FAULTS)


def test_an_expected_code_that_the_honest_run_lacks_is_a_catch():
    (row,) = rows({"no-done": trial(seen("a::b", "PROTO.done", "note", closes=False), is_open=True)}, "no-done")
    assert (row.caught, row.expected, row.closed, row.cases, row.codes) == (True, True, False, ("a::b",), ("PROTO.done",))


def test_what_the_honest_run_shows_too_is_no_catch():
    found = seen("a::b", "PROTO.done", "note", closes=False)
    (row,) = rows({"no-done": trial(found, is_open=True), "honest": trial(found, is_open=True)}, "no-done")
    assert not row.caught


def test_another_code_that_closes_the_gate_is_a_catch_of_its_own_kind():
    (row,) = rows({"no-done": trial(seen("a::b", "ANS.wrong"))}, "no-done")
    assert (row.caught, row.expected, row.closed) == (True, False, True)
    (row,) = rows({"no-done": trial(seen("a::b", "PERF.drop"))}, "no-done")
    assert not row.caught


def test_rates_and_seeds_are_rows():
    found = rows({"no-done@0.3": trial(seen("c", "PROTO.done"))}, "no-done", rates=(1.0, 0.3), seeds=(1, 2))
    assert [(row.rate, row.seed, row.caught) for row in found] == [(1.0, 1, False), (1.0, 2, False), (0.3, 1, True), (0.3, 2, True)]


def test_unseen_faults_come_first_and_say_why():
    made = matrix(["s"], [FAULTS["no-done"], FAULTS["slow-in-a-crowd"]], run=made_up({"no-done": trial(seen("c", "PROTO.done"))}))
    lines = lines_of(made)
    assert lines[0] == "would pass unseen (1 of 2)"
    assert "slow-in-a-crowd" in lines[2]
    assert any("needs a baseline" in line for line in lines)
    assert "1 of 2 caught, 1 of them close the gate" in lines[-2]
    assert lines[-1] == "no false alarm in 1 honest run"
    assert "## Would pass unseen" in markdown_of(made)


def test_false_alarms_are_told():
    made = matrix(["s"], [FAULTS["no-done"]], run=made_up({"honest": trial(seen("c", "ANS.wrong"))}))
    assert "false alarms in 1 honest run: as it is: c ANS.wrong" in lines_of(made)[-1]


def test_who_catches_alone():
    found = rows(
        {
            "no-done": trial(seen("c", "PROTO.done", kind="stops")),
            "wrong-value": trial(seen("c", "ANS.wrong", kind="x"), seen("d", "ANS.wrong", kind="y")),
        },
        "no-done",
        "wrong-value",
    )
    assert alone(found, ["stops", "x"]) == {"stops": ["no-done"], "x": []}


@pytest.mark.parametrize(("name", "hint"), [("no-dne", "no-done"), ("stop-strngs", "stop-strings")])
def test_unknown_names_have_a_hint(name, hint):
    with pytest.raises(UsageError, match=f"did you mean '{hint}'"):
        chosen([name])


def test_a_class_is_all_of_its_faults():
    assert {fault.name for fault in chosen(["n-choices"])} == {"choices-fail", "choices-ignored", "fewer-choices"}
    assert len(chosen([])) == len(FAULTS)


def test_a_real_run_sees_a_fault_and_spares_the_honest_fake():
    (row,) = (made := matrix(["builtin:limits"], chosen(["stop-ignored"]), processes=1)).rows
    assert (row.caught, row.closed, row.cases) == (True, True, ("limits::stops",))
    assert made.false_alarms == ()
    assert row.requests > 10


def test_a_server_that_cannot_start_is_seen():
    found = run_trial(["builtin:limits"], faults=["html-body"])
    assert not found.open
    assert {each.code for each in found.seen} & {"INFRA.start", "INFRA.path"}


def test_suites_that_are_none(tmp_path):
    with pytest.raises((UsageError, InfraError), match="smok"):
        run_trial(["builtin:smok"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--fault", "no-dne"], "did you mean 'no-done'"),
        (["--rate", "1.5"], "above 0 and at most 1"),
        (["--rate", "0"], "above 0 and at most 1"),
        (["--processes", "0"], "expected 1 to 64"),
    ],
)
def test_wrong_words_are_one_line(capsys, words, message):
    assert main(["selftest", *words]) == 2
    assert message in capsys.readouterr().err


def test_the_list_runs_nothing(capsys):
    assert main(["selftest", "--list", "--fault", "n-choices"]) == 0
    assert "choices-fail: Several choices fail with speculation (vllm-project/vllm#6137)" in capsys.readouterr().out


def test_the_command_prints_and_writes(capsys, tmp_path):
    page = tmp_path / "page.md"
    words = ["--suite", "builtin:limits", "--fault", "cap-ignored", "--fault", "bias-ignored", "--json", "--markdown", str(page)]
    assert main(["selftest", *words]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [(row["fault"], row["caught"]) for row in told["faults"]] == [("cap-ignored", True), ("bias-ignored", False)]
    assert "`bias-ignored`" in page.read_text(encoding="utf-8").partition("## Matrix")[0]
