"""No server can make the client raise, hang, or call a broken answer a good one."""

from __future__ import annotations

import json

import pytest

from pytest_mtp.client.http import HttpClient
from pytest_mtp.core.ask import Ask
from pytest_mtp.core.exchange import Exchange
from pytest_mtp.core.facts import Endpoint
from tests.client.hostile import TABLE, TIMEOUTS, Hostile, sends
from tests.client.hostile_wire import MORE
from tests.client.raw_server import GOOD_STREAM, chunked, completion, raw_server, response, stream_head

GOOD_NOTES = frozenset({"PROTO.truncated", "PROTO.done", "PROTO.sse"})


def ask_of(hostile: Hostile) -> Exchange:
    with raw_server(hostile.serve) as server:
        client = HttpClient(
            Endpoint(root=server.root, api_root=f"{server.root}/v1", model="m"), timeout_s=0.3 if hostile in TIMEOUTS else hostile.timeout_s
        )
        try:
            return client.ask(Ask(messages=({"role": "user", "content": "hi"},), stream=hostile.stream))
        finally:
            client.close()


@pytest.mark.parametrize("hostile", [*TABLE, *MORE], ids=lambda hostile: hostile.id)
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


def test_there_are_many_and_each_is_another() -> None:
    ids = [hostile.id for hostile in (*TABLE, *MORE)]
    assert len(ids) == len(set(ids)) >= 150


WIRES = {
    "stream": (stream_head() + GOOD_STREAM, True),
    "chunked stream": (chunked(GOOD_STREAM[:200], GOOD_STREAM[200:]), True),
    "body": (response(json.dumps(completion())), False),
}


@pytest.mark.parametrize("wire", WIRES)
def test_an_answer_that_is_cut_at_any_byte_is_never_a_whole_one(wire: str) -> None:
    """Each prefix of a recorded answer, from nothing to all but its last byte. What misses no more than [DONE] is whole, with a note."""
    data, stream = WIRES[wire]
    for end in range(len(data)):
        exchange = ask_of(Hostile(id=f"cut-{end}", serve=sends(data[:end]), stream=stream))
        if exchange.reply is None:
            assert exchange.fault is not None
            assert exchange.fault.kind in ("reset", "malformed"), (end, exchange.fault)
            continue
        assert stream, end
        assert "Paris".startswith(exchange.reply.content or ""), end
        notes = {note.code for note in exchange.reply.notes}
        assert notes <= GOOD_NOTES, (end, notes)
        if exchange.reply.finish_reason is None:
            assert "PROTO.truncated" in notes, end
        elif end < len(data) - 7:  # of chunked framing, or the newlines of [DONE]
            assert notes, end
