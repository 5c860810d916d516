"""The identities of acceptance on a real server, and foreign tokens found to the last one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from pytest_mtp.checks.speculation import Meter, evidence_of_speculation, ledger
from pytest_mtp.core.ask import Ask, Sampling
from pytest_mtp.core.exchange import Exchange
from pytest_mtp.judge.acceptance import beyond_depth, broken_identities
from pytest_mtp.servers.launch import launch
from pytest_mtp.servers.launched import LaunchedServer

pytestmark = pytest.mark.engine

QUESTIONS = ("What is the capital of France? Answer with one word.", "Write a loop in C.", "Why is the sky blue?", "Say yes.")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LaunchedServer]:
    server = launch("demo", run_dir=tmp_path_factory.mktemp("demo"), timeout_s=180)
    yield server
    server.stop()


def asked(server: LaunchedServer, budgets: Sequence[int], *, temperature: float = 0.0) -> list[Exchange]:
    """Every question under every budget: some replies end by themselves, some in the middle of a round."""
    return [
        server.client.ask(
            Ask(messages=({"role": "user", "content": question},), sampling=Sampling(temperature=temperature, max_tokens=budget))
        )
        for question in QUESTIONS
        for budget in budgets
    ]


@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_every_identity_holds_and_every_token_is_ours(demo: LaunchedServer, temperature: float) -> None:
    meter = Meter(demo)
    exchanges = asked(demo, (1, 2, 3, 4, 5, 7, 24), temperature=temperature)
    book = ledger(demo, exchanges, meter.moved(exchanges))
    assert (book.surplus_tokens, book.contaminated, book.conflict, book.emission_broken) == (0, False, "", "")
    assert {exchange.reply.finish_reason for exchange in exchanges if exchange.reply} == {"stop", "length"}
    assert book.counters is not None
    assert book.own is not None
    assert broken_identities(book.counters) == broken_identities(book.own) == []
    assert beyond_depth(book.counters, demo.facts.speculation.depth) == ""
    assert evidence_of_speculation(demo.facts.speculation, book).state == "active"


def test_foreign_tokens_are_found_to_the_last_one(demo: LaunchedServer) -> None:
    meter = Meter(demo)
    with ThreadPoolExecutor(1) as other:
        theirs = other.submit(asked, demo, (5, 12))
        exchanges = asked(demo, (9, 16))
        foreign = theirs.result()
    book = ledger(demo, exchanges, meter.moved([*exchanges, *foreign]))
    tokens = [exchange.reply.usage.completion_tokens or 0 for exchange in foreign if exchange.reply and exchange.reply.usage]
    assert len(tokens) == len(foreign)
    assert book.foreign_tokens == sum(tokens)
    assert book.counters is None
    found = evidence_of_speculation(demo.facts.speculation, book)
    assert found.state == "active", "replies tell of their own drafts"
    assert any(f"{sum(tokens)} of the tokens generated meanwhile are not ours" in line for line in found.evidence)
