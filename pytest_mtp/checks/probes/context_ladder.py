"""The long-context ladder: prompts that grow across powers of two are read whole, and answered without breaking.

Each rung hides a number in padding. Whether a model finds it is the model's affair and is measured; that the prompt was read whole (its
token count grows with the words), that an answer comes, and that it is no wreck, is the server's. The last rung is beyond the
window, where the server knows its own: a refusal is due, or a count that shows what was read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from pytest_mtp.checks.probes.probe import Probe, Sight, finding, unanswered
from pytest_mtp.checks.probes.saying import say
from pytest_mtp.checks.probes.sent import Sent
from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import Case
from pytest_mtp.core.exchange import Exchange
from pytest_mtp.core.verdict import Finding
from pytest_mtp.judge.judgement import GradeContext
from pytest_mtp.judge.pipeline import judge

RUNGS = (120, 250, 500, 1000, 1600)
"""Words of padding. A word of it is one token with most tokenizers, so that the rungs lie on both sides of powers of two."""

_FARTHEST = 8192
"""A window larger than this is not overrun by default: the request would cost more than it tells."""

_MAX_TOKENS = 16
_PADDING = "The grass is green and the sky is blue and the sun is warm. "
_PADDING_WORDS = 13
_BEYOND = "beyond the window"
_WRECKS = ("GEN.degenerate.replacement", "GEN.degenerate.control", "GEN.degenerate.special", "GEN.degenerate.script")


def look(case: Case, sent: Sent) -> Sequence[Sight]:
    """One request at a time, the shortest first."""
    rungs = cast("Sequence[int]", case.params.get("rungs", RUNGS))
    window = sent.facts.context_length
    exchanges = [(words, sent.alone(_asked(words))) for words in rungs if window is None or 1.6 * words + _MAX_TOKENS < window]
    sights = [_sight(words, exchange) for words, exchange in exchanges]
    sights += _counts(exchanges)
    sights.append(_overrun(sent, window))
    return sights


def _asked(words: int) -> Ask:
    filling = _PADDING * max(1, words // (2 * _PADDING_WORDS))
    return say(f"{filling}The magic number is 4817. {filling}What is the magic number? Answer with the number.", max_tokens=_MAX_TOKENS)


def _sight(words: int, exchange: Exchange) -> Sight:
    condition = f"{words} words"
    if exchange.reply is None:
        return unanswered(condition, exchange)
    found = [each for each in judge(exchange, (), context=GradeContext(case_severity="model")).findings if each.code in _WRECKS]
    reply = exchange.reply
    if not found and not reply.text.strip() and not reply.reasoning and not reply.tool_calls and reply.finish_reason != "length":
        found = [finding("GEN.empty", f"no answer to a prompt of {words} words", severity="model")]
    return Sight(condition=condition, findings=tuple(found), culprit=exchange if found else None)


def _counts(exchanges: Sequence[tuple[int, Exchange]]) -> list[Sight]:
    """Between two rungs the prompt grows by whole copies of one sentence, so that each copy costs the same tokens."""
    condition = "read whole"
    told = [(words, count) for words, exchange in exchanges if (count := _prompt_tokens(exchange)) is not None]
    if len(told) < 3:
        return [Sight(condition=condition, not_offered="the replies carry no count of prompt tokens")]
    first, second = told[0], told[1]
    per_copy = (second[1] - first[1]) / (2 * (_copies(second[0]) - _copies(first[0])))
    for (words, count), exchange in zip(told[2:], [exchange for _, exchange in exchanges][2:], strict=False):
        due = first[1] + per_copy * 2 * (_copies(words) - _copies(first[0]))
        if count < 0.9 * due:
            title = f"{words} words were read as {count} prompt tokens, and {due:.0f} were due: the prompt was cut in silence"
            return [Sight(condition=condition, findings=(_cut(title, count, due),), culprit=exchange)]
    return [Sight(condition=condition)]


def _copies(words: int) -> int:
    return max(1, words // (2 * _PADDING_WORDS))


def _overrun(sent: Sent, window: int | None) -> Sight:
    if window is None or window > _FARTHEST:
        why = (
            "the server does not tell its window"
            if window is None
            else f"the window of {window} tokens is not overrun, as it costs too much"
        )
        return Sight(condition=_BEYOND, not_offered=why)
    exchange = sent.alone(_asked(int(1.3 * window)))
    if exchange.fault is not None:
        if exchange.fault.kind == "refused":
            return Sight(condition=_BEYOND)
        title = f"a prompt beyond the window of {window} tokens ended in: {exchange.fault.message}; a refusal (4xx) was due"
        return Sight(condition=_BEYOND, findings=(finding("PROTO.overflow", title, severity="note"),), culprit=exchange)
    count = _prompt_tokens(exchange)
    title = (
        f"a prompt beyond the window of {window} tokens was answered after {count or 'an untold number of'} prompt tokens: cut in silence"
    )
    return Sight(condition=_BEYOND, findings=(_cut(title, count, 1.3 * window),), culprit=exchange)


def _cut(title: str, count: int | None, due: float) -> Finding:
    return finding("PROTO.overflow", title, evidence={"prompt_tokens": count, "due": round(due)})


def _prompt_tokens(exchange: Exchange) -> int | None:
    return exchange.reply.usage.prompt_tokens if exchange.reply and exchange.reply.usage else None


PROBE = Probe(
    name="context_ladder",
    about="prompts of growing length are read whole and answered; beyond the window they are refused",
    requests=lambda case: len(cast("Sequence[int]", case.params.get("rungs", RUNGS))) + 1,
    tokens=lambda case: (len(cast("Sequence[int]", case.params.get("rungs", RUNGS))) + 1) * _MAX_TOKENS,
    look=look,
    sees=("long-context-ladder", "overflow-probe"),
    alone=True,
)
