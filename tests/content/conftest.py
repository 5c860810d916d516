"""The shipped suites, and the judgement of a reply to one of their cases."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_mtp.core.case import Case, Suite
from pytest_mtp.core.exchange import Exchange, Timeline
from pytest_mtp.core.reply import Reply, ToolCall, Usage
from pytest_mtp.judge.judgement import Judgement
from pytest_mtp.judge.pipeline import judge
from pytest_mtp.judge.sandbox.lend import full_context
from pytest_mtp.suites.load import load_suite

ROOT = Path(__file__).parents[2]
SUITES: Mapping[str, Suite] = {
    path.name.removesuffix(".mtp.yaml"): load_suite(path, shown=f"suites/{path.name}")
    for path in sorted((ROOT / "suites").glob("*.mtp.yaml"))
}

Judge = Callable[..., Judgement]


def case_of(suite: str, case_id: str) -> Case:
    return next(case for case in SUITES[suite].cases if case.id == case_id)


@pytest.fixture
def root() -> Path:
    return ROOT


@pytest.fixture
def suites() -> Mapping[str, Suite]:
    return SUITES


@pytest.fixture
def judged() -> Judge:
    """Judges `text` and `calls` (name and arguments) as the reply to a case of a shipped suite."""

    def judge_reply(suite: str, case_id: str, text: str | None = None, calls: list[tuple[str, Any]] | None = None) -> Judgement:
        case = case_of(suite, case_id)
        assert case.ask is not None
        reply = Reply(
            content=text,
            tool_calls=tuple(
                ToolCall(id=f"call_{index}", type="function", name=name, arguments=json.dumps(arguments, ensure_ascii=False), index=index)
                for index, (name, arguments) in enumerate(calls or ())
            ),
            finish_reason="tool_calls" if calls else "stop",
            usage=Usage(prompt_tokens=20, completion_tokens=200, total_tokens=220),
        )
        exchange = Exchange(ask=case.ask, url="http://127.0.0.1:1/v1", model="any", reply=reply, timeline=Timeline(sent_ns=0, done_ns=1))
        return judge(exchange, case.expected_of("any"), context=full_context(case.severity))

    return judge_reply
