"""A client that hangs up: the server sees the connection end, and the next request has one of its own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from pytest_mtp.client.http import HttpClient
from pytest_mtp.core.ask import Ask
from pytest_mtp.core.facts import Endpoint
from tests.client.raw_server import Serve, Talk, closed_port, raw_server, response, stream_head

STREAM = Ask(messages=({"role": "user", "content": "hi"},), stream=True)


@contextmanager
def client_of(root: str) -> Iterator[HttpClient]:
    client = HttpClient(Endpoint(root=root, api_root=f"{root}/v1", model="m"))
    try:
        yield client
    finally:
        client.close()


def endless(ended: threading.Event) -> Serve:
    def serve(talk: Talk) -> None:
        try:
            talk.send(stream_head())
            talk.drip(b"data: {}\n\n", every_s=0.001)
        except OSError:
            ended.set()

    return serve


def silent(ended: threading.Event) -> Serve:
    def serve(talk: Talk) -> None:
        talk.hang()
        ended.set()

    return serve


def test_after_two_pieces_the_connection_ends() -> None:
    ended = threading.Event()
    with raw_server(endless(ended)) as server, client_of(server.root) as client:
        assert client.abandon(STREAM, after_reads=2, patience_s=30)
        assert ended.wait(30)


def test_without_an_answer_patience_ends() -> None:
    ended = threading.Event()
    with raw_server(silent(ended)) as server, client_of(server.root) as client:
        assert client.abandon(STREAM, after_reads=1, patience_s=0.2)
        assert ended.wait(30)


def test_an_answer_that_was_whole_before_is_not_cut() -> None:
    with raw_server(lambda talk: talk.send(response("{}"))) as server, client_of(server.root) as client:
        assert not client.abandon(STREAM, after_reads=9, patience_s=30)


def test_a_refusal_and_a_closed_door_are_nothing_to_cut() -> None:
    with raw_server(lambda talk: talk.send(response("{}", status="400 Bad Request"))) as server, client_of(server.root) as client:
        assert not client.abandon(STREAM, after_reads=0, patience_s=30)
    with client_of(f"http://127.0.0.1:{closed_port()}") as client:
        assert not client.abandon(STREAM, after_reads=1, patience_s=5)
