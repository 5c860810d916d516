"""Tool dispatch: the right calls with the right values, streamed and not."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from pytest_mtp.checks.answers import judged
from pytest_mtp.checks.repeats import conclude
from pytest_mtp.core.case import Case
from pytest_mtp.core.exchange import Exchange
from pytest_mtp.core.protocols import CheckContext
from pytest_mtp.core.reply import Reply
from pytest_mtp.core.verdict import Finding, Verdict
from pytest_mtp.judge.tools.parity import stream_parity
from pytest_mtp.judge.tools.rates import dispatch_rate


def run(case: Case, context: CheckContext) -> Verdict:
    """As a golden case, and at temperature 0 the streamed calls are held against the unstreamed ones."""
    exchanges, judgements = judged(case, context)
    noisy = bool(context.control().disagree_text)
    parity = _parity(case, exchanges, noisy=noisy)
    verdict = conclude(case, judgements, extra=parity)
    if parity and verdict.culprit is None:  # the two differ, and the stream is what breaks first
        streamed = next((index for index, exchange in enumerate(exchanges) if exchange.ask.stream), None)
        verdict = dataclasses.replace(verdict, culprit=streamed)
    right, repeats = verdict.rate or (0, 0)
    return dataclasses.replace(verdict, measures=(dispatch_rate(right, repeats),)) if repeats else verdict


def _parity(case: Case, exchanges: Sequence[Exchange], *, noisy: bool) -> tuple[Finding, ...]:
    """Repeat i unstreamed against repeat i streamed; the first difference is enough to report.

    `noisy`: the control saw the server disagree with itself, so a difference that no wire fault explains proves less.
    """
    if len(case.modes) < 2 or case.ask is None or case.ask.sampling.temperature:
        return ()
    unary = [exchange.reply for exchange in exchanges if not exchange.ask.stream]
    streamed = [exchange.reply for exchange in exchanges if exchange.ask.stream]
    for one, other in zip(unary, streamed, strict=True):
        if one is not None and other is not None and _whole(one) and _whole(other):
            findings = stream_parity(one, other, case.ask, case.severity, noisy=noisy)
            if findings:
                return tuple(findings)
    return ()


def _whole(reply: Reply) -> bool:
    """A reply that was cut on its way differs because of that, which is a finding of its own."""
    return not any(note.code == "PROTO.truncated" for note in reply.notes)
