"""A stream that streams: the first words come long before the last, and not all at once at the end.

Ratios within one request, never times against a clock: a proxy that buffers delivers everything in a last instant, after a silence as
long as the whole answer. The unit is the request; the majority of them decides, since a single one may meet a pause of the machine.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytest_mtp.checks.probes.probe import Probe, Sight, finding, unanswered
from pytest_mtp.checks.probes.saying import COUNT, STORY, say, whole
from pytest_mtp.checks.probes.sent import Sent
from pytest_mtp.core.case import Case
from pytest_mtp.core.exchange import Exchange

_MAX_TOKENS, _REQUESTS = 64, 4
_CONDITION = "streamed"

BURST_SHARE = 0.1
"""Words that all arrive within the last tenth of a request were held back: decoding dozens of tokens takes longer than a short prompt."""

_FEWEST_CHUNKS = 8


def look(case: Case, sent: Sent) -> Sequence[Sight]:
    """One at a time: a queue in front of the first word is not what is looked for."""
    budget = whole(case, "max_tokens", _MAX_TOKENS)
    exchanges = [sent.alone(say(COUNT if turn % 2 else STORY, max_tokens=budget, stream=True)) for turn in range(_REQUESTS)]
    missing = next((exchange for exchange in exchanges if exchange.reply is None), None)
    if missing is not None:
        return [unanswered(_CONDITION, missing)]
    shares = [share for exchange in exchanges if (share := spread_share(exchange)) is not None]
    if len(shares) < _REQUESTS // 2:
        few = f"the answers came in fewer than {_FEWEST_CHUNKS} chunks"
        if all(_chunks(exchange) <= 1 for exchange in exchanges):
            title = f"each of {len(exchanges)} streams came in one chunk: this is no stream"
            return [Sight(condition=_CONDITION, findings=(finding("PROTO.buffered", title),), culprit=exchanges[0])]
        return [Sight(condition=_CONDITION, unreached=few)]
    late = [share for share in shares if share < BURST_SHARE]
    if 2 * len(late) <= len(shares):
        return [Sight(condition=_CONDITION)]
    title = f"in {len(late)} of {len(shares)} streams all words come within the last {max(late):.0%} of the request"
    evidence = {"share_of_the_request_from_first_to_last_word": [round(share, 4) for share in shares]}
    return [Sight(condition=_CONDITION, findings=(finding("PROTO.buffered", title, evidence=evidence),), culprit=exchanges[0])]


def spread_share(exchange: Exchange) -> float | None:
    """From the first to the last word, as a share of the whole request; None below eight chunks with words."""
    line = exchange.timeline
    if _chunks(exchange) < _FEWEST_CHUNKS or not line.total_s or line.decode_s is None:
        return None
    return line.decode_s / line.total_s


def _chunks(exchange: Exchange) -> int:
    return sum(bool(chunk.characters) for chunk in exchange.timeline.chunks)


PROBE = Probe(
    name="stream_timing",
    about="streamed words arrive over the request, not all at its end",
    requests=lambda _: _REQUESTS,
    tokens=lambda case: _REQUESTS * whole(case, "max_tokens", _MAX_TOKENS),
    look=look,
    sees=("stream-timing", "sse-framing"),
    alone=True,
)
