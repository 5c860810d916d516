"""What may be typed as an address, and what is answered to everything else."""

from __future__ import annotations

import pytest

from pytest_mtp.core.errors import UsageError
from pytest_mtp.servers.address import parse_address


@pytest.mark.parametrize(
    ("typed", "root", "first"),
    [
        pytest.param("http://gpu7:8000", "http://gpu7:8000", "http://gpu7:8000/v1", id="root"),
        pytest.param("http://gpu7:8000/", "http://gpu7:8000", "http://gpu7:8000/v1", id="slash"),
        pytest.param("http://gpu7:8000/v1", "http://gpu7:8000", "http://gpu7:8000/v1", id="v1"),
        pytest.param("http://gpu7:8000/v1///", "http://gpu7:8000", "http://gpu7:8000/v1", id="v1-slashes"),
        pytest.param("https://llm.example.com/team/v1", "https://llm.example.com/team", "https://llm.example.com/team/v1", id="prefix"),
        pytest.param("https://llm.example.com/api/v3", "https://llm.example.com/api/v3", "https://llm.example.com/api/v3/v1", id="v3"),
        pytest.param("http://[::1]:8000", "http://[::1]:8000", "http://[::1]:8000/v1", id="ipv6"),
        pytest.param("  http://gpu7:8000\n", "http://gpu7:8000", "http://gpu7:8000/v1", id="blanks"),
        pytest.param("gpu7:8000", "http://gpu7:8000", "http://gpu7:8000/v1", id="host-port"),
        pytest.param("localhost", "http://localhost", "http://localhost/v1", id="localhost"),
        pytest.param("[::1]:8000/v1", "http://[::1]:8000", "http://[::1]:8000/v1", id="bare-ipv6"),
    ],
)
def test_an_address_has_a_root_and_a_likeliest_place_of_the_api(typed: str, root: str, first: str) -> None:
    address = parse_address(typed)
    assert (address.root, address.api_roots[0]) == (root, first)


def test_the_api_is_looked_for_with_and_without_v1() -> None:
    assert parse_address("http://h:1/x").api_roots == ("http://h:1/x/v1", "http://h:1/x")
    assert parse_address("http://h:1/x/v1").api_roots == ("http://h:1/x/v1", "http://h:1/x")


def test_an_assumed_scheme_is_said() -> None:
    assert parse_address("127.0.0.1:8000").notes == ("no scheme in '127.0.0.1:8000': http:// assumed",)
    assert parse_address("http://127.0.0.1:8000").notes == ()


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        pytest.param("", "is empty", id="empty"),
        pytest.param("htp://h:1", "did you mean 'http'", id="scheme"),
        pytest.param("http://", "names no host", id="no-host"),
        pytest.param("http://h:99999", "not a server address", id="port-range"),
        pytest.param("http://h:eighty", "not a server address", id="port-word"),
        pytest.param("http://h:0", "missing or 0", id="port-0"),
        pytest.param("http://h:", "missing or 0", id="port-missing"),
        pytest.param("http://[::1", "not a server address", id="ipv6-open"),
        pytest.param("http://h:1/?model=x", "a query (?...) cannot be part", id="query"),
        pytest.param("http://h:1/#top", "a fragment (#...) cannot be part", id="fragment"),
        pytest.param("http://h:1/a b", "contains a space", id="space"),
        pytest.param("http://h:1/v1/chat/completions", "give its root: http://h:1/v1", id="endpoint"),
        pytest.param("http://h:1/v1/models/", "give its root: http://h:1/v1", id="models"),
        pytest.param("llm.example.com", "write http://llm.example.com or https://llm.example.com", id="bare-name"),
    ],
)
def test_a_wrong_address_gets_one_clear_line(typed: str, says: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_address(typed)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("typed", ["http://me:s3cret@h:1", "me:s3cret@h:1", "https://s3cret@h/v1"], ids=["pair", "no-scheme", "token"])
def test_credentials_are_refused_and_never_repeated(typed: str) -> None:
    with pytest.raises(UsageError, match="--mtp-api-key-env") as refused:
        parse_address(typed)
    assert "s3cret" not in str(refused.value)
