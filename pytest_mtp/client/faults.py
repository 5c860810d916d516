"""Why there is no reply: exceptions, statuses and broken protocol to one Fault each."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator, Mapping

import httpx

from pytest_mtp.client.assemble import ProtocolError
from pytest_mtp.client.complaint import Complaint, complaint_in, complaint_of
from pytest_mtp.client.flight import Flight
from pytest_mtp.client.redaction import bare_url
from pytest_mtp.core.exchange import Fault, FaultKind

BODY_SHOWN = 4000
_ENDED = ("without sending", "peer closed", "incomplete")  # what httpcore and h11 say when the other side went away
_PLAIN_PORT = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "UNKNOWN_PROTOCOL", "HTTP_REQUEST")


def excerpt(body: str) -> str:
    """The beginning and the end of what came."""
    half = BODY_SHOWN // 2
    return body if len(body) <= BODY_SHOWN else f"{body[:half]}\n… {len(body) - 2 * half} characters left out …\n{body[-half:]}"


def fault_of_status(status: int, *, headers: Mapping[str, str], body: str, url: str) -> Fault:
    """For every status but 2xx."""
    said = complaint_of(body)
    kind, code, lead = _class_of(status, said)
    tail = f": {said.message}" if said.message else ", no message"
    if 300 <= status < 400:
        location = headers.get("location", "")
        tail = f" to {bare_url(location, query=False) if location else 'nowhere (no Location)'}; a POST is not sent on in silence"
    if code == "INFRA.path":
        tail += f" (POST {bare_url(url, query=False)})"
    if code == "INFRA.busy" and "retry-after" in headers:
        tail += f" (Retry-After: {headers['retry-after'][:40]})"
    return Fault(kind=kind, code=code, message=f"{lead}{tail}", status=status, body=excerpt(body), headers=headers)


def _class_of(status: int, said: Complaint) -> tuple[FaultKind, str, str]:
    if status in (401, 403):
        return "auth", "INFRA.auth", f"{status}, the credentials were refused"
    if status == 407:
        return "auth", "INFRA.auth", "407, the proxy asks for credentials"
    if 300 <= status < 400:
        return "not_found", "INFRA.path", f"{status}, redirected"
    if status in (429, 503):
        return "busy", "INFRA.busy", f"{status}, busy"
    if status in (404, 400, 422) and (said.about_model or (status == 404 and said.param == "model")):
        return "not_found", "INFRA.model", f"{status}, no such model"
    if status in (405, 501) or (status == 404 and said.about_path):
        return "not_found", "INFRA.path", f"{status}, no chat completions at this address"
    if status == 408:
        return "timeout", "INFRA.timeout", "408, the server waited too long for the request"
    if status >= 500:
        return "server_error", "INFRA.5xx", f"{status}, the server failed"
    if "plain HTTP request" in said.message or "HTTP request to an HTTPS server" in said.message:
        return "tls", "INFRA.tls", f"{status}, this port speaks TLS; use https://"
    return "refused", "PROTO.refused", f"{status}, declined"


def fault_of_protocol(error: ProtocolError, *, status: int, headers: Mapping[str, str], body: str) -> Fault:
    """For a 2xx that is no completion.

    An error object inside a stream is the server's failure and not the wire's: the status line was sent before anybody knew.
    """
    kind: FaultKind = "malformed"
    code, message = error.code, error.message
    if error.error is not None:
        said = complaint_of(error.error) if isinstance(error.error, str) else complaint_in(error.error)
        message = f"{error.message}: {said.message or 'no message'}"
        if error.code == "PROTO.sse":
            kind, code, _ = _class_of(said.number or 500, said)
            message = f"{message} ({said.number})" if said.number else message
    return Fault(kind=kind, code=code, message=message, status=status, body=excerpt(body), headers=headers)


def fault_of_exception(
    error: httpx.HTTPError | httpx.InvalidURL, *, url: str, waited: str, limit_s: float, flight: Flight | None = None
) -> Fault:
    """For a connection that failed; `waited` says how far the answer had come."""
    first = flight.first_bytes if flight else b""
    causes = list(_causes(error))
    where = bare_url(url, query=False)
    tls = next((cause for cause in causes if isinstance(cause, ssl.SSLError)), None)
    if tls is not None:
        return _fault_of_tls(error, tls, where=where, waited=waited)
    match error:
        case httpx.ConnectTimeout() | httpx.PoolTimeout() | httpx.ConnectError() | httpx.ProxyError():
            return _fault_of_connecting(error, causes, where=where, connected=flight is not None and flight.connected)
        case httpx.TimeoutException():
            return _fault("timeout", "INFRA.timeout", f"not done within {limit_s:g} s, {waited}")
        case httpx.InvalidURL() if first:
            return _fault_of_http("location header", where=where)  # our own address was asked already
        case httpx.UnsupportedProtocol() | httpx.InvalidURL() | httpx.LocalProtocolError():
            return _fault("connect", "INFRA.connect", f"not an address that can be asked: {where} ({error})")
        case httpx.DecodingError():
            return _fault("malformed", "PROTO.json", f"the body does not decode as its Content-Encoding says: {error}")
        case httpx.RemoteProtocolError() if first[:5] != b"HTTP/"[: len(first)]:
            return _fault_of_bytes(first, where=where)
        case httpx.RemoteProtocolError() if not any(sign in str(error) for sign in _ENDED):
            return _fault_of_http(str(error), where=where)
        case _:
            return _fault("reset", "INFRA.reset", f"the connection ended {waited}: {_last(causes)}")


def _fault_of_connecting(error: Exception, causes: list[BaseException], *, where: str, connected: bool) -> Fault:
    if isinstance(error, httpx.TimeoutException):
        if connected:
            return _fault("tls", "INFRA.tls", f"{where} takes connections, and no TLS handshake followed; does it speak plain http://?")
        return _fault("connect", "INFRA.connect", f"no connection to {where} in time")
    if isinstance(error, httpx.ProxyError):
        return _fault("connect", "INFRA.connect", f"the proxy did not connect to {where}: {error}")
    unknown = any(isinstance(cause, socket.gaierror) for cause in causes)
    lead = "the host name does not resolve" if unknown else "no connection"
    return _fault("connect", "INFRA.connect", f"{lead} ({where}): {_last(causes)}")


def _fault_of_tls(error: Exception, cause: ssl.SSLError, *, where: str, waited: str) -> Fault:
    words = str(cause)
    if isinstance(cause, ssl.SSLCertVerificationError):
        return _fault("tls", "INFRA.tls", f"the certificate of {where} does not verify: {cause.verify_message}")
    if isinstance(error, (httpx.ReadError, httpx.WriteError)):
        return _fault("reset", "INFRA.reset", f"the TLS connection broke {waited}: {words}")
    plain = any(sign in words.upper().replace(" ", "_") for sign in _PLAIN_PORT)
    advice = "; the port seems to speak plain http://" if plain else ""
    return _fault("tls", "INFRA.tls", f"no TLS handshake with {where}{advice} ({words})")


def _fault_of_bytes(first: bytes, *, where: str) -> Fault:
    if first.startswith(b"\x15\x03"):  # a TLS alert
        return _fault("tls", "INFRA.tls", f"{where} answers in TLS; use https://")
    return _fault("malformed", "PROTO.json", f"{where} does not speak HTTP; it begins with {first!r}")


def _fault_of_http(words: str, *, where: str) -> Fault:
    if "location header" in words:
        return _fault("not_found", "INFRA.path", f"{where} redirects to an address that cannot be read")
    return _fault("malformed", "PROTO.json", f"the answer is not HTTP: {words[:300]}")


def _fault(kind: FaultKind, code: str, message: str) -> Fault:
    return Fault(kind=kind, code=code, message=message)


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = error
    for _ in range(12):
        if seen is None:
            return
        yield seen
        seen = seen.__cause__ or seen.__context__


def _last(causes: list[BaseException]) -> str:
    return next((text for cause in reversed(causes) if (text := str(cause))), type(causes[0]).__name__)[:300]
