"""Healthy replies in many languages and shapes: none is called degenerate, ended or cut."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.reply import Reply
from pytest_mtp.judge.degeneration.findings import degeneration_findings
from pytest_mtp.judge.judgement import GradeContext, View
from pytest_mtp.judge.reasoning import split_reasoning

FILES = sorted((Path(__file__).parent / "corpus").glob("*.yaml"))
HEALTHY = [pytest.param(entry, id=f"{path.stem}-{entry['id']}") for path in FILES for entry in yaml.safe_load(path.read_text("utf-8"))]


def view_of(prompt: str, text: str, finish: str) -> View:
    return View(text=text, reply=Reply(content=text, finish_reason=finish), ask=Ask(messages=({"role": "user", "content": prompt},)))


def test_the_corpus_is_large_enough_to_mean_something() -> None:
    assert len(HEALTHY) >= 120


@pytest.mark.parametrize("finish", ["stop", "length"])
@pytest.mark.parametrize("entry", HEALTHY)
def test_a_healthy_reply_is_not_accused(entry: dict[str, str], finish: str) -> None:
    found = degeneration_findings(view_of(entry["prompt"], entry["reply"], finish), (), GradeContext())
    assert [finding.title for finding in found] == []


@pytest.mark.parametrize("entry", HEALTHY)
def test_a_healthy_reply_has_no_reasoning_to_split_off(entry: dict[str, str]) -> None:
    split = split_reasoning(Reply(content=entry["reply"]), entry["prompt"])
    assert (split.text, split.reasoning, split.leak) == (entry["reply"], "", "")


@pytest.mark.parametrize("entry", HEALTHY)
def test_half_a_healthy_reply_is_healthy_too(entry: dict[str, str]) -> None:
    half = entry["reply"][: len(entry["reply"]) // 2]
    found = degeneration_findings(view_of(entry["prompt"], half, "length"), (), GradeContext())
    assert [finding.title for finding in found] == []
