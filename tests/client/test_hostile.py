"""No server can make the client raise, hang, or call a broken answer a good one."""

from __future__ import annotations

import json

import pytest

from pytest_mtp.client.http import HttpClient
from pytest_mtp.core.ask import Ask
from pytest_mtp.core.exchange import Exchange
from pytest_mtp.core.facts import Endpoint
from tests.client.hostile import TABLE, TIMEOUTS, Hostile
from tests.client.raw_server import raw_server


def ask_of(hostile: Hostile) -> Exchange:
    with raw_server(hostile.serve) as server:
        client = HttpClient(
            Endpoint(root=server.root, api_root=f"{server.root}/v1", model="m"), timeout_s=0.3 if hostile in TIMEOUTS else hostile.timeout_s
        )
        try:
            return client.ask(Ask(messages=({"role": "user", "content": "hi"},), stream=hostile.stream))
        finally:
            client.close()


@pytest.mark.parametrize("hostile", TABLE, ids=lambda hostile: hostile.id)
def test_a_hostile_server_gets_its_name(hostile: Hostile) -> None:
    exchange = ask_of(hostile)
    if hostile.fault is None:
        assert exchange.reply is not None, exchange.fault
        assert exchange.reply.content == hostile.content
        assert tuple(dict.fromkeys(note.code for note in exchange.reply.notes)) == hostile.notes
    else:
        assert exchange.fault is not None
        assert (exchange.fault.kind, exchange.fault.code) == hostile.fault, exchange.fault.message
        assert hostile.says in exchange.fault.message
        assert "s3cret" not in exchange.fault.message
    assert len(exchange.attempts) == 1
    assert Exchange.from_dict(json.loads(json.dumps(exchange.to_dict()))) == exchange
