"""The lines in the terminal."""

from __future__ import annotations

import dataclasses

import pytest

from pytest_mtp.core.run import Blocking, RunReport
from pytest_mtp.reports.printable import columns
from pytest_mtp.reports.terminal import facts_line, summary_lines
from tests.reports.full_report import ATTACKS, EMPTY, FACTS, REPORT, finding, result, with_words
from tests.reports.test_printable import harmless


def text_of(report: RunReport, width: int = 100) -> str:
    return "\n".join(summary_lines(report, width=width))


def test_the_server_is_one_line() -> None:
    assert facts_line(FACTS) == (
        "llamacpp b11549, model smol, http://127.0.0.1:8000/v1, speculation active; mtp, depth 2; 104 of 200 drafts accepted = 52.0 %"
    )


def test_everything_that_matters_is_there() -> None:
    text = text_of(REPORT)
    for words in (
        "speculation active; mtp, depth 2; 104 of 200 drafts accepted = 52.0 %",
        "12 prompts x 3: 1 disagree as text",
        "52.0 % [45.0, 60.0]",
        "20.06 tokens/s [18, 22]",
        "not available",
        "closes the gate (2)",
        "critical TOOL.args_empty suites/tools.mtp.yaml::weather",
        "inconclusive  suites/performance.mtp.yaml::parity".replace("  ", " "),
        "inconclusive, without closing the gate (1)",
        "no sandbox",
        "ANS.wrong: expected 32, got 31",
        "notes        PROTO.done: ",
        "2 of 6 cases passed",
    ):
        assert words in text


def test_the_most_severe_comes_first() -> None:
    cases = [result("a", "FAIL", [finding("SPEC.accept_drop", "regression", "r")]), result("b", "FAIL", [finding(title="c")])]
    blocking = tuple(
        Blocking(node_id=case.node_id, code=case.verdict.findings[0].code, title=case.verdict.findings[0].title) for case in cases
    )
    report = dataclasses.replace(REPORT, cases=tuple(cases), gate=dataclasses.replace(REPORT.gate, blocking=blocking))
    text = text_of(report)
    assert text.index("critical TOOL.args_empty") < text.index("regression SPEC.accept_drop")


def test_strata_stand_side_by_side() -> None:
    rows = [line.split("  ") for line in summary_lines(REPORT, width=120)]
    cells = {row[0]: [cell.strip() for cell in row[1:] if cell.strip()] for row in rows if row[0]}
    assert cells["measure"] == ["code", "prose"]
    assert cells["acceptance_rate"] == ["52.0 % [45.0, 60.0]", "31.0 %"]
    assert cells["mean_acceptance_length"] == ["2.04 tokens", "-"]
    assert "rate" not in cells


def test_strata_that_no_row_shares_stand_in_tables_of_their_own() -> None:
    conditions = tuple(dataclasses.replace(REPORT.cases[4].verdict.measures[0], stratum=name) for name in ("greedy", "tools"))
    cases = (*REPORT.cases, result("drafting", "PASS", measures=conditions))
    heads = [line.split() for line in summary_lines(dataclasses.replace(REPORT, cases=cases)) if line.startswith("measure")]
    assert heads == [["measure", "code", "prose"], ["measure", "greedy", "tools"]]


def test_two_cases_that_measure_the_same_are_told_apart() -> None:
    cases = tuple(result(name, "PASS", measures=REPORT.cases[4].verdict.measures) for name in ("fast", "slow"))
    text = text_of(dataclasses.replace(REPORT, cases=cases))
    assert "acceptance_rate (fast)" in text
    assert "acceptance_rate (slow)" in text


def test_columns_without_a_case_are_left_out() -> None:
    report = dataclasses.replace(REPORT, cases=(result("a", "PASS"),))
    lines = summary_lines(report)
    assert [line for line in lines if line.startswith("suite")] == ["suite  pass"]


def test_a_long_list_says_how_many_are_left() -> None:
    gate = dataclasses.replace(REPORT.gate, blocking=tuple(Blocking(node_id=f"n{n}", code="X.y", title="t") for n in range(100)))
    text = text_of(dataclasses.replace(REPORT, gate=gate))
    assert "closes the gate (100)" in text
    assert "… and 88 more in the report" in text


def test_a_run_that_ended_early_says_so() -> None:
    assert "the run ended early" in text_of(EMPTY)
    assert "not measured" in text_of(EMPTY)


@pytest.mark.parametrize("width", [20, 40, 80, 200])
@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_an_attack_neither_breaks_the_lines_nor_the_width(attack: str, width: int) -> None:
    lines = summary_lines(with_words(attack), width=width)
    assert all(map(harmless, lines))
    assert all(columns(line) <= max(40, width) for line in lines)
    assert len(lines) < 120
    assert harmless(facts_line(with_words(attack).servers[0]))
