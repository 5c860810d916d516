"""The stop matrix: text ends where a stop string begins, streamed and not, and nothing of it or after it comes.

The stops are cut out of what the server itself says without them, so that the probe needs no particular model: a stop inside
a word, one over the border of two words, and one of several. A server whose plain answers differ from one request to the next is
still held to what holds for any text: the stop is not in it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from pytest_mtp.checks.probes.probe import Probe, Sight, finding, unanswered
from pytest_mtp.checks.probes.saying import COUNT, say, whole
from pytest_mtp.checks.probes.sent import Sent, fault_finding
from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import Case
from pytest_mtp.core.exchange import Exchange
from pytest_mtp.core.verdict import Finding

_MAX_TOKENS = 40
_NEVER = "\u2021\u2021"
"""A stop that no answer to the question holds: it must change nothing."""


def look(case: Case, sent: Sent) -> Sequence[Sight]:
    """Two plain answers first: they give the stops, and show whether a changed text means anything. One request at a time."""
    plain = say(COUNT, max_tokens=whole(case, "max_tokens", _MAX_TOKENS))
    bases = [sent.alone(plain), sent.alone(plain)]
    missing = next((exchange for exchange in bases if exchange.reply is None), None)
    if missing is not None:
        fault = fault_finding(missing)
        return [Sight(condition="without stops", findings=(fault,) if fault else (), culprit=missing)]
    texts = [exchange.reply.text for exchange in bases if exchange.reply]
    stops = stops_in(texts[0])
    if not stops:
        return [Sight(condition="a stop inside the text", unreached=f"the plain answer is too short to cut a stop from: {texts[0][:60]!r}")]
    asks = [
        (name, _with_stops(plain, words, stream=stream)) for name, words in stops.items() for stream in (False, True)
    ]  # fmt: skip
    exchanges = [sent.alone(ask) for _, ask in asks]
    steady = texts[0] == texts[1]
    return [_sight(name, exchange, texts[0], steady=steady) for (name, _), exchange in zip(asks, exchanges, strict=True)]


def stops_in(text: str) -> dict[str, tuple[str, ...]]:
    """Stops by condition, each at its first place in the second third of the text; empty for a text without room."""
    third = len(text) // 3
    if third < 8:
        return {}
    inside = _first_found(text, third, str.isalpha, width=3)
    across = _first_found(text, third, _crosses, width=4)
    found = {"inside a word": inside, "across two words": across}
    stops: dict[str, tuple[str, ...]] = {name: (piece,) for name, piece in found.items() if piece}
    if inside:
        stops["one of three"] = (_NEVER, inside, _NEVER * 2)
    return stops


def _crosses(piece: str) -> bool:
    return " " in piece[1:-1] and piece.strip() == piece


def _first_found(text: str, start: int, fits: Callable[[str], bool], *, width: int) -> str:
    for place in range(start, 2 * start):
        piece = text[place : place + width]
        if fits(piece) and text.find(piece) == place:
            return piece
    return ""


def _with_stops(plain: Ask, stops: tuple[str, ...], *, stream: bool) -> Ask:
    return dataclasses.replace(plain, stream=stream, sampling=dataclasses.replace(plain.sampling, stop=stops))


def _sight(name: str, exchange: Exchange, base: str, *, steady: bool) -> Sight:
    mode = "streamed" if exchange.ask.stream else "unstreamed"
    condition = f"{name}, {mode}"
    if exchange.reply is None:
        return unanswered(condition, exchange)
    reply, stops = exchange.reply, exchange.ask.sampling.stop
    stop = next(word for word in stops if not word.startswith(_NEVER))
    due = base[: base.find(stop)]
    evidence = {"stop": list(stops), "text": reply.text[-200:], "without_stop": base[:300], "finish_reason": reply.finish_reason}
    title = _wrong(reply.text, stop, base, due, reply.finish_reason, steady=steady)
    if title is None:
        if not steady and reply.text != due:
            return Sight(condition=condition, unreached="the plain answer differs from one request to the next")
        return Sight(condition=condition)
    found: Finding = finding("PROTO.stop", title, evidence=evidence)
    return Sight(condition=condition, findings=(found,), culprit=exchange)


def _wrong(text: str, stop: str, base: str, due: str, reason: str | None, *, steady: bool) -> str | None:
    """What is wrong, most telling first; spaces at the ends are nobody's fault."""
    if stop in text:
        return f"the stop string {stop!r} is in the text"
    if not steady:
        return None
    cut, expected = text.strip(), due.strip()
    if cut == expected:
        return None if reason == "stop" else f"the text ends at the stop string, and the finish reason is {reason!r}, not 'stop'"
    if len(cut) > len(expected) and base.replace(stop, "").strip().startswith(cut[: len(expected) + 8]):
        return f"the stop string {stop!r} was taken out of the text, and generation went on for {len(cut) - len(expected)} characters"
    if expected.startswith(cut):
        return f"{len(expected) - len(cut)} characters before the stop string are missing"
    return None


PROBE = Probe(
    name="stops",
    about="stop strings inside a word, across words and among several: nothing of them and nothing after them comes",
    requests=lambda _: 8,
    tokens=lambda case: 8 * whole(case, "max_tokens", _MAX_TOKENS),
    look=look,
    sees=("stop-matrix",),
    alone=True,
)
