"""Replies by hand to the shipped questions: what a person would call right passes, what a person would call wrong does not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import yaml

from pytest_mtp.core.case import Suite
from pytest_mtp.judge.judgement import Judgement

REPLIES: dict[str, dict[str, dict[str, list[str]]]] = yaml.safe_load((Path(__file__).parent / "replies.yaml").read_text(encoding="utf-8"))


def replies(quality: str) -> list[object]:
    return [
        pytest.param(suite, case, text, id=f"{suite}-{case}-{index}")
        for suite, cases in REPLIES.items()
        for case, pair in cases.items()
        for index, text in enumerate(pair[quality])
    ]


@pytest.mark.parametrize(("suite", "case", "text"), replies("good"))
def test_a_right_reply_passes(suite: str, case: str, text: str, judged: Callable[..., Judgement]) -> None:
    verdict = judged(suite, case, text)
    assert verdict.outcome == "PASS", verdict.findings


@pytest.mark.parametrize(("suite", "case", "text"), replies("bad"))
def test_a_wrong_reply_fails(suite: str, case: str, text: str, judged: Callable[..., Judgement]) -> None:
    assert judged(suite, case, text).outcome == "FAIL"


@pytest.mark.parametrize("suite", ["smoke", "prose"])
def test_every_case_of_the_suite_has_replies(suite: str, suites: Mapping[str, Suite]) -> None:
    assert set(REPLIES[suite]) == {case.id for case in suites[suite].cases}


def test_a_miss_in_smoke_is_critical(judged: Callable[..., Judgement]) -> None:
    verdict = judged("smoke", "echo-digits", "7 2 9 4")
    assert [(finding.code, finding.severity) for finding in verdict.findings] == [("ANS.wrong", "critical")]
