"""Asks are sent ahead in the order of the items, within a window, each once."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.exchange import Exchange
from pytest_mtp.plugin.ahead import Ahead
from pytest_mtp.plugin.pool import AHEAD, NOW, AskPool


class Recorder(AskPool):
    """A pool that answers nothing and remembers what it was given."""

    def __init__(self) -> None:
        super().__init__(1, lambda _: exec("raise AssertionError"))  # type: ignore[arg-type, return-value]  # never called
        self.sent: list[str] = []

    def submit(self, ask: Ask, priority: int = NOW) -> Future[Exchange]:
        assert priority in (NOW, AHEAD)
        self.sent.append(str(ask.messages[0]["content"]))
        return Future()


def asks(name: str, count: int = 1) -> Sequence[Ask]:
    return [Ask(messages=({"role": "user", "content": name},))] * count


def planned(*names: str, concurrency: int = 2, count: int = 1) -> tuple[Ahead, Recorder]:
    pool = Recorder()
    ahead = Ahead(pool, concurrency)
    ahead.plan((name, lambda name=name: asks(name, count)) for name in names)  # type: ignore[misc]  # the default binds the name
    return ahead, pool


def test_a_window_of_twice_the_concurrency_in_order() -> None:
    ahead, pool = planned(*"abcdefgh")
    ahead.take("a")
    assert pool.sent == list("abcde")


def test_each_item_gets_its_own_and_tops_the_window_up() -> None:
    ahead, pool = planned(*"abcdefgh")
    for name in "abcdefgh":
        assert len(ahead.take(name)) == 1
    assert pool.sent == list("abcdefgh")


def test_repeats_of_one_case_are_sent_together() -> None:
    ahead, pool = planned("a", "b", count=3)
    assert len(ahead.take("a")) == 3
    assert pool.sent == list("aaabbb")


def test_an_item_that_was_not_planned_gets_nothing() -> None:
    ahead, pool = planned()
    assert ahead.take("x") == []
    assert pool.sent == []


def test_items_out_of_order_are_sent_once() -> None:
    ahead, pool = planned(*"abcdefgh", concurrency=1)
    for name in "hgfedcba":
        ahead.take(name)
    assert sorted(pool.sent) == sorted(set(pool.sent))


def test_asks_of_ten_thousand_items_are_made_when_they_are_sent() -> None:
    made: list[int] = []
    ahead = Ahead(Recorder(), 4)
    ahead.plan((str(i), lambda i=i: made.append(i) or asks(str(i))) for i in range(10_000))  # type: ignore[misc, func-returns-value]  # records the call
    ahead.take("0")
    assert len(made) == 9
