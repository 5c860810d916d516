"""Weak evidence from a stream: what it looks like, and that it is called weak."""

from __future__ import annotations

import dataclasses

import pytest

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.exchange import ChunkStamp, Exchange, Timeline
from pytest_mtp.core.reply import Reply, Usage
from pytest_mtp.judge.chunks import instant_share, stream_signs, tokens_per_chunk

MS = 10**6


def stream(gaps_ms: list[float], *, tokens: int | None = None, held: int | None = None) -> Exchange:
    stamps, now = [ChunkStamp(at_ns=0, characters=0, kind="role")], 0.0
    for gap in [5.0, *gaps_ms]:
        now += gap
        stamps.append(ChunkStamp(at_ns=int(now * MS), characters=4, token_count=held))
    reply = Reply(content="x", usage=None if tokens is None else Usage(completion_tokens=tokens))
    return Exchange(ask=Ask(messages=()), url="u", model="m", reply=reply, timeline=Timeline(sent_ns=0, chunks=tuple(stamps)))


@pytest.mark.parametrize(
    ("exchange", "words"),
    [
        (stream([20.0] * 19, tokens=21), "1.05 tokens a chunk and 0 % of the chunks in the same instant as the one before: no sign"),
        (stream([20.0] * 19, tokens=40), "2.00 tokens a chunk and 0 %"),
        (stream([20.0] * 19, held=3), "3.00 tokens a chunk"),
        (stream([30.0, 0.1, 0.1, 30.0, 0.1, 0.1] * 3, tokens=19), "1.00 tokens a chunk and 67 % of the chunks in the same instant"),
        (stream([20.0] * 3, tokens=8), "weak evidence: a stream with 2.00 tokens a chunk: as under"),
    ],
    ids=["one by one", "usage", "token ids", "in one instant", "short"],
)
def test_signs(exchange: Exchange, words: str) -> None:
    signs = stream_signs(exchange)
    assert signs.startswith("weak evidence: ")
    assert words in signs


def test_a_stream_that_counts_its_events_as_tokens_is_held_against_the_same_text_unstreamed() -> None:
    """transformers serve 5.24.0 under MTP: 16 tokens in 9 events, and usage that says 9."""
    streamed, twin = stream([20.0] * 8, tokens=9), stream([], tokens=16)
    signs = stream_signs(streamed, twin)
    assert "a stream with 1.78 tokens a chunk" in signs
    assert "(its usage says 9 tokens, that of the same text unstreamed 16): as under speculation" in signs
    assert tokens_per_chunk(streamed) == 1


def test_another_text_counts_for_nothing() -> None:
    other = dataclasses.replace(stream([], tokens=16), reply=Reply(content="y", usage=Usage(completion_tokens=16)))
    assert tokens_per_chunk(stream([20.0] * 8, tokens=9), other) == 1
    assert "its usage says" not in stream_signs(stream([20.0] * 8, tokens=9), stream([], tokens=9))


def test_a_jittery_network_is_no_speculation() -> None:
    assert "no sign" in stream_signs(stream([20.0, 14.0, 30.0, 9.0, 25.0] * 4, tokens=21))


@pytest.mark.parametrize("exchange", [stream([], tokens=None), stream([20.0] * 3)], ids=["one chunk", "short and without usage"])
def test_a_stream_that_shows_nothing_says_nothing(exchange: Exchange) -> None:
    assert stream_signs(exchange) == ""


def test_nothing_is_divided_by_nothing() -> None:
    empty = Exchange(ask=Ask(messages=()), url="u", model="m", reply=Reply(content=""), timeline=Timeline(sent_ns=0))
    assert tokens_per_chunk(empty) is None
    assert instant_share(empty) is None
