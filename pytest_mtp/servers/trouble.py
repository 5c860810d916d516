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
_EXCERPT = 200


def trouble(fault: Fault, *, url: str, doing: str, key_sent: bool = False) -> InfraError:
    """`doing` completes "while ...", for example `listing the models`."""
    code = _CODES[fault.kind]
    hint = CODES[code].hint
    if fault.kind == "auth":
        hint = (
            "A key was sent; is it the right one for this server?"
            if key_sent
            else "No key was sent: name its variable, --mtp-api-key-env VAR."
        )
    elif fault.kind == "reset" and url.startswith("http://"):
        hint = f"{hint} If this port speaks TLS, write https://."
    status = f" (HTTP {fault.status})" if fault.status else ""
    said = _one_line(fault.message)
    return InfraError(
        f"{url}: {CODES[code].meaning[0].lower()}{CODES[code].meaning[1:]}{status} while {doing}: {said}", code=code, hint=hint
    )


def status_fault(got: Fetched) -> Fault | None:
    """The fault that a plain GET ended in, its own or that of its status; None for a 2xx."""
    if got.fault or got.ok:
        return got.fault
    kinds: Mapping[int, FaultKind] = {401: "auth", 403: "auth", 404: "not_found", 429: "busy", 503: "busy"}
    kind: FaultKind = kinds.get(got.status) or ("server_error" if got.status >= 500 else "refused")
    message = _one_line(got.text) or f"status {got.status} and no body"
    if 300 <= got.status < 400:
        target = next((value for name, value in (got.headers or {}).items() if name.lower() == "location"), "")
        message = f"redirected to {target or 'an unnamed place'}; give that address"
    return Fault(kind=kind, code=_CODES[kind], message=message, status=got.status, body=got.text[:_EXCERPT])


def _one_line(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _EXCERPT else f"{words[:_EXCERPT]} ..."
