"""Whether a proxy of the environment stands between us and a server."""

from __future__ import annotations

import ipaddress
import urllib.request
from urllib.parse import urlsplit

from pytest_mtp.client.redaction import bare_url
from pytest_mtp.core.errors import UsageError


def is_loopback(host: str) -> bool:
    """Whether it is this machine itself: a proxy elsewhere could not reach it, and one here would only add its own time."""
    name = host.lower().rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def proxy_for(url: str) -> str | None:
    """`HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` as the standard library reads them; None for loopback."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if not host or is_loopback(host):
        return None
    known = urllib.request.getproxies()
    proxy = known.get(parts.scheme) or known.get("all")
    if not proxy or urllib.request.proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    if urlsplit(proxy).scheme not in ("http", "https"):
        raise UsageError(
            f"the proxy {bare_url(proxy, query=False)} of the environment is not an HTTP proxy; name {host} in NO_PROXY, or use one"
        )
    return proxy
