"""Losslessness without a second server: hold a long answer against its own one-token continuations.

A token that a speculating server emits was drafted and verified several at a time. The same server, asked for *one* token
after the same prefix, drafts nothing: that token is the model's own choice. Where speculation is lossless the two agree, but
for near-ties. This needs a server that continues an assistant message and gives logprobs.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.codes import severity_of
from pytest_mtp.core.exchange import Exchange
from pytest_mtp.core.protocols import Engine
from pytest_mtp.core.record import Record
from pytest_mtp.core.reply import Reply
from pytest_mtp.core.verdict import Finding

MATERIAL_GAP_NATS = 1.0
"""Kernels of different batch shape move a logprob by hundredths of a nat, low-bit ones by a tenth; a whole nat is no noise."""

LEAST_AGREEMENT = 0.2
"""Below this the server restarts the answer instead of continuing it: even with every draft forced, the model still
chooses one token a step, and a drafter is right now and then."""

TOP = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Step(Record):
    """One position: what the long answer holds, what the model chooses there, and how far apart they are in nats."""

    position: int
    prefix: str
    emitted: str
    chosen: str
    gap_nats: float
    at_least: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StepCheck(Record):
    """`checked` positions were comparable. `reason` says why nothing could be compared."""

    checked: int = 0
    material: tuple[Step, ...] = ()
    neartie: tuple[Step, ...] = ()
    reason: str = ""


def step_check(
    exchange: Exchange, engine: Engine, ask: Callable[[Ask], Exchange], *, positions: int, continues: bool = False
) -> StepCheck:  # fmt: skip
    """Compare up to `positions` tokens of one temperature-0 answer. `ask` sends one request and nothing beside it.

    `continues`: it was seen before that the server continues an assistant message, so that disagreement at every position
    is no sign of an answer that is begun anew.
    """
    reply = exchange.reply
    if reply is None or not reply.text:
        return StepCheck(reason="the answer to check is empty")
    if reply.reasoning:
        return StepCheck(reason="a reasoning model's answer cannot be continued without its reasoning")
    tokens = [entry.token for entry in reply.logprobs]
    if len(tokens) < 3:
        return StepCheck(reason="the server gives no logprobs, so its tokens are not known")
    if "".join(tokens) != reply.text:
        return StepCheck(reason="the tokens of the logprobs do not spell the answer")
    places = _places(tokens, positions)
    continued: list[tuple[int, Reply]] = []
    for place in places:
        more = engine.continuation(exchange.ask, "".join(tokens[:place]))
        if more is None:
            return StepCheck(reason="the server cannot continue an assistant message")
        one = dataclasses.replace(
            more, stream=False, top_logprobs=TOP, sampling=dataclasses.replace(more.sampling, temperature=0.0, max_tokens=1)
        )
        answer = ask(one).reply
        if answer is not None and answer.logprobs and answer.logprobs[0].top:
            continued.append((place, answer))
    return _compare(tokens, _same_tokenisation(continued), continues=continues)


def joined(parts: Sequence[StepCheck]) -> StepCheck:
    """Several answers as one; a reason is kept only where nothing at all was compared."""
    return StepCheck(
        checked=sum(part.checked for part in parts),
        material=tuple(step for part in parts for step in part.material),
        neartie=tuple(step for part in parts for step in part.neartie),
        reason="" if any(part.checked for part in parts) else "; ".join(dict.fromkeys(part.reason for part in parts)),
    )


def parity_finding(code: str, steps: StepCheck, words: str) -> Finding:
    """The steps that differ: the material ones, else the near-ties."""
    shown = steps.material or steps.neartie
    lines = [
        f"after {step.prefix!r}: answered {step.emitted!r}, alone it chooses {step.chosen!r} "
        f"({'at least ' if step.at_least else ''}{step.gap_nats:.2f} nats apart)"
        for step in shown[:6]
    ]
    return Finding(
        code=code,
        severity=severity_of(code),
        title=f"{len(shown)} of {steps.checked} {words}",
        detail="\n".join(lines),
        evidence={"steps": [step.to_dict() for step in shown[:20]]},
    )


def _places(tokens: Sequence[str], positions: int) -> list[int]:
    """Positions spread over the answer whose prefix does not end in white space, which templates may strip."""
    usable = [i for i in range(1, len(tokens)) if tokens[i - 1] and not tokens[i - 1][-1].isspace()]
    if len(usable) <= positions:
        return usable
    return [usable[round(k * (len(usable) - 1) / (positions - 1))] for k in range(positions)]


def _same_tokenisation(continued: Sequence[tuple[int, Reply]]) -> list[tuple[int, Reply]]:
    """Drop positions whose prefix was split into other tokens than the answer was, seen in the prompt's token count."""
    offsets = [
        (reply.usage.prompt_tokens or 0) - place if reply.usage and reply.usage.prompt_tokens else None for place, reply in continued
    ]
    usual = Counter(offset for offset in offsets if offset is not None).most_common(1)
    if not usual:
        return list(continued)
    return [pair for pair, offset in zip(continued, offsets, strict=True) if offset in (None, usual[0][0])]


def _compare(tokens: Sequence[str], continued: Sequence[tuple[int, Reply]], *, continues: bool) -> StepCheck:
    if not continued:
        return StepCheck(reason="no continuation came with logprobs")
    steps = [_step(tokens, place, reply) for place, reply in continued]
    different = [step for step in steps if step.emitted != step.chosen]
    if not continues and len(steps) - len(different) < LEAST_AGREEMENT * len(steps):
        return StepCheck(reason="the server restarts an assistant message instead of continuing it")
    return StepCheck(
        checked=len(steps),
        material=tuple(step for step in different if step.gap_nats >= MATERIAL_GAP_NATS),
        neartie=tuple(step for step in different if step.gap_nats < MATERIAL_GAP_NATS),
    )


def _step(tokens: Sequence[str], place: int, reply: Reply) -> Step:
    entry = reply.logprobs[0]
    known = {top.token: top.logprob for top in entry.top if top.logprob is not None}
    best = max(known.values(), default=0.0)
    listed = tokens[place] in known
    # An emitted token that is not even in the list lies below its last entry: the gap is at least that.
    gap = best - (known[tokens[place]] if listed else min(known.values(), default=0.0))
    return Step(
        position=place,
        prefix="".join(tokens[max(0, place - 12) : place]),
        emitted=tokens[place],
        chosen=entry.token,
        gap_nats=gap,
        at_least=not listed,
    )
