"""Hand-reasoned vectors: a reply, what was expected, and what a person would say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_mtp.core.ask import Ask, Sampling
from pytest_mtp.core.case import Expect
from pytest_mtp.core.exchange import Exchange, Timeline
from pytest_mtp.core.reply import Reply, Usage
from pytest_mtp.judge.judgement import GradeContext, Judgement
from pytest_mtp.judge.pipeline import judge

FILES = sorted((Path(__file__).parent / "vectors").glob("*.yaml"))
VECTORS = [pytest.param(vector, id=f"{path.stem}-{vector['id']}") for path in FILES for vector in yaml.safe_load(path.read_text("utf-8"))]


def exchange_of(vector: dict[str, Any]) -> Exchange:
    content, reasoning = vector.get("reply"), vector.get("reasoning")
    if "repeat" in vector:
        unit, times = vector["repeat"]
        content += unit * times
    if "repeat_reasoning" in vector:
        unit, times = vector["repeat_reasoning"]
        reasoning += unit * times
    reply = Reply(
        content=content,
        reasoning=reasoning,
        finish_reason=vector.get("finish", "stop"),
        refusal=vector.get("refusal"),
        usage=Usage(prompt_tokens=9, completion_tokens=64, total_tokens=73),
    )
    prompt = vector.get("prompt", "Please answer.")
    ask = Ask(
        messages=({"role": "user", "content": prompt},), sampling=Sampling(max_tokens=64), response_format=vector.get("response_format")
    )
    return Exchange(ask=ask, url="u", model="m", reply=reply, timeline=Timeline(sent_ns=0))


def judged(vector: dict[str, Any]) -> Judgement:
    expects = [Expect(kind=kind, spec=spec) for kind, spec in vector.get("expect", {}).items()]
    return judge(exchange_of(vector), expects, context=GradeContext(references=vector.get("references", {})))


def test_there_are_enough_vectors() -> None:
    assert len(VECTORS) >= 320


@pytest.mark.parametrize("vector", VECTORS)
def test_the_judgement_is_that_of_a_person(vector: dict[str, Any]) -> None:
    judgement = judged(vector)
    code = None if vector.get("code") == "ok" else vector.get("code")
    told = {finding.code: finding for finding in judgement.findings}
    assert judgement.outcome == vector.get("outcome", "FAIL" if code else "PASS"), judgement
    if code:
        assert code in told, judgement
        failing = [finding.code for finding in judgement.findings if finding.severity != "note"] or [code]
        assert failing[0] == code, judgement
    assert set(vector.get("notes", [])) <= set(told), judgement
    if "severity" in vector and code:
        assert told[code].severity == vector["severity"]
    if "answer" in vector:
        assert judgement.answer == vector["answer"]
    if "title" in vector and code:
        assert told[code].title == vector["title"]


@pytest.mark.parametrize("vector", [param for param in VECTORS if not param.values[0].get("code")])
def test_a_pass_has_no_finding_but_the_notes_that_were_named(vector: dict[str, Any]) -> None:
    assert sorted(finding.code for finding in judged(vector).findings) == sorted(vector.get("notes", []))
