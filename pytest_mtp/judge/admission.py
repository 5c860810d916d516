"""How many requests a front door admits, and how many the engine behind it runs at once: from bursts of growing width.

Absolute times say little on a machine that does other things too. What is looked at is which replies were generated at the same
time, which a delay here and there does not change: the overlap of [first token, last token] of the streams of one burst.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from pytest_mtp.core.facts import Load
from pytest_mtp.judge.statistics import quantile

SHORTEST_S = 0.1
"""Replies that took less between first and last token, in the median, say nothing: delays of delivery are as long."""

SURE, LIKELY = 0.9, 0.5
"""So many streams ran at the same time, if this share of so many streams saw that from their middle: for a lower bound, and for the
width of a full engine, which a second burst must confirm. Chosen by simulation: see the tests."""

WAITED = 1 / 3
"""The share of a burst that must have waited for the end of another stream before the engine counts as full."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """One request of a burst, in seconds of one clock: sent, first and last token, end.

    `status` is that of a refusal (429, 503), or 0 for a connection that was dropped before any answer.
    """

    sent_s: float
    first_s: float | None = None
    last_s: float | None = None
    done_s: float | None = None
    status: int | None = None
    retry_after_s: float | None = None
    by: str = ""  # who answered, as the Server header says


@dataclass(frozen=True, slots=True, kw_only=True)
class Burst:
    """Requests that were sent at once, and what the server's gauges read meanwhile.

    With `door_only` the replies were kept short, since only the door was in question: they say nothing of the engine.
    """

    streams: tuple[Stream, ...]
    loads: tuple[Load, ...] = ()
    door_only: bool = False

    @property
    def width(self) -> int:
        """Requests sent."""
        return len(self.streams)

    @property
    def served(self) -> tuple[Stream, ...]:
        """Those that were let in."""
        return tuple(stream for stream in self.streams if stream.status is None)

    @property
    def refused(self) -> tuple[Stream, ...]:
        """Those that were turned away."""
        return tuple(stream for stream in self.streams if stream.status is not None)

    @property
    def admitted(self) -> int:
        """The most that were inside at one time: one that was let in when another had left does not widen the door."""
        spans = [(stream.sent_s, stream.done_s) for stream in self.served if stream.done_s is not None]
        return _most_inside(spans) if self.refused else len(self.served)

    @property
    def spans(self) -> tuple[tuple[float, float], ...] | None:
        """First and last token of each stream that was let in; None where they do not tell or are too short to mean anything."""
        spans = tuple((s.first_s, s.last_s) for s in self.served if s.first_s is not None and s.last_s is not None)
        if self.door_only or not spans or len(spans) < len(self.served):
            return None
        return spans if quantile([end - start for start, end in spans], 0.5) >= SHORTEST_S else None

    @property
    def together(self) -> int | None:
        """At least so many were generated at the same time."""
        return _seen_from_the_middle(spans, SURE) if (spans := self.spans) else None

    @property
    def full_at(self) -> int | None:
        """How many ran while others had to wait for their turn; None where too few waited, as short replies may look like that."""
        if (spans := self.spans) is None:
            return None
        ends = sorted(end for _, end in spans)
        waited = sum(bisect_left(ends, start) > 0 for start, _ in spans)
        return _seen_from_the_middle(spans, LIKELY) if waited >= max(1.0, WAITED * len(spans)) else None

    @property
    def steady(self) -> int | None:
        """What the gauges read as running while others waited, at two readings or more: the engine is full then."""
        full = Counter(load.running for load in self.loads if load.running and load.waiting)
        return max((running for running, readings in full.items() if running and readings > 1), default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A width: just `least`, or `least` or more. `evidence` is one line a source."""

    least: int
    exact: bool
    evidence: tuple[str, ...] = ()

    def __str__(self) -> str:
        """As a person would say it."""
        return f"{self.least}" if self.exact else f"at least {self.least}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A burst to send."""

    width: int
    door_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """The two numbers, None where nothing tells; `limited` says why a refusal is not one of width."""

    admitted: Bound | None
    runs: Bound | None
    limited: str = ""


def next_burst(bursts: Sequence[Burst], *, most: int, requests: int) -> Step | None:
    """What to send next, None when nothing would be gained or `requests` in all would be exceeded.

    Widths double until requests are turned away. What one burst shows a second one must confirm: the door with the width that was
    let in, the engine with any other. Once the engine is known, short replies do for the door.
    """
    step = _wanted(bursts, most)
    return step if step is not None and sum(burst.width for burst in bursts) + step.width <= requests else None


def conclude(bursts: Sequence[Burst]) -> Admission:
    """The two numbers that these bursts show."""
    admitted, limited = _door(bursts)
    return Admission(admitted=admitted, runs=_engine(bursts), limited=limited)


def answers(refused: Sequence[Stream]) -> str:
    """What those got who were turned away."""
    return " and ".join("a dropped connection" if not status else str(status) for status in sorted({s.status or 0 for s in refused}))


def _wanted(bursts: Sequence[Burst], most: int) -> Step | None:
    if not bursts:
        return Step(width=1)
    last, witnesses = bursts[-1], len(_witnesses(bursts))
    turned_away = sum(bool(burst.refused) for burst in bursts)
    if turned_away:
        return Step(width=last.admitted) if turned_away == 1 and last.refused and last.admitted else None
    if last.width < most:
        return Step(width=min(2 * last.width, most), door_only=witnesses > 1)
    return Step(width=most) if witnesses == 1 and not last.door_only else None


def _witnesses(bursts: Sequence[Burst]) -> list[int]:
    """What each burst and each reading of the gauges says that a full engine runs."""
    full = [seen for burst in bursts if (seen := burst.full_at) is not None]
    return [*full, *(seen for burst in bursts if (seen := burst.steady) is not None)]


def _door(bursts: Sequence[Burst]) -> tuple[Bound | None, str]:
    open_widths = [burst.width for burst in bursts if not burst.refused]
    refusing = [burst for burst in bursts if burst.refused]
    if not refusing:
        widest = max(open_widths, default=0)
        return (Bound(least=widest, exact=False, evidence=(f"all of {widest} sent at once were let in",)) if widest else None), ""
    first = refusing[0]
    said = f"{first.admitted} of {first.width} sent at once were let in, {len(first.refused)} got {answers(first.refused)}"
    if any(stream.status == 0 for burst in refusing for stream in burst.refused):
        words = f"{said}: it takes few new connections at a time (a short listen backlog), whatever it does with those it has"
        least = max(open_widths, default=0)
        return (Bound(least=least, exact=False, evidence=(said,)) if least else None), words
    if len(refusing) > 1 or max(open_widths, default=0) > first.admitted or not first.admitted:
        again = f"{refusing[-1].width} at once" if len(refusing) > 1 else "fewer"
        words = f"{said}, and with {again} it was not the same: a limit over time, or foreign traffic"
        least = max(open_widths, default=0)
        return (Bound(least=least, exact=False, evidence=(said,)) if least else None), words
    confirmed = first.admitted in open_widths
    return Bound(least=first.admitted, exact=confirmed, evidence=(said,)), ""


def _engine(bursts: Sequence[Burst]) -> Bound | None:
    """Exact where two bursts agree on what a full engine runs, or a burst and the gauges, and nothing contradicts them."""
    together = max((seen for burst in bursts if (seen := burst.together) is not None), default=None)
    full = [seen for burst in bursts if (seen := burst.full_at) is not None]
    gauges = [seen for burst in bursts if (seen := burst.steady) is not None]
    evidence = []
    if together is not None:
        evidence.append(f"streams: generated at the same time: {together}")
    if full:
        times = "one burst" if len(full) == 1 else f"{len(full)} bursts"
        evidence.append(f"streams: {' and '.join(map(str, sorted(set(full))))} ran while another waited, in {times}")
    if gauges:
        evidence.append(f"gauges: {' and '.join(map(str, sorted(set(gauges))))} ran while others waited")
    witnesses = _witnesses(bursts)
    agreed = len(witnesses) > 1 and len(set(witnesses)) == 1 and (together is None or together <= witnesses[0])
    if agreed:
        return Bound(least=witnesses[0], exact=True, evidence=tuple(evidence))
    if together is None and not gauges:
        return None
    return Bound(least=max(together or 0, min(witnesses, default=0)) or 1, exact=False, evidence=tuple(evidence))


def _seen_from_the_middle(spans: Sequence[tuple[float, float]], share: float) -> int:
    """The depth of overlap that at least two streams, and this share of the depth, see from the middle of their replies.

    The middle is far from both ends: a token that came late changes nothing there.
    """
    middles = [(start + end) / 2 for start, end in spans]
    seen = sorted((sum(start <= middle <= end for start, end in spans) for middle in middles), reverse=True)
    return max((depth for place, depth in enumerate(seen, start=1) if place > 1 and place >= share * depth), default=1)


def _most_inside(spans: Sequence[tuple[float, float]]) -> int:
    """The greatest number of spans that hold one moment. An end comes before a start at the same time."""
    edges = sorted([(end, -1) for _, end in spans] + [(start, 1) for start, _ in spans])
    return max(accumulate(step for _, step in edges), default=0)
