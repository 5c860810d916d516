"""The same request streamed and not: the same text, reasoning, finish reason and count of tokens.

Each mode is asked twice, in turn and with nothing else on the server, so that the probe has a control of its own: only where each
mode agrees with itself does a difference between the two say anything, and no batch changes the numerics of one of them.
Spaces at the ends of a text are trimmed by some servers in one mode, lawfully. Some count the end of the turn in one mode alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from pytest_mtp.checks.probes.probe import Probe, Sight, finding, unanswered
from pytest_mtp.checks.probes.saying import COUNT, STORY, say, whole
from pytest_mtp.checks.probes.sent import Sent
from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import Case
from pytest_mtp.core.exchange import Exchange
from pytest_mtp.core.reply import Reply
from pytest_mtp.core.verdict import Finding
from pytest_mtp.judge.words.difference import first_difference

_MAX_TOKENS = 48
_REPEATS = 2
_UNICODE = (
    "Repeat exactly, with every sign: na\u00efve \u65e5\u672c\u8a9e \u0395\u03bb\u03bb\u03ac\u03b4\u03b1 "
    "\U0001f469\u200d\U0001f680 \U0001f1eb\U0001f1f7 e\u0301 \U0001d4b3"
)


def look(case: Case, sent: Sent) -> Sequence[Sight]:
    """Counting, prose, signs of several bytes, and a system message."""
    budget = whole(case, "max_tokens", _MAX_TOKENS)
    asks = {
        "counting": say(COUNT, max_tokens=budget),
        "prose": say(STORY, max_tokens=budget),
        "signs of several bytes": say(_UNICODE, max_tokens=budget),
        "with a system message": _with_system(say("What is a lighthouse?", max_tokens=budget)),
    }
    sights = []
    for name, ask in asks.items():
        turns = [dataclasses.replace(ask, stream=stream) for _ in range(_REPEATS) for stream in (False, True)]
        sights.append(_sight(name, [sent.alone(turn) for turn in turns]))
    return sights


def _with_system(ask: Ask) -> Ask:
    return dataclasses.replace(ask, messages=({"role": "system", "content": "You answer in one short sentence."}, *ask.messages))


def _sight(condition: str, exchanges: Sequence[Exchange]) -> Sight:
    missing = next((exchange for exchange in exchanges if exchange.reply is None), None)
    if missing is not None:
        return unanswered(condition, missing)
    unary = [exchange.reply for exchange in exchanges if not exchange.ask.stream and exchange.reply]
    streamed = [exchange.reply for exchange in exchanges if exchange.ask.stream and exchange.reply]
    if len({_said(reply) for reply in unary}) > 1 or len({_said(reply) for reply in streamed}) > 1:
        return Sight(condition=condition, unreached="the server disagrees with itself within one mode at temperature 0")
    found = [each for each in (_difference(unary[0], streamed[0]), _counts(unary, streamed)) if each]
    culprit = next(exchange for exchange in exchanges if exchange.ask.stream)
    return Sight(condition=condition, findings=tuple(found), culprit=culprit if found else None)


def _said(reply: Reply) -> tuple[str, str, str | None]:
    return reply.text.strip(), (reply.reasoning or "").strip(), reply.finish_reason


def _difference(unary: Reply, streamed: Reply) -> Finding | None:
    names = ("text", "reasoning", "finish reason")
    for name, one, other in zip(names, _said(unary), _said(streamed), strict=True):
        if one != other:
            place = first_difference(one or "", other or "")
            title = f"the {name} differs: unstreamed {_around(one, place)!r}, streamed {_around(other, place)!r}"
            evidence = {"unstreamed": (one or "")[:400], "streamed": (other or "")[:400], "first_difference": place}
            return finding("PROTO.stream_diff", title, evidence=evidence)
    return None


def _counts(unary: Sequence[Reply], streamed: Sequence[Reply]) -> Finding | None:
    """Of the same words, where each mode counts them alike every time; a single token more or less is the end of the turn."""
    if unary[0].text.strip() != streamed[0].text.strip():
        return None
    whole, pieces = ({reply.usage.completion_tokens if reply.usage else None for reply in replies} for replies in (unary, streamed))
    if None in whole | pieces or len(whole) > 1 or len(pieces) > 1:
        return None
    (one,), (other,) = whole, pieces
    assert one is not None
    assert other is not None
    if abs(one - other) <= 1:
        return None
    title = f"the same words count {one} completion tokens unstreamed and {other} streamed"
    reasons = [unary[0].finish_reason, streamed[0].finish_reason]
    return finding("PROTO.usage", title, evidence={"text": unary[0].text[:200], "finish_reasons": reasons})


def _around(text: str | None, place: int) -> str | None:
    return None if text is None else text[max(0, place - 20) : place + 20]


PROBE = Probe(
    name="stream_parity",
    about="the same request streamed and not gives the same text, reasoning, finish reason and token count",
    requests=lambda _: 4 * 2 * _REPEATS,
    tokens=lambda case: 4 * 2 * _REPEATS * whole(case, "max_tokens", _MAX_TOKENS),
    look=look,
    sees=("stream-parity", "unicode-roundtrip", "usage-invariants"),
    alone=True,
)
