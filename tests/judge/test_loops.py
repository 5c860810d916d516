"""Replies of a weak model at temperature 0: those that loop are told with their evidence, the others are left alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.reply import Reply
from pytest_mtp.core.verdict import Finding
from pytest_mtp.judge.degeneration.findings import degeneration_findings
from pytest_mtp.judge.judgement import GradeContext, View

REPLIES = yaml.safe_load((Path(__file__).parent / "loops" / "weak_model.yaml").read_text("utf-8"))


def loops_in(prompt: str, text: str, finish: str) -> list[Finding]:
    view = View(text=text, reply=Reply(content=text, finish_reason=finish), ask=Ask(messages=({"role": "user", "content": prompt},)))
    return [finding for finding in degeneration_findings(view, (), GradeContext()) if finding.code == "GEN.degenerate.loop"]


@pytest.mark.parametrize("entry", REPLIES, ids=[entry["prompt"][:40] for entry in REPLIES])
def test_the_replies_that_loop_are_those_that_a_person_calls_looping(entry: dict[str, Any]) -> None:
    assert bool(loops_in(entry["prompt"], entry["reply"], entry["finish"])) == entry["loops"]


def test_a_loop_comes_with_its_evidence() -> None:
    unit = "We will keep on answering your question. "
    text = "Because. " + unit * 10
    (finding,) = loops_in("Why?", text, "length")
    assert finding.severity == "critical"
    assert finding.evidence["period"] == len(unit)
    assert finding.evidence["repeats"] == 10
    start, end = finding.evidence["span"]
    assert text[start:end].count(unit.strip()) == 10
    assert finding.evidence["share"] > 0.9
    assert "10 times" in finding.title
