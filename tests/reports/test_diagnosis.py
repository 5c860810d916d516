"""The first sentence and the next steps, over reports of every kind of server."""

from __future__ import annotations

import dataclasses

import pytest

from pytest_mtp.core.case import Source
from pytest_mtp.core.facts import Acceptance, Control, Endpoint, ServerFacts, SpecDecode
from pytest_mtp.core.run import Blocking, CaseResult, Gate, RunInfo, RunReport
from pytest_mtp.core.verdict import Finding, Measure, Verdict
from pytest_mtp.reports.diagnosis import headline, next_steps, was_blocked
from pytest_mtp.reports.doctor import doctor_lines

ENDPOINT = Endpoint(root="http://h:1", api_root="http://h:1/v1", model="m")
FLAGS = '--speculative-config \'{"method": "mtp", "num_speculative_tokens": 1}\''
UNUSED = Finding(
    code="SPEC.inactive",
    severity="note",
    title="the checkpoint holds a head",
    hint=f"Set {FLAGS}",
    evidence={"checkpoint": "/x", "flags": FLAGS},
)
DEAD = Finding(code="SPEC.dead", severity="critical", title="speculation is dead")


def report(
    speculation: SpecDecode | None = None, *findings: Finding, verdict: str = "pass", models: tuple[str, ...] = ("m",), **facts: object
) -> RunReport:
    case = CaseResult(
        node_id="doctor::x", suite="doctor", kind="x", severity="critical", source=Source(path="doctor", line=1),
        verdict=Verdict(case_id="x", outcome="PASS", findings=findings),
    )  # fmt: skip
    server = ServerFacts(
        endpoint=ENDPOINT, engine="vllm", model="m", models=models, speculation=speculation or SpecDecode(state="inactive"), **facts
    )  # type: ignore[arg-type]  # fields by name
    harm = [finding for finding in findings if finding.severity == "critical"]
    gate = Gate(verdict=verdict, policy="alarm", blocking=tuple(Blocking(node_id="x", code=f.code, title=f.title) for f in harm))  # type: ignore[arg-type]
    run = RunInfo(version="0", started_at="", duration_s=0.0, complete=True)
    return RunReport(run=run, servers=(server,), cases=(case,), gate=gate)


@pytest.mark.parametrize("verdict", ["pass", "fail", "blocked"])
def test_an_unused_head_is_said_before_anything_else(verdict: str) -> None:
    told = report(None, DEAD, UNUSED, verdict=verdict)
    assert headline(told) == f"The head is on disk and unused: set {FLAGS}"
    assert next_steps(told)[0] == f"Restart the server with {FLAGS}, then visit it again."


def test_an_engine_without_a_flag_is_told_why() -> None:
    hint = "mlx-lm: heads are dropped while loading"
    told = report(None, dataclasses.replace(UNUSED, hint=hint, evidence={"checkpoint": "/x", "flags": ""}))
    assert headline(told) == f"The head is on disk and unused: {hint}"
    assert next_steps(told)[0] == hint


@pytest.mark.parametrize(
    ("speculation", "words"),
    [
        (
            SpecDecode(state="active", method="mtp", depth=2, acceptance=Acceptance(drafted=100, accepted=71, rounds=50)),
            "Speculation is on (mtp, depth 2): 71 % of the drafts are accepted, 2.42 tokens a step.",
        ),
        (SpecDecode(state="active"), "Speculation is on."),
        (SpecDecode(state="inactive"), "This server does not speculate, and nothing is wrong with it otherwise."),
        (SpecDecode(state="dead", method="eagle3"), "Speculation is configured (eagle3) and dead."),
        (SpecDecode(state="unknown", evidence=("no counters",)), "Whether this server speculates cannot be seen: no counters."),
    ],
    ids=["active and how well", "active", "inactive", "dead", "unknown"],
)
def test_the_state_where_nothing_is_wrong(speculation: SpecDecode, words: str) -> None:
    assert headline(report(speculation)) == words


def test_harm_comes_before_the_state() -> None:
    told = report(SpecDecode(state="active"), DEAD, verdict="fail")
    assert headline(told) == "Something is wrong, SPEC.dead: speculation is dead"
    assert next_steps(told)[0] == "SPEC.dead: Check the drafter's weights, its template and its temperature path."


def test_a_server_that_shows_no_drafts_is_told_how_to_show_them() -> None:
    lines = ("counters: /metrics needs --metrics", "seeds: not taken", "drafts of a single reply: start with --x")
    steps = next_steps(report(SpecDecode(state="unknown"), not_offered=lines))
    assert steps[:2] == [f"To see whether it drafts: {line}" for line in (lines[0], lines[2])]


def test_hints_name_the_options_of_this_command() -> None:
    slow = Finding(code="INFRA.timeout", severity="critical", title="no answer")
    assert next_steps(report(None, slow, verdict="blocked")) == [
        "INFRA.timeout: Raise --timeout, or look for a hung request in the server's log."
    ]


def test_several_models_need_a_name_for_the_run_that_follows() -> None:
    assert "--mtp-model m --mtp-suite" in next_steps(report(None, models=("m", "n")))[-1]
    assert "--mtp-model" not in next_steps(report(None))[-1]


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_every_line_fits_and_words_of_strangers_are_harmless(width: int) -> None:
    evil = "x\x1b[31m\u202e" + "y" * 300
    told = report(SpecDecode(state="unknown", evidence=(evil,)), Finding(code="X", severity="note", title=evil), not_offered=(evil,))
    lines = doctor_lines(told, width=width)
    assert max(map(len, lines)) <= max(40, width)
    assert not {"\x1b", "\u202e"} & set("".join(lines))


def test_measures_stand_in_a_line_a_stratum() -> None:
    def measure(name: str, value: float, stratum: str, unit: str = "1") -> Measure:
        return Measure(name=name, value=value, unit=unit, per="token", n=3, stratum=stratum)

    told = report()
    measures = (
        measure("acceptance_rate", 0.5, "code"),
        measure("acceptance_at_position_0", 0.6, "code"),
        measure("acceptance_at_position_1", 0.4, "code"),
        measure("acceptance_rate", 0.25, "prose"),
    )
    case = dataclasses.replace(told.cases[0], verdict=dataclasses.replace(told.cases[0].verdict, measures=measures))
    lines = "\n".join(doctor_lines(dataclasses.replace(told, cases=(case,))))
    assert "code: accepted 50.0 %, by position 60 % 40 %\n             prose: accepted 25.0 %" in lines


def test_only_a_control_without_any_answer_is_blocked() -> None:
    control = Control(prompts=4, repeats=3, disagree_text=0, disagree_graded=0)
    infra = Finding(code="INFRA.auth", severity="note", title="401")
    assert was_blocked(dataclasses.replace(control, findings=(infra,))) is None
    assert was_blocked(dataclasses.replace(control, usable=False, findings=(infra,))) == infra
    assert was_blocked(dataclasses.replace(control, usable=False)) is None
