"""The text of one failed item."""

from __future__ import annotations

import pytest

from pytest_mtp.core.codes import CODES
from pytest_mtp.reports.failure import failure_lines
from tests.reports.full_report import ATTACKS, CASES, finding, result, with_words
from tests.reports.test_printable import harmless


def test_reason_first_then_proof_then_how_to_see_it_again() -> None:
    assert failure_lines(CASES[0]) == [
        "FAIL: TOOL.args_empty: asked for a city, got {}",
        "  case weather, suites/tools.mtp.yaml:12",
        "  right 1 of 3 times",
        "",
        "TOOL.args_empty (critical) at call 0: asked for a city, got {}",
        "    asked",
        "    came",
        f"  hint: {CODES['TOOL.args_empty'].hint}",
        "",
        "ANS.wrong (model): wrong",
        f"  hint: {CODES['ANS.wrong'].hint}",
        "",
        "evidence: evidence/weather.jsonl",
        "again:    curl http://x",
        "          pytest 'suites/tools.mtp.yaml::weather'",
    ]


def test_a_hint_of_the_finding_replaces_that_of_the_table() -> None:
    assert "  hint: look here" in failure_lines(result(findings=[finding(hint="look here")]))


def test_a_code_of_somebody_else_needs_no_hint() -> None:
    assert not any("hint" in line for line in failure_lines(result(findings=[finding("OURS.own")])))


def test_without_findings_and_reason_it_is_still_a_text() -> None:
    assert failure_lines(result(outcome="INCONCLUSIVE"))[0] == "INCONCLUSIVE: no reason was given"


def test_many_findings_are_counted() -> None:
    assert "… and 12 more findings in the report" in failure_lines(result(findings=[finding(title=str(n)) for n in range(20)]))


def test_a_curl_line_is_not_cut_where_it_could_still_be_run() -> None:
    command = "curl " + "x" * 15_000
    assert f"again:    {command}" in failure_lines(result(reproduce=(command,)))


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_an_attack_is_only_text(attack: str) -> None:
    lines = failure_lines(with_words(attack).cases[0])
    assert all(map(harmless, lines))
    assert sum(map(len, lines)) < 60_000
