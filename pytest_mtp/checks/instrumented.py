"""Asks that make a server tell token ids and drafts, and the plain ones where it refuses to."""

from __future__ import annotations

from collections.abc import Callable

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.exchange import Exchange
from pytest_mtp.core.protocols import Engine

_SAYS_NO = ("refused", "server_error", "malformed")


class Instrumented:
    """Sends each ask with the engine's own fields. The first refusal is tried once more without them.

    If the plain ask is answered, the fields were to blame: they are left out from then on, and `evidence` says so. If it is
    not, they were not, and nothing is asked twice again.
    """

    def __init__(self, engine: Engine, ask: Callable[[Ask], Exchange]) -> None:
        """`ask` sends one request, for example `CheckContext.ask_alone`."""
        self._engine, self._ask = engine, ask
        self._fields, self._tried = True, False
        self.evidence: tuple[str, ...] = ()

    def ask(self, ask: Ask) -> Exchange:
        """The exchange that counts: with the fields, or without them where they were refused."""
        told = self._engine.instrumented(ask) if self._fields else ask
        exchange = self._ask(told)
        if exchange.fault is None or exchange.fault.kind not in _SAYS_NO or told == ask or self._tried:
            return exchange
        self._tried = True
        plain = self._ask(ask)
        if plain.fault is not None:
            return exchange
        self._fields = False
        names = ", ".join(sorted(set(told.extra_body) - set(ask.extra_body))) or "of the engine"
        self.evidence = (f"asked without the fields {names}, which the server refuses: {exchange.fault.message}",)
        return plain
