"""What the events of a stream say of speculation: weak evidence, since proxies and servers gather tokens too."""

from __future__ import annotations

from itertools import pairwise

from pytest_mtp.core.exchange import Exchange
from pytest_mtp.judge.statistics import quantile

LEAST_CHUNKS = 9
"""Below this a share of gaps says nothing."""

INSTANT = 0.1
"""A gap below this part of the upper quartile is none: two events of one step. A step without drafts takes as long as another."""

SEVERAL = 1.15
"""Tokens a chunk from which on chunks hold several: an end token that is counted and never sent makes 1 + 1/n of nothing."""

SHARE = 0.1
"""Share of gaps in one instant from which on they are more than hiccups of the network."""


def tokens_per_chunk(exchange: Exchange, twin: Exchange | None = None) -> float | None:
    """Tokens over events that carry text: from the tokens that each event tells of, else from usage; None where neither does.

    `twin` is the same ask unstreamed: where it got the same text its usage counts, since some servers count events as tokens.
    """
    carrying = [chunk for chunk in exchange.timeline.chunks if chunk.characters]
    if not carrying or exchange.reply is None:
        return None
    told = [chunk.token_count for chunk in carrying]
    if None not in told:
        return sum(count or 0 for count in told) / len(carrying)
    tokens = _twin_tokens(exchange, twin) or _tokens(exchange)
    return tokens / len(carrying) if tokens else None


def instant_share(exchange: Exchange) -> float | None:
    """The share of gaps between events that are no gaps at all; None for a short stream."""
    stamps = [chunk.at_ns for chunk in exchange.timeline.chunks if chunk.characters]
    if len(stamps) < LEAST_CHUNKS:
        return None
    gaps = [after - before for before, after in pairwise(stamps)]
    usual = quantile(gaps, 0.75)
    return sum(gap < INSTANT * usual for gap in gaps) / len(gaps)


def stream_signs(exchange: Exchange, twin: Exchange | None = None) -> str:
    """One line for the evidence, empty where the stream shows nothing. `twin` as in `tokens_per_chunk`."""
    held, instant = tokens_per_chunk(exchange, twin), instant_share(exchange)
    if held is None and instant is None:
        return ""
    parts = [] if held is None else [f"{held:.2f} tokens a chunk"]
    parts += [] if instant is None else [f"{100 * instant:.0f} % of the chunks in the same instant as the one before"]
    several = (held or 0) >= SEVERAL or (instant or 0) >= SHARE
    meaning = "as under speculation, or behind something that gathers tokens" if several else "no sign of speculation"
    said, same = _tokens(exchange), _twin_tokens(exchange, twin)
    doubt = f" (its usage says {said} tokens, that of the same text unstreamed {same})" if said and same and said != same else ""
    return f"weak evidence: a stream with {' and '.join(parts)}{doubt}: {meaning}"


def _tokens(exchange: Exchange | None) -> int | None:
    usage = exchange.reply.usage if exchange and exchange.reply else None
    return usage.completion_tokens if usage else None


def _twin_tokens(exchange: Exchange, twin: Exchange | None) -> int | None:
    """What the same text counts unstreamed; None where the texts differ."""
    if twin is None or twin.reply is None or exchange.reply is None:
        return None
    words = [(reply.reasoning or "", reply.text) for reply in (exchange.reply, twin.reply)]
    return _tokens(twin) if words[0] == words[1] else None
