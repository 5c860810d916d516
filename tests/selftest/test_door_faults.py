"""Faults before any reply: refusals, lost connections, a dead server."""

from __future__ import annotations

import http.client

import pytest


def test_a_busy_server_is_free_after_the_first_requests(talk):
    broken = talk(faults=["busy:2"])
    for _ in range(2):
        broken.post({"messages": [{"role": "user", "content": "hi"}]}, expect=429)
    assert broken.text("What is 2+3? Only the number.") == "5"
    assert broken.get("/v1/models")


@pytest.mark.parametrize(("fault", "status"), [("unauthorized", 401), ("server-error", 500)])
def test_a_refusal_is_an_error_body(talk, fault, status):
    broken = talk(faults=[fault])
    assert broken.post({"messages": [{"role": "user", "content": "hi"}]}, expect=status)["error"]["code"] == status
    assert broken.get("/health") == {"status": "ok"}


def test_html_comes_with_status_200(talk):
    status, body = talk(faults=["html-body"]).request("POST", "/v1/chat/completions", b"{}")
    assert (status, body[:15]) == (200, b"<!doctype html>")


def test_a_reset_cuts_the_answer(talk):
    with pytest.raises(http.client.IncompleteRead):
        talk(faults=["reset"]).text("hi")


def test_a_hanging_server_lets_go_when_it_is_stopped(talk):
    broken = talk(faults=["hang"])
    broken.connection.request("POST", "/v1/chat/completions", b'{"messages": [{"role": "user", "content": "hi"}]}')
    broken.server.stop()
    with pytest.raises(ConnectionError):
        broken.connection.getresponse()


def test_a_server_that_dies_takes_no_more_connections(talk):
    broken = talk(faults=["die-after-1"])
    assert broken.text("What is 2+3? Only the number.") == "5"
    with pytest.raises((http.client.RemoteDisconnected, ConnectionError)):
        broken.text("What is 2+3? Only the number.")
    broken.server.stop()
    assert broken.server.died
    with pytest.raises(ConnectionRefusedError):
        broken.text("What is 2+3? Only the number.")
