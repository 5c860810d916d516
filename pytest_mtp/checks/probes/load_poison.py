"""Before and after load: a server that answered a question before a crowd answers it alike afterwards.

A corrupted cache, a leaked slot or a drafter that lost its state shows when the crowd has gone. Each question is asked twice before and
twice after, alone; only one whose answers agree before and agree after, and differ between, is a sign, and at least half of the
questions must show it, since a single near tie may fall otherwise once the prompt is cached in other pieces.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytest_mtp.checks.probes.probe import Probe, Sight, finding, unanswered
from pytest_mtp.checks.probes.saying import COUNT, STORY, say, whole
from pytest_mtp.checks.probes.sent import Sent
from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import Case
from pytest_mtp.core.exchange import Exchange
from pytest_mtp.core.facts import Acceptance, Counters
from pytest_mtp.core.verdict import Finding

_WIDTH, _MAX_TOKENS = 12, 24
_QUESTIONS = (COUNT, STORY, "What is photosynthesis?", "Write a Python function that reverses a string.")
_ANSWERS, _DRAFTS, _TOGETHER = "answers after load", "acceptance after load", "drafts under load"

_FEWER = 0.3
"""Drafts a token may fall in a crowd, as schedulers shorten drafts under load; to less than a third they as good as end."""

_LOST = 0.5
"""Acceptance that falls below half of what the same prompts had a minute before is decay, whatever the prompts."""


def look(case: Case, sent: Sent) -> Sequence[Sight]:
    """The load is a mix of long and short, streamed and not, sampled."""
    budget, width = whole(case, "max_tokens", _MAX_TOKENS), whole(case, "width", _WIDTH)
    asks = [say(question, max_tokens=budget) for question in _QUESTIONS]
    before, opened, loaded = _asked(sent, asks)
    crowded = sent.burst([_noise(place, budget) for place in range(width)])
    after, unloaded, closed = _asked(sent, asks)
    missing = next((exchange for group in (*before, *after) for exchange in group if exchange.reply is None), None)
    if missing is not None:
        return [unanswered(_ANSWERS, missing)]
    alone = _between(opened, loaded)
    return [
        _answers(before, after),
        _drafts(alone, _between(unloaded, closed)),
        _drafts_together(before, alone, crowded, _between(loaded, unloaded)),
    ]


def _between(start: Counters | None, end: Counters | None) -> Acceptance | None:
    return end.since(start).acceptance if start and end else None


def _asked(sent: Sent, asks: Sequence[Ask]) -> tuple[list[tuple[Exchange, Exchange]], Counters | None, Counters | None]:
    start = sent.engine.counters(sent.client)
    answers = [(sent.alone(ask), sent.alone(ask)) for ask in asks]
    end = sent.engine.counters(sent.client)
    return answers, start, end


def _noise(place: int, budget: int) -> Ask:
    padding = "This sentence is padding. " * (40 if place % 3 == 0 else 2)
    prompt = f"{padding}Write about the number {place}."
    return say(prompt, max_tokens=budget * (1 + place % 2), stream=bool(place % 2), temperature=0.8, seed=place)


def _answers(before: Sequence[tuple[Exchange, Exchange]], after: Sequence[tuple[Exchange, Exchange]]) -> Sight:
    steady = [(one, other) for one, other in zip(before, after, strict=True) if _agrees(one) and _agrees(other)]
    if 2 * len(steady) < len(before):
        return Sight(condition=_ANSWERS, unreached="the server disagrees with itself at temperature 0 without any load")
    changed = [(one[0], other[0]) for one, other in steady if _text(one[0]) != _text(other[0])]
    if not changed:
        return Sight(condition=_ANSWERS)
    first, again = changed[0]
    evidence = {"before": _text(first)[:300], "after": _text(again)[:300]}
    title = f"{len(changed)} of {len(steady)} answers that were steady before the load are others after it"
    harmful = 2 * len(changed) >= len(steady)
    found: Finding = finding("CTRL.poison", title, evidence=evidence, severity=None if harmful else "note")
    return Sight(condition=_ANSWERS, findings=(found,), culprit=again)


def _drafts(before: Acceptance | None, after: Acceptance | None) -> Sight:
    if before is None or after is None or not before.accepted or before.rate is None:
        return Sight(condition=_DRAFTS, not_offered="no counters of accepted drafts that move")
    rate = after.rate or 0.0
    if rate >= _LOST * before.rate:
        return Sight(condition=_DRAFTS)
    title = f"acceptance of the same prompts falls from {before.rate:.0%} to {rate:.0%} after load"
    evidence = {"before": before.to_dict(), "after": after.to_dict()}
    return Sight(condition=_DRAFTS, findings=(finding("SPEC.decay", title, evidence=evidence),))


def _drafts_together(
    singles: Sequence[tuple[Exchange, Exchange]], before: Acceptance | None, crowded: Sequence[Exchange], crowd: Acceptance | None
) -> Sight:
    """Drafts a token, alone and in the crowd; the first and the last of a crowd may be alone again."""
    alone, together = _tokens([exchange for pair in singles for exchange in pair]), _tokens(crowded)
    if before is None or crowd is None or not before.drafted or not alone or not together:
        return Sight(condition=_TOGETHER, not_offered="no counters of drafts that move")
    share = (crowd.drafted / together) / (before.drafted / alone)
    if share >= _FEWER:
        return Sight(condition=_TOGETHER)
    title = f"sampled requests that run together get {share:.0%} of the drafts a token that single greedy ones get"
    found = finding("SPEC.condition", title, evidence={"single": before.to_dict(), "crowd": crowd.to_dict()}, severity="note")
    return Sight(condition=_TOGETHER, findings=(found,))


def _tokens(exchanges: Sequence[Exchange]) -> int:
    """As usage tells; 0 where a reply does not."""
    counts = [exchange.reply.usage.completion_tokens if exchange.reply and exchange.reply.usage else None for exchange in exchanges]
    return 0 if None in counts else sum(count for count in counts if count)


def _agrees(pair: tuple[Exchange, Exchange]) -> bool:
    return _text(pair[0]) == _text(pair[1])


def _text(exchange: Exchange) -> str:
    return f"{exchange.reply.reasoning or ''}\0{exchange.reply.text}" if exchange.reply else ""


PROBE = Probe(
    name="load_poison",
    about="answers and acceptance before and after a crowd of requests",
    requests=lambda case: 4 * len(_QUESTIONS) + whole(case, "width", _WIDTH),
    tokens=lambda case: (4 * len(_QUESTIONS) + 2 * whole(case, "width", _WIDTH)) * whole(case, "max_tokens", _MAX_TOKENS),
    look=look,
    sees=("acceptance-trend", "repeat-determinism"),
    alone=True,
)
