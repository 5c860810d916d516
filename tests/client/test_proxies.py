"""Proxies of the environment."""

from __future__ import annotations

import pytest

from pytest_mtp.client.proxies import is_loopback, proxy_for
from pytest_mtp.core.errors import UsageError

VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST.", "a.localhost", "127.0.0.1", "127.9.9.9", "::1", "0.0.0.0", "::"])
def test_loopback(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["localhost.example", "10.0.0.1", "gpu7", "128.0.0.1", "fe80::1"])
def test_not_loopback(host: str) -> None:
    assert not is_loopback(host)


@pytest.mark.parametrize("url", ["http://127.0.0.1:8000/v1", "https://localhost/v1", "http://[::1]:80/v1"])
def test_this_machine_is_never_asked_through_a_proxy(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES[:3]:
        monkeypatch.setenv(name, "http://proxy:3128")
    assert proxy_for(url) is None


def test_a_socks_proxy_is_refused_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("all_proxy", "socks5://ann:pa55@proxy:1080")
    with pytest.raises(UsageError, match=r"socks5://proxy:1080 .* name gpu7 in NO_PROXY"):
        proxy_for("http://gpu7/v1")


@pytest.mark.parametrize(
    ("variables", "url", "proxy"),
    [
        pytest.param({}, "http://gpu7/v1", None, id="none"),
        pytest.param({"http_proxy": "http://proxy:1"}, "http://gpu7/v1", "http://proxy:1", id="http"),
        pytest.param({"http_proxy": "http://proxy:1"}, "https://gpu7/v1", None, id="http-is-not-https"),
        pytest.param({"https_proxy": "http://proxy:2"}, "https://gpu7/v1", "http://proxy:2", id="https"),
        pytest.param({"all_proxy": "http://proxy:3"}, "https://gpu7/v1", "http://proxy:3", id="all"),
        pytest.param({"http_proxy": "proxy:1"}, "http://gpu7/v1", "http://proxy:1", id="without-scheme"),
        pytest.param({"http_proxy": "http://proxy:1", "no_proxy": "gpu7"}, "http://gpu7:8000/v1", None, id="no-proxy"),
        pytest.param({"http_proxy": "http://proxy:1", "no_proxy": "*"}, "http://gpu7/v1", None, id="no-proxy-at-all"),
        pytest.param({"http_proxy": "http://proxy:1", "no_proxy": "gpu8"}, "http://gpu7/v1", "http://proxy:1", id="another-host"),
    ],
)
def test_the_environment_decides_for_other_hosts(
    variables: dict[str, str], url: str, proxy: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert proxy_for(url) == proxy
