"""n > 1: as many choices as were asked for, each finished, each with its own index."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from pytest_mtp.checks.probes.probe import Probe, Sight, finding, unanswered
from pytest_mtp.checks.probes.saying import STORY, say, whole
from pytest_mtp.checks.probes.sent import Sent, declined
from pytest_mtp.core.case import Case
from pytest_mtp.core.exchange import Exchange

_MOST, _MAX_TOKENS = 3, 16


def look(case: Case, sent: Sent) -> Sequence[Sight]:
    """Unstreamed and sampled: a refusal is an honest answer, fewer choices without a word is not."""
    wanted = max(2, min(_MOST, sent.facts.sequences or _MOST))  # llama.cpp refuses more choices than it has slots
    return [_sight(sent.ask(say(STORY, max_tokens=whole(case, "max_tokens", _MAX_TOKENS), temperature=1.0, n=wanted)), wanted)]


def _sight(exchange: Exchange, wanted: int) -> Sight:
    condition = f"n = {wanted}"
    if declined(exchange):
        return Sight(condition=condition, not_offered=declined(exchange))
    if exchange.reply is None:
        return unanswered(condition, exchange)
    choices = _choices(exchange.reply.raw)
    indices = [choice.get("index") for choice in choices]
    evidence = {"indices": [str(index) for index in indices[:8]], "asked": wanted}
    if len(choices) == 1:
        title = f"n = {wanted} was ignored: one choice came, without a refusal"
        return Sight(condition=condition, findings=(finding("PROTO.param", title, evidence=evidence),), culprit=exchange)
    if sorted(indices, key=str) != list(range(wanted)):
        title = f"n = {wanted} gave {len(choices)} choices with the indices {indices[:8]}"
        return Sight(condition=condition, findings=(finding("PROTO.choices", title, evidence=evidence),), culprit=exchange)
    open_ = [choice["index"] for choice in choices if not choice.get("finish_reason")]
    if open_:
        title = f"the choices {open_} have no finish reason"
        return Sight(condition=condition, findings=(finding("PROTO.choices", title, evidence=evidence),), culprit=exchange)
    return Sight(condition=condition)


def _choices(raw: str) -> list[Mapping[str, object]]:
    """Every choice on the wire: the reply itself keeps choice 0 alone."""
    body = json.loads(raw.removeprefix("\ufeff"))  # it was read once, else there were no reply
    return [choice for choice in body["choices"] if isinstance(choice, Mapping)]


PROBE = Probe(
    name="choices",
    about="n > 1: as many choices, indices and finish reasons, or a refusal",
    requests=lambda _: 1,
    tokens=lambda case: _MOST * whole(case, "max_tokens", _MAX_TOKENS),
    look=look,
    sees=("n-choices",),
)
