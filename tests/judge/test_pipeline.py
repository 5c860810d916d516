"""The order of judgement, one behaviour each."""

from __future__ import annotations

import pytest

from pytest_mtp.core.ask import Ask, Sampling
from pytest_mtp.core.case import Expect
from pytest_mtp.core.errors import UsageError
from pytest_mtp.core.exchange import Exchange, Fault, Timeline
from pytest_mtp.core.reply import Reply, Usage, WireNote
from pytest_mtp.judge.judgement import GradeContext, Judgement
from pytest_mtp.judge.pipeline import judge
from pytest_mtp.judge.registry import grader_for

USAGE = Usage(prompt_tokens=3, completion_tokens=9, total_tokens=12)
NUMBER = Expect(kind="number", spec=32)


def judged(content: str | None, *expects: Expect, prompt: str = "How many?", max_tokens: int | None = 64, **reply: object) -> Judgement:
    fields = {"finish_reason": "stop", "usage": USAGE, **reply}
    ask = Ask(messages=({"role": "user", "content": prompt},), sampling=Sampling(max_tokens=max_tokens))
    exchange = Exchange(ask=ask, url="u", model="m", reply=Reply(content=content, **fields), timeline=Timeline(sent_ns=0))
    return judge(exchange, expects, context=GradeContext())


def codes(judgement: Judgement) -> list[tuple[str, str]]:
    return [(finding.code, finding.severity) for finding in judgement.findings]


def faulty(code: str) -> Judgement:
    fault = Fault(kind="busy" if code.startswith("INFRA") else "malformed", code=code, message="it broke", status=503)
    exchange = Exchange(ask=Ask(messages=()), url="u", model="m", fault=fault, timeline=Timeline(sent_ns=0))
    return judge(exchange, [NUMBER], context=GradeContext())


def test_an_infrastructure_fault_blocks_and_is_no_answer() -> None:
    judgement = faulty("INFRA.busy")
    assert (judgement.outcome, judgement.answer, codes(judgement)) == ("BLOCKED", None, [("INFRA.busy", "critical")])


def test_a_broken_protocol_fails() -> None:
    assert faulty("PROTO.json").outcome == "FAIL"


def test_a_right_answer_passes_with_its_canonical_form() -> None:
    judgement = judged("Answer: 32.0", NUMBER)
    assert (judgement.outcome, judgement.answer, judgement.findings) == ("PASS", "32", ())


def test_a_wire_note_is_a_finding_even_when_the_answer_is_right() -> None:
    judgement = judged("32", NUMBER, notes=(WireNote(code="PROTO.sse", detail="two finish reasons"),))
    assert (judgement.outcome, judgement.answer, codes(judgement)) == ("FAIL", "32", [("PROTO.sse", "critical")])


@pytest.mark.parametrize(
    ("content", "outcome", "expected"),
    [
        ("She has 3 bags, so 36 and then", "FAIL", [("GEN.truncated", "model")]),
        ("Answer: 32\n\nTo check this, we", "PASS", [("GEN.truncated", "note")]),
        ("Answer: 3", "FAIL", [("GEN.truncated", "model")]),
        ("Answer: 30\n\nTo check this, we", "FAIL", [("ANS.wrong", "model"), ("GEN.truncated", "note")]),
    ],
    ids=["nothing-yet", "right-and-settled", "cut-inside-the-number", "wrong-and-settled"],
)
def test_a_cut_reply_counts_only_when_its_answer_was_settled(content: str, outcome: str, expected: list[tuple[str, str]]) -> None:
    judgement = judged(content, NUMBER, finish_reason="length")
    assert (judgement.outcome, codes(judgement)) == (outcome, expected)


def test_no_text_is_empty_and_not_wrong() -> None:
    assert judged("", NUMBER).code == "GEN.empty"


def test_a_budget_spent_on_reasoning_is_told_as_such() -> None:
    assert judged(None, NUMBER, reasoning="Let me think", finish_reason="length").code == "GEN.think_unclosed"


def test_a_refusal_is_not_a_wrong_answer() -> None:
    assert judged("I'm sorry, but I can't help with that.", NUMBER).code == "GEN.refusal"


def test_a_null_finish_reason_is_told() -> None:
    assert judged("32", NUMBER, finish_reason=None).code == "PROTO.finish"


def test_an_unknown_finish_reason_is_a_note() -> None:
    judgement = judged("32", NUMBER, finish_reason="eos_token")
    assert (judgement.outcome, codes(judgement)) == ("PASS", [("PROTO.finish", "note")])


def test_an_unknown_kind_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'number'"):
        grader_for("nubmer")
