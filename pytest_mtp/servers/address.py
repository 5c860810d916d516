"""What a user may type as the address of a server."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from pytest_mtp.core.errors import UsageError, nearest

_SCHEMES = ("http", "https")
_ENDPOINTS = ("/chat/completions", "/completions", "/responses", "/models")


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """`root` has no trailing slash and no `/v1`; `api_roots` are the places to look for the API, likeliest first.

    `notes` says what was assumed.
    """

    root: str
    api_roots: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def host(self) -> str:
        """Without brackets and port."""
        return urlsplit(self.root).hostname or ""

    @property
    def port(self) -> int:
        """The written port, else that of the scheme."""
        parts = urlsplit(self.root)
        return parts.port or (443 if parts.scheme == "https" else 80)


def parse_address(text: str) -> Address:
    """Raise UsageError, with one message a mistake. A message never repeats credentials that stand in the URL."""
    typed = text.strip()
    if not typed:
        raise UsageError("the server address is empty; expected for example http://127.0.0.1:8000")
    assumed = "://" not in typed
    parts, port = _split(f"http://{typed}" if assumed else typed)
    _refuse_credentials(parts)
    _refuse_what_is_no_root(typed, parts)
    if assumed and port is None and not _is_loopback(parts.hostname or ""):
        raise UsageError(f"server address {typed!r} has neither scheme nor port; write http://{typed} or https://{typed}")
    path = parts.path.rstrip("/")
    note = (f"no scheme in {typed!r}: http:// assumed",) if assumed else ()
    root = f"{parts.scheme}://{parts.netloc}{path}"
    if path.endswith("/v1"):
        bare = root.removesuffix("/v1")
        return Address(root=bare, api_roots=(root, bare), notes=note)
    return Address(root=root, api_roots=(f"{root}/v1", root), notes=note)


def _split(url: str) -> tuple[SplitResult, int | None]:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise UsageError(f"not a server address: {error}; expected for example http://127.0.0.1:8000") from None
    if port == 0 or parts.netloc.endswith(":"):
        raise UsageError("the port of the server address is missing or 0; expected for example http://127.0.0.1:8000")
    return parts, port


def _refuse_credentials(parts: SplitResult) -> None:
    if parts.username is not None or parts.password is not None:
        raise UsageError(
            f"the server address for host {parts.hostname or ''!r} carries credentials; keys never go on command lines: "
            "put the key into an environment variable and give its name with --mtp-api-key-env"
        )


def _refuse_what_is_no_root(typed: str, parts: SplitResult) -> None:
    if parts.scheme not in _SCHEMES:
        raise UsageError(f"server address {typed!r}: scheme {parts.scheme!r} is not http or https{nearest(parts.scheme, _SCHEMES)}")
    if not parts.hostname:
        raise UsageError(f"server address {typed!r} names no host; expected for example http://127.0.0.1:8000")
    if any(char.isspace() for char in typed):
        raise UsageError(f"server address {typed!r} contains a space")
    if parts.query or parts.fragment:
        extra = "a query (?...)" if parts.query else "a fragment (#...)"
        bare = typed.partition("?")[0].partition("#")[0]  # what stands behind may be a key
        raise UsageError(f"server address {bare!r}: {extra} cannot be part of the address; give the root of the API alone")
    path = parts.path.rstrip("/")
    for endpoint in _ENDPOINTS:
        if path.endswith(endpoint):
            root = f"{parts.scheme}://{parts.netloc}{path.removesuffix(endpoint)}"
            raise UsageError(f"server address {typed!r} is one endpoint of an API; give its root: {root}")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
