"""What must not be written down."""

from __future__ import annotations

import pytest

from pytest_mtp.client.redaction import bare_url, is_secret_name, masked_headers, scrubbed


@pytest.mark.parametrize(
    "name",
    [
        "Authorization",
        "proxy-authorization",
        "Cookie",
        "Set-Cookie",
        "X-Api-Key",
        "api-key",
        "apikey",
        "x-auth-token",
        "X-Amz-Security-Token",
        "x-goog-signature",
        "x_secret",
    ],
)
def test_secret_headers_are_masked(name: str) -> None:
    assert masked_headers({name: "v"}) == {name.lower(): "***"}


@pytest.mark.parametrize(
    "name", ["content-type", "x-ratelimit-remaining-tokens", "x-request-id", "www-authenticate", "author", "tokenizer"]
)
def test_other_headers_are_kept(name: str) -> None:
    assert masked_headers({name: "v"}) == {name: "v"}


def test_a_repeated_header_is_joined() -> None:
    assert masked_headers([("Via", "a"), ("via", "b"), ("Set-Cookie", "x"), ("set-cookie", "y")]) == {
        "via": "a, b",
        "set-cookie": "***, ***",
    }


def test_the_key_is_taken_out_of_texts_but_a_tiny_one_is_left() -> None:
    assert scrubbed("key sk-12345 is wrong", "sk-12345") == "key *** is wrong"
    assert scrubbed("none of it", "none") == "none of it"
    assert scrubbed("text", None) == "text"


@pytest.mark.parametrize(
    ("url", "bare"),
    [
        ("http://ann:pa@h:80/v1?x=1#f", "http://h:80/v1"),
        ("http://h/v1", "http://h/v1"),
        ("/login?token=1", "/login"),
        ("http://a:b@[::1]:8/x", "http://[::1]:8/x"),
        ("http://[::bad", "(unreadable URL)"),
    ],
)
def test_an_address_without_its_secrets(url: str, bare: str) -> None:
    assert bare_url(url, query=False) == bare


def test_a_query_is_kept_where_it_is_wanted() -> None:
    assert bare_url("http://a:b@h/x?y=1") == "http://h/x?y=1"


@pytest.mark.parametrize(
    "name", ["api_key", "HF_TOKEN", "hftoken", "authtoken", "pwd", "pw", "api-key-2", "AWS_SECRET_ACCESS_KEY_ID", "sig"]
)
def test_names_of_secrets(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", ["max_tokens", "token_delay_ms", "tokenizer", "keyboard", "depth2", "monkey_business", "n_ctx"])
def test_names_of_no_secrets(name: str) -> None:
    assert not is_secret_name(name)
