"""What a check sees of the run: asks under the lease, everything recorded as evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.exchange import Exchange
from pytest_mtp.core.facts import Control
from pytest_mtp.core.protocols import Lease, Server
from pytest_mtp.core.weights import Weights
from pytest_mtp.plugin.pool import AskPool


class CaseContext:
    """A CheckContext for one case. `planned` are the exchanges that were sent ahead, in the order of the planned asks."""

    def __init__(
        self,
        *,
        server: Server,
        lease: Lease,
        pool: AskPool,
        alone: Callable[[Ask], Exchange],
        once: Callable[[Ask], Exchange],
        control: Callable[[], Control],
        planned: Sequence[Future[Exchange]] = (),
        weights: Weights | None = None,
        progress: Callable[[str], None] = lambda _: None,
        again: Callable[[], bool] = lambda: True,
    ) -> None:
        """`pool` sends under the shared lease, `alone` under none, `once` likewise and without retries."""
        self.server, self.lease, self.control, self.progress, self.weights = server, lease, control, progress, weights
        self.again = again
        self._pool, self._alone, self._once, self._planned = pool, alone, once, list(planned)
        self.exchanges: list[Exchange] = []

    def ask(self, ask: Ask) -> Exchange:
        """Under the shared lease."""
        return self.ask_many([ask])[0]

    def ask_many(self, asks: Sequence[Ask]) -> Sequence[Exchange]:
        """The first call gets what was sent ahead, if it asks for just that."""
        futures, self._planned = self._planned, []
        if len(futures) != len(asks):
            futures = [self._pool.submit(ask) for ask in asks]
        exchanges = [future.result() for future in futures]
        self.exchanges += exchanges
        return exchanges

    def ask_alone(self, ask: Ask) -> Exchange:
        """Sent at once; the caller holds the exclusive lease."""
        exchange = self._alone(ask)
        self.exchanges.append(exchange)
        return exchange

    def burst(self, asks: Sequence[Ask]) -> Sequence[Exchange]:
        """A thread each; the caller holds the exclusive lease."""
        pool = AskPool(len(asks), self._once)
        try:
            exchanges = [future.result() for future in [pool.submit(ask) for ask in asks]]
        finally:
            pool.close()
        self.exchanges += exchanges
        return exchanges
