"""Whose tokens moved the counters: exact on simulated lawful servers, and each trap of real ones."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from pytest_mtp.core.ask import Ask, Sampling
from pytest_mtp.core.exchange import Attempt, Exchange, Fault, Timeline
from pytest_mtp.core.facts import Acceptance, Counters
from pytest_mtp.core.reply import Reply, Usage
from pytest_mtp.judge.acceptance import beyond_depth, broken_identities, passes_broken
from pytest_mtp.judge.ledger import Ledger, ledger_of, overlapped
from tests.checks.simulated import Simulated

ASK = Ask(messages=({"role": "user", "content": "Why?"},), sampling=Sampling(max_tokens=30))
EVERYTHING = frozenset({"drafts", "tokens", "steps", "replies"})


def counts(drafted: int, accepted: int, **more: object) -> Acceptance:
    return Acceptance.from_dict({"drafted": drafted, "accepted": accepted, "source": "/metrics", **more})


def asked(server: Simulated, requests: int, *, limit: int = 30) -> Ledger:
    before = server.counters(server)
    exchanges = [server.ask(dataclasses.replace(ASK, sampling=Sampling(max_tokens=limit))) for _ in range(requests)]
    after = server.counters(server)
    moved = after.since(before) if after and before else None
    replies = [server.acceptance_of(exchange.reply) for exchange in exchanges if exchange.reply]
    return ledger_of(exchanges, replies, moved, depth=server.depth)


SERVERS = {
    "dice": st.integers(0, 2**32),
    "depth": st.integers(0, 6),
    "rate": st.floats(0, 1),
    "undrafted": st.sampled_from([0.0, 0.3, 1.0]),
    "others": st.integers(0, 3),
    "requests": st.integers(1, 6),
    "limit": st.integers(1, 60),
}


@seed(11)
@settings(max_examples=600, deadline=None)
@given(**SERVERS)
def test_a_lawful_server_breaks_no_identity_and_foreign_tokens_are_found_exactly(
    dice: int, depth: int, rate: float, undrafted: float, others: int, requests: int, limit: int
) -> None:
    server = Simulated(seed=dice, depth=depth, rate=rate, undrafted=undrafted, others=others, tells=EVERYTHING)
    book = asked(server, requests, limit=limit)
    assert book.foreign_tokens == book.surplus_tokens == server.foreign.tokens
    assert book.contaminated is (server.foreign.tokens > 0)
    assert (book.restarted, book.partial, book.conflict, book.emission_broken) == (False, False, "", "")
    assert book.counts is not None
    assert (book.counts.drafted, book.counts.accepted) == (server.own.drafted, server.own.accepted)
    for part in (book.counts, server.whole.acceptance("all"), server.own.acceptance("own")):
        assert broken_identities(part) == []
        assert beyond_depth(part, depth) == ""
    own = server.own
    assert passes_broken(own.tokens, accepted=own.accepted, passes=own.passes, requests=requests, depth=depth) == ""


@seed(12)
@settings(max_examples=300, deadline=None)
@given(**SERVERS)
def test_without_a_count_of_tokens_foreign_drafts_are_found_exactly(
    dice: int, depth: int, rate: float, undrafted: float, others: int, requests: int, limit: int
) -> None:
    tells = frozenset({"drafts", "replies"})
    server = Simulated(seed=dice, depth=depth, rate=rate, undrafted=undrafted, others=others, tells=tells)
    book = asked(server, requests, limit=limit)
    assert book.foreign_drafts == server.foreign.drafted
    assert book.counts is not None
    assert (book.counts.drafted, book.counts.accepted) == (server.own.drafted, server.own.accepted)


@seed(13)
@settings(max_examples=300, deadline=None)
@given(**SERVERS)
def test_counters_alone_accuse_nobody_who_is_alone(
    dice: int, depth: int, rate: float, undrafted: float, others: int, requests: int, limit: int
) -> None:
    """Neither tokens nor replies: foreign traffic may stay unseen, but a server that is ours alone never looks shared."""
    server = Simulated(seed=dice, depth=depth, rate=rate, undrafted=undrafted, others=others, tells=frozenset({"drafts"}))
    book = asked(server, requests, limit=limit)
    assert book.impossible_tokens <= server.foreign.tokens
    if not others:
        assert not book.contaminated


def test_drafts_of_more_tokens_than_ours_are_those_of_others() -> None:
    book = Ledger(requests=1, emitted=20, moved=Counters(acceptance=counts(90, 60, rounds=30)), depth=3)
    assert (book.impossible_tokens, book.contaminated, book.counts) == (67, True, None)


def test_counters_that_stood_still_tell_of_everybody() -> None:
    moved = Counters(acceptance=counts(0, 0, rounds=0), generated_tokens=500)
    book = Ledger(requests=2, emitted=40, moved=moved)
    assert book.foreign_tokens == 460
    assert book.counts == moved.acceptance


def test_replies_are_believed_where_others_moved_the_counters() -> None:
    own = counts(20, 9)
    book = Ledger(requests=1, emitted=40, replies=(own,), moved=Counters(acceptance=counts(90, 60), generated_tokens=99))
    assert book.counters is None
    assert book.counts == own


@pytest.mark.parametrize(
    "moved",
    [Counters(acceptance=counts(-3, 0), generated_tokens=5), Counters(generated_tokens=-1), Counters(verify_steps=-4)],
    ids=["drafts", "tokens", "steps"],
)
def test_a_restart_makes_the_delta_worthless(moved: Counters) -> None:
    book = Ledger(requests=1, emitted=5, moved=moved)
    assert book.restarted
    assert (book.counts, book.passes, book.surplus_tokens, book.contaminated) == (None, None, None, False)


def test_counters_of_one_replica_prove_what_they_saw_and_nothing_else() -> None:
    saw = Ledger(requests=4, emitted=100, moved=Counters(acceptance=counts(30, 20), generated_tokens=50))
    assert saw.partial
    assert saw.counts == counts(30, 20)
    slept = Ledger(requests=4, emitted=100, moved=Counters(acceptance=counts(0, 0), generated_tokens=0, verify_steps=0))
    assert (slept.counts, slept.passes) == (None, None)
    first_tokens_not_counted = Ledger(requests=4, emitted=100, moved=Counters(acceptance=counts(0, 0), generated_tokens=96))
    assert not first_tokens_not_counted.partial


def test_batch_wide_counts_are_summed_only_when_requests_ran_one_at_a_time() -> None:
    part = counts(20, 9, rounds=10, batch_wide=True)
    alone = Ledger(requests=2, emitted=40, replies=(part, part), depth=2)
    assert alone.own is not None
    assert (alone.own.drafted, alone.own.accepted) == (40, 18)
    assert dataclasses.replace(alone, overlapped=True).own is None


def test_batch_wide_counts_are_left_out_where_others_were_at_work() -> None:
    part = counts(20, 9, rounds=10, batch_wide=True)
    assert Ledger(requests=1, emitted=40, replies=(part,), moved=Counters(generated_tokens=60), depth=2).own is None
    assert Ledger(requests=1, emitted=40, replies=(part,), moved=Counters(generated_tokens=40), depth=2).own == part


def test_a_batch_that_emitted_more_than_our_reply_was_shared() -> None:
    """As seen on a real server: rounds 126 and 250 drafts for a reply of 64 tokens, three others beside it."""
    part = counts(250, 2, rounds=126, batch_wide=True)
    assert Ledger(requests=1, emitted=64, replies=(part,), depth=2).own is None
    assert Ledger(requests=1, emitted=128, replies=(part,), depth=2).own == part


@seed(14)
@settings(max_examples=200, deadline=None)
@given(dice=st.integers(0, 2**32), others=st.integers(0, 3), requests=st.integers(1, 6))
def test_batch_wide_counts_of_a_lawful_server_are_kept_when_it_is_ours_alone(dice: int, others: int, requests: int) -> None:
    server = Simulated(seed=dice, others=others, tells=frozenset({"replies"}))
    server.batch_wide = True
    book = asked(server, requests)
    if not others:
        assert book.own is not None
        assert book.own.accepted == server.own.accepted
    assert book.own is None or book.own.accepted >= server.own.accepted


def test_two_sources_that_differ_are_named_where_all_tokens_are_ours() -> None:
    book = Ledger(requests=1, emitted=40, replies=(counts(0, 0),), moved=Counters(acceptance=counts(60, 12), generated_tokens=40))
    assert not book.contaminated
    assert book.conflict == "/metrics moved by 60 drafts with 12 accepted, /metrics tell of 0 and 0"
    assert book.counts == counts(60, 12)


def test_replies_that_partly_tell_start_no_quarrel() -> None:
    book = Ledger(requests=2, emitted=40, replies=(counts(6, 2), None), moved=Counters(acceptance=counts(60, 12), generated_tokens=40))
    assert (book.silent, book.conflict, book.foreign_drafts) == (1, "", 0)


def test_steps_and_tokens_alone_give_a_length() -> None:
    book = Ledger(requests=2, emitted=62, moved=Counters(generated_tokens=62, verify_steps=30))
    assert (book.passes, book.step_length) == (30, 2.0)
    shared = Ledger(requests=2, emitted=62, moved=Counters(generated_tokens=80, verify_steps=40))
    assert (shared.passes, shared.step_length) == (None, None)


@pytest.mark.parametrize(
    ("book", "words"),
    [
        (Ledger(requests=1, emitted=20, replies=(counts(60, 40, rounds=20),), depth=3), "make at least 57 tokens, not 20"),
        (
            Ledger(requests=1, emitted=20, moved=Counters(acceptance=counts(9, 4, rounds=3), generated_tokens=20, verify_steps=5), depth=3),
            "20 tokens from 5 passes with 4 accepted drafts and 1 prefills",
        ),
        (
            Ledger(
                requests=9, emitted=90, moved=Counters(acceptance=counts(9, 4, rounds=3), generated_tokens=20, verify_steps=15), depth=3
            ),
            "",
        ),
        (Ledger(requests=1, emitted=20, replies=(counts(60, 40, rounds=20),)), ""),
    ],
    ids=["accepted but not emitted", "emitted by nobody", "one replica of several", "no depth"],
)
def test_tokens_and_drafts_of_one_source_must_fit(book: Ledger, words: str) -> None:
    assert words in book.emission_broken
    assert bool(words) is bool(book.emission_broken)


def exchange(tokens: int | None, *, start: int = 0, end: int = 1, attempts: int = 1) -> Exchange:
    reply = Reply(content="x", usage=Usage(completion_tokens=tokens))
    tries = tuple(Attempt(duration_s=1.0) for _ in range(attempts))
    return Exchange(ask=ASK, url="u", model="m", reply=reply, timeline=Timeline(sent_ns=start, done_ns=end), attempts=tries)


def test_tokens_are_known_only_where_every_reply_tells_and_was_asked_for_once() -> None:
    moved = Counters(generated_tokens=50)
    assert ledger_of([exchange(20), exchange(30)], [None, None], moved, depth=None).surplus_tokens == 0
    assert ledger_of([exchange(20), exchange(None)], [None, None], moved, depth=None).surplus_tokens is None
    repeated = ledger_of([exchange(20, attempts=2)], [counts(9, 4)], dataclasses.replace(moved, acceptance=counts(30, 9)), depth=3)
    assert (repeated.surplus_tokens, repeated.contaminated, repeated.conflict) == (None, False, "")
    fault = Fault(kind="timeout", code="INFRA.timeout", message="late")
    failed = Exchange(ask=ASK, url="u", model="m", fault=fault, timeline=Timeline(sent_ns=0))
    assert ledger_of([exchange(20), failed], [None], moved, depth=None).surplus_tokens is None


def test_overlap_is_seen_in_the_stamps() -> None:
    one, two, late = exchange(1, start=0, end=5), exchange(1, start=5, end=9), exchange(1, start=8, end=12)
    assert not overlapped([two, one])
    assert overlapped([one, two, late])
