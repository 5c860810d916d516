"""Asks whose answer is known: sent in each mode, repeated, judged by meaning."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import Case, Expect, Severity, model_slug
from pytest_mtp.core.errors import NotOffered
from pytest_mtp.core.exchange import Exchange
from pytest_mtp.core.protocols import CheckContext
from pytest_mtp.core.verdict import Finding
from pytest_mtp.judge.identity import reply_findings
from pytest_mtp.judge.judgement import GradeContext, Judgement
from pytest_mtp.judge.pipeline import judge
from pytest_mtp.judge.sandbox.lend import full_context

LOOP = "GEN.degenerate.loop"
LOOP_CONFIRMATIONS = 2


def planned_asks(case: Case) -> tuple[Ask, ...]:
    """The asks of a case in a fixed order (mode by mode, repeat by repeat), so that they can be sent ahead."""
    if case.ask is None or case.check is not None:
        return ()
    return tuple(
        dataclasses.replace(case.ask, stream=mode == "stream") for mode in case.modes for _ in range(case.repeats)
    )  # fmt: skip


def expectation(case: Case, context: CheckContext) -> Sequence[Expect]:
    """What would be right for the model under test; raises NotOffered when only other models have a golden answer."""
    expects = case.expected_of(model_slug(context.server.facts.model))
    if not expects:
        known = ", ".join(sorted(case.goldens))
        raise NotOffered(f"no golden answer for model {context.server.facts.model!r} (there is one for: {known})")
    return expects


def grade_context(case: Case, expects: Sequence[Expect], context: CheckContext) -> GradeContext:
    """The outside world for graders: the sandbox, and the control's answer only where a case asks for it.

    The control of a case is its own question asked once more, alone of its kind: temperature 0, unstreamed.
    """
    references: dict[str, str | None] = {}
    if case.ask is not None and any(expect.kind == "same_as" and expect.spec == "control" for expect in expects):
        plain = dataclasses.replace(case.ask, stream=False, sampling=dataclasses.replace(case.ask.sampling, temperature=0.0))
        others = [expect for expect in expects if expect.kind != "same_as"]
        references["control"] = judge(context.ask(plain), others, context=full_context(case.severity)).answer
    return full_context(case.severity, references)


def judged(case: Case, context: CheckContext) -> tuple[Sequence[Exchange], list[Judgement]]:
    """Every planned ask with its judgement, in order."""
    expects = expectation(case, context)
    exchanges = context.ask_many(planned_asks(case))
    grading = grade_context(case, expects, context)
    judgements = [judge(exchange, expects, context=grading) for exchange in exchanges]
    pairs = zip(exchanges, judgements, strict=True)
    return exchanges, [_by_whom(exchange, confirm_loop(exchange, judgement, context), context) for exchange, judgement in pairs]


def _by_whom(exchange: Exchange, judgement: Judgement, context: CheckContext) -> Judgement:
    """Fails where another model answered than at the start of the run, right or wrong as the answer may be."""
    others = reply_findings(exchange, context.server.facts)
    return dataclasses.replace(judgement, outcome="FAIL", findings=(*others, *judgement.findings)) if others else judgement


def confirm_loop(exchange: Exchange, judgement: Judgement, context: CheckContext) -> Judgement:
    """Blame a loop on serving only when sampled answers loop too.

    Greedy decoding of weak models repeats itself on healthy servers (Holtzman et al. 2020); sampling breaks such loops,
    while a broken cache, kernel or drafter loops under sampling as well. So the ask is repeated at temperature 0.8.
    """
    if not any(finding.code == LOOP for finding in judgement.findings) or exchange.ask.sampling.temperature:
        return judgement
    sampled = [
        dataclasses.replace(exchange.ask, sampling=dataclasses.replace(exchange.ask.sampling, temperature=0.8, seed=seed))
        for seed in range(1, LOOP_CONFIRMATIONS + 1)
    ]
    grading = GradeContext(case_severity="model", references={})
    again = [judge(repeat, (), context=grading) for repeat in context.ask_many(sampled)]
    looping = sum(any(finding.code == LOOP for finding in each.findings) for each in again)
    severity: Severity = "critical" if looping == LOOP_CONFIRMATIONS else "model"
    words = f"{looping} of {LOOP_CONFIRMATIONS} answers at temperature 0.8 loop too"
    findings = tuple(_with_severity(finding, severity, words) if finding.code == LOOP else finding for finding in judgement.findings)
    return dataclasses.replace(judgement, findings=findings)


def _with_severity(finding: Finding, severity: Severity, words: str) -> Finding:
    detail = f"{finding.detail}\n{words}" if finding.detail else words
    return dataclasses.replace(finding, severity=severity, detail=detail)
