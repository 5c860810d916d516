"""Token counts: contradictions are told, honest habits of servers are not."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_mtp.core.ask import Ask, Sampling
from pytest_mtp.core.reply import Reply, ToolCall, Usage
from pytest_mtp.judge.judgement import GradeContext, View
from pytest_mtp.judge.usage import usage_findings

FULL = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


def told(
    usage: dict[str, int | None] | None, *, sampling: Sampling | None = None, extra: dict[str, Any] | None = None, **reply: Any
) -> list[str]:
    fields = {"content": "hello", **reply}
    ask = Ask(messages=({"role": "user", "content": "hi"},), sampling=sampling or Sampling(max_tokens=64), extra_body=extra or {})
    view = View(text="hello", reply=Reply(usage=Usage(**usage) if usage is not None else None, **fields), ask=ask)
    return [f"{finding.code} {finding.severity}: {finding.title}" for finding in usage_findings(view, GradeContext())]


@pytest.mark.parametrize(
    ("usage", "words"),
    [
        ({**FULL, "total_tokens": 16}, "total_tokens is 16, prompt_tokens 10 + completion_tokens 5 make 15"),
        ({**FULL, "completion_tokens": 0, "total_tokens": 10}, "completion_tokens is 0, and 5 characters came"),
        ({**FULL, "completion_tokens": 65, "total_tokens": 75}, "completion_tokens is 65, above max_tokens 64"),
        ({**FULL, "prompt_tokens": 0, "total_tokens": 5}, "prompt_tokens is 0, and a prompt was sent"),
        ({**FULL, "cached_tokens": 11}, "cached_tokens is 11, more than all 10 prompt_tokens"),
        ({**FULL, "completion_tokens": -1, "total_tokens": 9}, "completion_tokens is -1"),
    ],
    ids=["sum", "zero", "budget", "no-prompt", "cached", "negative"],
)
def test_a_contradiction_is_told(usage: dict[str, int], words: str) -> None:
    assert told(usage) == [f"PROTO.usage critical: {words}"]


@pytest.mark.parametrize(
    ("usage", "more"),
    [
        (FULL, {}),
        ({"prompt_tokens": 10, "completion_tokens": 5}, {}),
        ({"completion_tokens": 5}, {}),
        ({**FULL, "cached_tokens": 10}, {}),
        ({**FULL, "reasoning_tokens": 3}, {}),
        ({**FULL, "reasoning_tokens": 3, "total_tokens": 18}, {}),
        ({**FULL, "completion_tokens": 64, "total_tokens": 74}, {}),
        ({**FULL, "completion_tokens": 100, "total_tokens": 110}, {"sampling": Sampling(max_tokens=64, n=2), "choices": 2}),
        ({**FULL, "completion_tokens": 100, "total_tokens": 110}, {"sampling": Sampling()}),
        ({**FULL, "completion_tokens": 100, "total_tokens": 110}, {"extra": {"max_completion_tokens": 200}}),
        ({**FULL, "completion_tokens": 100, "total_tokens": 110}, {"extra": {"best_of": 3}}),
        ({**FULL, "completion_tokens": 0, "total_tokens": 10}, {"content": None}),
    ],
    ids=[
        "complete", "no-total", "completion-alone", "all-cached", "reasoning-inside", "reasoning-beside", "budget-full", "two-choices",
        "no-budget", "another-budget", "best-of", "nothing-written",
    ],
)  # fmt: skip
def test_an_honest_server_is_not_accused(usage: dict[str, int | None], more: dict[str, Any]) -> None:
    assert told(usage, **more) == []


def test_calls_count_as_written() -> None:
    calls = (ToolCall(id="1", type="function", name="f", arguments="{}"),)
    assert told({**FULL, "completion_tokens": 0, "total_tokens": 10}, content=None, tool_calls=calls)[0].startswith("PROTO.usage")


@pytest.mark.parametrize("usage", [None, {}], ids=["none", "empty"])
def test_absent_counts_are_a_note(usage: dict[str, int | None] | None) -> None:
    assert told(usage) == ["PROTO.usage_missing note: the reply carries no token counts"]
