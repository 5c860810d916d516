"""An httpx transport whose sockets keep the deadline of the whole request.

httpx has no such limit of its own; httpcore lets one hand in the network backend, which is the place to add it.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import httpcore
import httpx

from pytest_mtp.client.flight import current

KEEPALIVE_S = 4.0  # below the 5 s after which uvicorn closes an idle connection under our feet


class _Stream(httpcore.NetworkStream):
    """A socket that gives up at the deadline of the flight that uses it."""

    def __init__(self, inner: httpcore.NetworkStream) -> None:
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data = self._inner.read(max_bytes, _limited(timeout, httpcore.ReadTimeout))
        flight = current()
        if flight is not None and not flight.first_bytes:
            flight.first_bytes = data[:64]
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        flight = current()
        if flight is not None and flight.first_write_ns is None:
            flight.first_write_ns = flight.clock()
        self._inner.write(buffer, _limited(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None) -> _Stream:
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, _limited(timeout, httpcore.ConnectTimeout)))

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


def _limited(timeout: float | None, error: type[Exception]) -> float | None:
    flight = current()
    if flight is None:
        return timeout
    left = flight.left_s()
    if not left:
        raise error("the time limit of the whole request is over")
    return left if timeout is None else min(timeout, left)


class _Backend(httpcore.NetworkBackend):
    def __init__(self) -> None:
        self._inner = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> _Stream:
        limit = _limited(timeout, httpcore.ConnectTimeout)
        try:
            stream = _Stream(self._inner.connect_tcp(host, port, limit, local_address, socket_options))
        except (UnicodeError, OverflowError) as error:  # a label of the host name is too long; a port that is none
            raise httpcore.ConnectError(f"no such address: {error}") from error
        flight = current()
        if flight is not None:
            flight.connected = True
        return stream

    def sleep(self, seconds: float) -> None:
        self._inner.sleep(seconds)


@contextmanager
def _as_httpx() -> Iterator[None]:
    """Exceptions of httpcore under httpx's names, which are the same words."""
    try:
        yield
    except (
        httpcore.TimeoutException,
        httpcore.NetworkError,
        httpcore.ProtocolError,
        httpcore.ProxyError,
        httpcore.UnsupportedProtocol,
    ) as error:
        raise getattr(httpx, type(error).__name__, httpx.TransportError)(str(error)) from error


class _Body(httpx.SyncByteStream):
    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __iter__(self) -> Iterator[bytes]:
        with _as_httpx():
            yield from self._inner

    def close(self) -> None:
        if hasattr(self._inner, "close"):
            self._inner.close()


class DeadlineTransport(httpx.BaseTransport):
    """A pool without a bound on connections: how many requests fly is the caller's business."""

    def __init__(self, *, tls: bool, proxy: str | None = None) -> None:
        """`tls` loads the certificates (SSL_CERT_FILE and SSL_CERT_DIR count); `proxy` is an http(s) URL."""
        context = httpx.create_ssl_context() if tls else None
        if proxy is None:
            self._pool = httpcore.ConnectionPool(
                ssl_context=context, max_connections=None, keepalive_expiry=KEEPALIVE_S, network_backend=_Backend()
            )
        else:
            url = httpx.URL(proxy)
            self._pool = httpcore.HTTPProxy(
                proxy_url=str(url.copy_with(username=None, password=None)),
                proxy_auth=(url.username, url.password) if url.username else None,
                ssl_context=context,
                max_connections=None,
                keepalive_expiry=KEEPALIVE_S,
                network_backend=_Backend(),
            )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Raise httpx's exceptions alone."""
        url = httpcore.URL(scheme=request.url.raw_scheme, host=request.url.raw_host, port=request.url.port, target=request.url.raw_path)
        wire = httpcore.Request(request.method, url, headers=request.headers.raw, content=request.stream, extensions=request.extensions)
        with _as_httpx():
            response = self._pool.handle_request(wire)
        return httpx.Response(response.status, headers=response.headers, stream=_Body(response.stream), extensions=response.extensions)

    def close(self) -> None:
        """Close every connection."""
        self._pool.close()
