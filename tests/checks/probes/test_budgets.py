"""The max_tokens ladder against servers that keep, exceed and misreport a budget."""

from __future__ import annotations

import dataclasses

import pytest

from pytest_mtp.checks.kinds import check_for
from pytest_mtp.core.case import Case, Source
from pytest_mtp.core.reply import Reply, Usage

CASE = Case(id="c", suite="s", source=Source(path="s", line=1), check="budgets", params={"rungs": [1, 5]})


def answering(tokens, *, reason="length", usage=True):
    def answer(ask):
        count = tokens(ask.sampling.max_tokens)
        counted = Usage(prompt_tokens=9, completion_tokens=count, total_tokens=9 + count) if usage else None
        return Reply(content="one, " * count, finish_reason=reason, usage=counted)

    return answer


def test_a_budget_that_is_kept(memory):
    verdict = check_for("budgets")(CASE, memory(answering(lambda budget: budget)))
    assert (verdict.outcome, verdict.exchanges) == ("PASS", 4)


def test_a_natural_end_below_the_budget_is_no_fault(memory):
    verdict = check_for("budgets")(CASE, memory(answering(lambda budget: min(budget, 3), reason="stop")))
    assert verdict.outcome == "PASS"


@pytest.mark.parametrize("count", [lambda budget: budget + 1, lambda budget: max(budget - 1, 0)], ids=["one more", "one less"])
def test_a_budget_that_is_not_kept(memory, count):
    verdict = check_for("budgets")(CASE, memory(answering(count)))
    assert verdict.outcome == "FAIL"
    assert verdict.findings[0].code == "PROTO.budget"
    assert verdict.findings[0].evidence["trials"] == "2 of 2 trials"
    assert verdict.culprit is not None


def test_without_counts_nothing_is_claimed(memory):
    verdict = check_for("budgets")(CASE, memory(answering(lambda budget: budget, usage=False)))
    assert verdict.outcome == "INCONCLUSIVE"
    assert "token ids nor usage" in verdict.reason


def test_token_ids_outrank_usage(memory):
    def answer(ask):
        honest = answering(lambda budget: budget)(ask)
        return dataclasses.replace(honest, token_ids=tuple(range(ask.sampling.max_tokens + 2)))

    assert check_for("budgets")(CASE, memory(answer)).outcome == "FAIL"
