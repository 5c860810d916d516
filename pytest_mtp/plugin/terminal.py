"""Header and summary of pytest's terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_mtp.core.facts import ServerFacts
from pytest_mtp.core.run import RunReport
from pytest_mtp.plugin.launching import masked
from pytest_mtp.plugin.settings import Settings
from pytest_mtp.reports.terminal import facts_line, summary_lines


def header_lines(facts: ServerFacts, settings: Settings) -> list[str]:
    """The server, and the options that somebody set with who set them."""
    chosen = {name: value for name, value in settings.origins.items() if value.origin != "default"}
    options = ", ".join(f"{name}={' '.join(map(masked, value.words))} ({value.origin})" for name, value in chosen.items())
    return [f"mtp: {facts_line(facts)}", f"mtp: {options}"]


def summarise(reporter: pytest.TerminalReporter, report: RunReport, written: Sequence[Path], problems: Sequence[str]) -> None:
    """A table that fits the screen, the verdict last, where the eye is."""
    colour = {"pass": {"green": True}, "fail": {"red": True}}.get(report.gate.verdict, {"yellow": True})
    reporter.write_sep("=", "mtp", bold=True)
    for line in summary_lines(report, width=reporter._tw.fullwidth):  # noqa: SLF001  # the only way to the width
        reporter.write_line(line)
    for problem in problems:
        reporter.write_line(f"warning: {problem}", yellow=True)
    if written:
        reporter.write_line(f"report: {', '.join(map(str, written))}")
    if report.gate.verdict != "pass" and not {"failed", "error"} & set(reporter.stats):
        # So that pytest's own last line is not green; other plugins look into what stands here, so it is a report of theirs.
        gate = pytest.TestReport(nodeid="mtp", location=("", None, ""), keywords={}, outcome="failed", longrepr=None, when="teardown")
        reporter.stats["gate closed"] = [gate]
    word = {"pass": "open", "fail": "CLOSED", "inconclusive": "CLOSED (inconclusive)", "blocked": "CLOSED (server blocked)"}
    reporter.write_line(f"gate: {word[report.gate.verdict]}", bold=True, **colour)
