"""The page for a job summary."""

from __future__ import annotations

import dataclasses
import re

import pytest

from pytest_mtp.core.run import Blocking
from pytest_mtp.reports.markdown import MAX_BYTES, summary_markdown
from tests.reports.full_report import ATTACKS, EMPTY, REPORT, finding, result, with_words
from tests.reports.test_escape import tamed


def test_the_verdict_and_its_reasons_come_first() -> None:
    lines = summary_markdown(REPORT).splitlines()
    assert lines[0] == "# Gate CLOSED"
    assert lines[2:4] == ["- 2 of 6 cases passed", "- 1 failed"]


def test_the_sections_come_in_the_order_of_their_weight() -> None:
    heads = [line for line in summary_markdown(REPORT).splitlines() if line.startswith("#")]
    assert heads == [
        "# Gate CLOSED",
        "## Server",
        "## Control",
        "## What closes the gate (2)",
        "## Measures",
        "## Cases",
        "## Inconclusive (2)",
        "## Missed without closing the gate (1)",
        "## Worth knowing",
    ]


def test_everything_that_matters_is_there() -> None:
    page = summary_markdown(REPORT)
    for words in (
        "**Speculation:** active; mtp, depth 2; 104 of 200 drafts accepted = 52.0 %",
        "- drafts moved with our own requests",
        "<details><summary>Measures of single cases (1)</summary>",
        "| inconclusive |  | <code>suites/performance.mtp.yaml::parity</code> | too few steps |",
        "| critical | <code>TOOL.args\\_empty</code> |",
        "| <code>acceptance\\_rate</code> | code | 52.0 % \\[45.0, 60.0\\] | 6 | 95 % clustered; as counted |",
        "| <code>acceptance\\_rate</code> | prose | 31.0 % |",
        "| <code>user\\_e2e\\_tps</code> | code | 20.06 tokens/s \\[18, 22\\] | 6 | min-max; as counted |",
        "| <code>tools</code> | 0 | 1 | 0 | 0 | 1 |",
        "| <code>PROTO.done</code> | 1 | no \\[DONE\\] |",
        "a regression smaller than 5.0 % may go unseen",
    ):
        assert words in page


def test_every_row_of_a_table_has_the_cells_of_its_head() -> None:
    rows = [line for line in summary_markdown(REPORT).splitlines() if line.startswith("|")]
    widths = {"severity": 4, "case": 6, "suite": 6, "code": 3}
    current = 0
    for row in rows:
        current = widths.get(row.split("|")[1].strip(), current)
        assert row.count("|") == current + 1


@pytest.mark.parametrize(
    ("verdict", "head"),
    [
        ("pass", "# Gate open"),
        ("inconclusive", "# Gate CLOSED: inconclusive"),
        ("blocked", "# Gate CLOSED: the server could not be judged"),
    ],
)
def test_the_headline(verdict: str, head: str) -> None:
    gate = dataclasses.replace(REPORT.gate, verdict=verdict)  # type: ignore[arg-type]  # a GateVerdict
    assert summary_markdown(dataclasses.replace(REPORT, gate=gate)).startswith(head + "\n")


def test_an_empty_run_is_a_short_page() -> None:
    page = summary_markdown(EMPTY)
    assert "the run ended early" in page
    assert "no case was run" in page
    assert len(page) < 600


def test_many_blocking_findings_are_capped_and_counted() -> None:
    gate = dataclasses.replace(REPORT.gate, blocking=tuple(Blocking(node_id=f"n{n}", code="ANS.wrong", title="t") for n in range(200)))
    page = summary_markdown(dataclasses.replace(REPORT, gate=gate))
    assert "## What closes the gate (200)" in page
    assert "… and 150 more in the JSON report." in page


def test_the_page_stays_below_what_github_takes() -> None:
    wide = "\u6f22" * 150
    cases = tuple(result(f"case-{n}", suite=f"suite-{n}-{wide}") for n in range(3000))
    page = summary_markdown(dataclasses.replace(REPORT, cases=cases))
    assert len(page.encode()) < MAX_BYTES + 200
    assert page.rstrip().endswith("the JSON report is complete.")
    assert page.startswith("# Gate CLOSED")


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_an_attack_changes_no_structure(attack: str) -> None:
    page, tame = summary_markdown(with_words(attack)), summary_markdown(with_words("words"))
    shape = [re.match(r"#* ?", line).group() + str(line.count("|")) for line in page.splitlines()]  # type: ignore[union-attr]  # always matches
    assert shape == [re.match(r"#* ?", line).group() + str(line.count("|")) for line in tame.splitlines()]  # type: ignore[union-attr]  # as above
    for line in (line for line in page.splitlines() if "details>" not in line):
        for cell in line.strip("| ").split(" | "):
            assert tamed(cell.removeprefix("**Speculation:** ").removeprefix("- ").removeprefix("# ").removeprefix("## ")) is None
    assert len(page) < 40_000


def test_findings_of_a_plugins_own_code_need_no_hint() -> None:
    gate = dataclasses.replace(REPORT.gate, blocking=(Blocking(node_id="n", code="OURS.own", title=finding().title),))
    assert "<code>OURS.own</code> | <code>n</code>" in summary_markdown(dataclasses.replace(REPORT, gate=gate))
