"""Where the API of a server begins, and which models it serves."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping
from dataclasses import dataclass

from pytest_mtp.core.codes import CODES
from pytest_mtp.core.errors import InfraError, nearest
from pytest_mtp.core.protocols import Client, Fetched
from pytest_mtp.servers.address import Address
from pytest_mtp.servers.engines.document import items, owners, parsed, text
from pytest_mtp.servers.trouble import is_page, one_line, status_fault, trouble

_FIRST_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """`names` are the model ids in the server's order; `aliases` maps every further name to its id.

    `binding` False: the list need not name what is served. mlx-lm lists what lies in the hub's cache, and answers with
    nothing at all where there is no cache; asking for a name out of its list makes it load that model.
    """

    api_root: str
    names: tuple[str, ...]
    aliases: Mapping[str, str]
    document: Mapping[str, object]
    binding: bool = True


def discover(client: Client, address: Address, *, wait_s: float, key_sent: bool) -> Discovery | None:
    """List the models below each possible root; None when the server has no such list anywhere.

    Raise InfraError when there is no server, or none that speaks this protocol. A 503 is a model that still loads: it is
    waited for, `wait_s` at most.
    """
    deadline = time.monotonic() + wait_s
    strange: InfraError | None = None
    empty: Discovery | None = None
    for api_root in address.api_roots:
        url = f"{api_root}/models"
        got = _patiently(client, url.removeprefix(address.root), deadline)
        fault = status_fault(got)
        if fault and fault.status == 503:
            problem = f"{url} still answers 503 after {wait_s:g} s: {fault.message}"
            raise InfraError(problem, code="INFRA.busy", hint="Wait until the model is loaded, or raise --mtp-timeout.")
        if fault and fault.kind == "not_found":
            continue
        if fault and fault.kind != "refused":
            raise trouble(fault, url=url, doing="listing the models", key_sent=key_sent)
        if fault:
            strange = strange or trouble(fault, url=url, doing="listing the models")
            continue
        document = _model_list(got)
        if document is not None:
            return dataclasses.replace(_named(api_root, document), binding=_binds(got, document))
        if not got.text.strip():
            empty = empty or Discovery(api_root=api_root, names=(), aliases={}, document={}, binding=False)
            continue
        strange = strange or _not_a_list(url, got)
    if empty is None and strange:
        raise strange
    return empty


def choose_model(found: Discovery, wanted: str | None) -> tuple[str, tuple[str, ...]]:
    """The model to ask for, with a line of evidence where the choice was ours. Raise InfraError for an unknown one."""
    if not found.document:
        raise _not_a_list(f"{found.api_root}/models", Fetched(status=200))
    if not found.names:
        raise InfraError(f"{found.api_root}/models lists no model", code="INFRA.model", hint="Load a model before testing the server.")
    if wanted is None:
        others = f"; also served: {', '.join(found.names[1:])}" if len(found.names) > 1 else ""
        return found.names[0], ((f"no model was named: took the first, {found.names[0]!r}{others}",) if others else ())
    known = (*found.names, *found.aliases)
    if wanted in known:
        return wanted, ()
    problem = f"{found.api_root} does not serve the model {wanted!r}{nearest(wanted, known)}; served: {', '.join(found.names)}"
    raise InfraError(problem, code="INFRA.model", hint=CODES["INFRA.model"].hint)


def _patiently(client: Client, path: str, deadline: float) -> Fetched:
    pause = _FIRST_PAUSE_S
    while True:
        got = client.fetch(path)
        if got.status != 503 or time.monotonic() + pause > deadline:
            return got
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE_S)


def _model_list(got: Fetched) -> Mapping[str, object] | None:
    document = parsed(got.text)
    return document if isinstance(document, dict) and isinstance(document.get("data"), list) else None


def _binds(got: Fetched, document: Mapping[str, object]) -> bool:
    """Lists that nobody signed, from Python's own server, may be mlx-lm's."""
    server = next((value for name, value in (got.headers or {}).items() if name.lower() == "server"), "")
    return not server.startswith("BaseHTTP/") or bool(owners(document))


def _named(api_root: str, document: Mapping[str, object]) -> Discovery:
    names, aliases = [], {}
    for entry in items(document.get("data")):
        name = text(entry.get("id"))
        if name is None:
            continue
        names.append(name)
        also = entry.get("aliases")
        aliases.update({alias: name for alias in also if isinstance(alias, str) and alias != name} if isinstance(also, list) else {})
    return Discovery(api_root=api_root, names=tuple(names), aliases=aliases, document=document)


def _not_a_list(url: str, got: Fetched) -> InfraError:
    if is_page(got.text):
        what = "a web page"
    elif not got.text.strip():
        what = "an empty body"
    else:
        what = f"no list of models but {one_line(got.text)[:80]!r}"
    return InfraError(
        f"{url} answers with {what}, not with JSON of an OpenAI-compatible API", code="INFRA.path", hint=CODES["INFRA.path"].hint
    )
