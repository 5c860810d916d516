"""Faults before any test ran, as one InfraError: what happened, where, what to do."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_mtp.core.codes import CODES
from pytest_mtp.core.errors import InfraError
from pytest_mtp.core.exchange import Fault, FaultKind
from pytest_mtp.core.protocols import Fetched

_CODES: Mapping[FaultKind, str] = {
    "connect": "INFRA.connect",
    "tls": "INFRA.tls",
    "timeout": "INFRA.timeout",
    "reset": "INFRA.reset",
    "auth": "INFRA.auth",
    "not_found": "INFRA.path",
    "refused": "INFRA.path",
    "busy": "INFRA.busy",
    "server_error": "INFRA.5xx",
    "malformed": "INFRA.path",
}
_STATUSES: Mapping[int, FaultKind] = {
    401: "auth",
    403: "auth",
    404: "not_found",
    405: "not_found",
    429: "busy",
    501: "not_found",
    503: "busy",
}
_EXCERPT = 200


def trouble(fault: Fault, *, url: str, doing: str, key_sent: bool = False) -> InfraError:
    """`doing` completes "while ...", for example `listing the models`."""
    code = fault.code if fault.code.startswith("INFRA.") else _CODES[fault.kind]
    said = one_line(fault.message)
    place = "" if url in said else f" ({url})"
    return InfraError(f"{said}, while {doing}{place}", code=code, hint=_hint(code, fault, url=url, key_sent=key_sent))


def status_fault(got: Fetched) -> Fault | None:
    """The fault that a plain GET ended in, its own or that of its status; None for a 2xx."""
    if got.fault or got.ok:
        return got.fault
    kind: FaultKind = _STATUSES.get(got.status) or ("server_error" if got.status >= 500 else "refused")
    message = f"status {got.status}: {_gist(got.text)}"
    if 300 <= got.status < 400:
        target = next((value for name, value in (got.headers or {}).items() if name.lower() == "location"), "")
        message = f"status {got.status}: redirected to {target or 'an unnamed place'}; give that address"
    elif kind == "refused" and "HTTPS" in got.text:  # nginx and Go say so in a 400
        kind, message = "tls", f"status {got.status}: {_gist(got.text)}; this port speaks TLS, write https://"
    return Fault(kind=kind, code=_CODES[kind], message=message, status=got.status, body=got.text[:_EXCERPT])


def one_line(text: str) -> str:
    """As much as fits a message."""
    words = " ".join(text.split())
    return words if len(words) <= _EXCERPT else f"{words[:_EXCERPT]} ..."


def is_page(text: str) -> bool:
    """HTML or XML."""
    return text.lstrip().startswith("<")


def _gist(body: str) -> str:
    if is_page(body):
        return "a web page"
    return one_line(body) or "no body"


def _hint(code: str, fault: Fault, *, url: str, key_sent: bool) -> str:
    hint = CODES[code].hint
    if code == "INFRA.auth":
        return (
            "A key was sent: is it the right one for this server?"
            if key_sent
            else "No key was sent: name its variable, --mtp-api-key-env VAR."
        )
    if fault.kind == "reset" and url.startswith("http://"):
        return f"{hint} If this port speaks TLS, write https://."
    return hint
