"""The server in memory, with answers that may be faults."""

from __future__ import annotations

import dataclasses

import pytest

from pytest_mtp.core.exchange import Exchange, Fault, Timeline


@pytest.fixture
def memory(memory):
    class Faulty(memory):
        def ask(self, ask):
            self.asked.append(ask)
            came = self.answer(ask)
            told = {"fault": came} if isinstance(came, Fault) else {"reply": came}
            return Exchange(ask=ask, url="http://memory/v1", model="m", timeline=Timeline(sent_ns=0, done_ns=10**9), **told)

        ask_alone = ask

        def instrumented(self, ask):
            return dataclasses.replace(ask, extra_body={})

    return Faulty
