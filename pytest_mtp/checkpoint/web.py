"""Model files behind a web address, read by HTTP range requests: headers travel, weights do not."""

from __future__ import annotations

import http.client
import re
import time
import urllib.error
import urllib.parse
import urllib.request

from pytest_mtp.checkpoint.errors import CheckpointError
from pytest_mtp.checkpoint.place import INDEX, SHARD, Place
from pytest_mtp.core.errors import InfraError

TIMEOUT_S = 60.0
_GONE = "does not exist"
_WHOLE = 1 << 20
"""Files up to this size are fetched whole when a server ignores ranges."""


class WebSource:
    """A folder of a static server; works with the Hub's `/resolve/<revision>/` addresses too. Sends no credentials."""

    def __init__(self, folder: str, *, timeout_s: float = TIMEOUT_S) -> None:
        """`folder` ends with a slash. `timeout_s` bounds each request as a whole."""
        self._folder, self._timeout_s = folder, timeout_s
        self._sizes: dict[str, int] = {}
        self._first: dict[str, bytes] = {}
        self._opener = _opener()
        self.bytes_read = 0
        self.requests = 0

    def shown(self, name: str = "") -> str:
        """The address."""
        return self._folder + urllib.parse.quote(name)

    def names(self) -> tuple[str, ...] | None:
        """A web server has no listing that one could rely on."""
        return None

    def has(self, name: str) -> bool:
        """Asks for the first bytes; every answer but a 404 that is no file is an error."""
        try:
            return self.size(name) >= 0
        except CheckpointError as error:
            if error.problem == _GONE:
                return False
            raise

    def size(self, name: str) -> int:
        """From the Content-Range of a request for the first eight bytes, which every reader wants next anyway."""
        if name not in self._sizes:
            self._first[name] = self._get(name, 0, 8)
        return self._sizes[name]

    def read(self, name: str, offset: int, length: int) -> bytes:
        """One request."""
        if not length:
            return b""
        if not offset and length <= len(self._first.get(name, b"")):
            return self._first[name][:length]
        piece = self._get(name, offset, length)
        if len(piece) != length:
            raise CheckpointError(f"{length} bytes were asked for at {offset} and {len(piece)} came", path=self.shown(name))
        return piece

    def _get(self, name: str, offset: int, length: int) -> bytes:
        url = self.shown(name)
        request = urllib.request.Request(  # noqa: S310  # the opener knows http and https alone
            url, headers={"Range": f"bytes={offset}-{offset + length - 1}", "Accept-Encoding": "identity", "User-Agent": "pytest-mtp"}
        )
        self.requests += 1
        try:
            with self._opener.open(request, timeout=self._timeout_s) as answer:
                return self._body(answer, name, offset, length)
        except urllib.error.HTTPError as error:
            error.close()  # it is the answer itself, with its connection
            if error.code == 416 and not offset:
                self._sizes[name] = 0
                return b""
            words = {401: "needs credentials, which are never sent", 403: "is forbidden", 404: _GONE}
            raise CheckpointError(words.get(error.code, f"the server answered {error.code}"), path=url) from error
        except TimeoutError as error:
            raise InfraError(f"{url}: no answer within {self._timeout_s:g} s", code="INFRA.timeout") from error
        except (OSError, http.client.HTTPException) as error:
            raise InfraError(f"{url}: {getattr(error, 'reason', None) or error}") from error

    def _body(self, answer: http.client.HTTPResponse, name: str, offset: int, length: int) -> bytes:
        total = re.fullmatch(r"bytes (\d{1,18})-\d{1,18}/(\d{1,18})", answer.headers.get("Content-Range", ""))
        if answer.status == 206 and total is not None and int(total[1]) == offset:
            self._sizes[name] = int(total[2])
            return self._drain(answer, length)
        whole = answer.headers.get("Content-Length", "")
        if answer.status == 200 and whole.isascii() and whole.isdigit() and int(whole) <= _WHOLE:
            self._sizes[name] = int(whole)
            return self._drain(answer, int(whole))[offset : offset + length]
        raise CheckpointError("the server ignores range requests, so that its headers cannot be read alone", path=self.shown(name))

    def _drain(self, answer: http.client.HTTPResponse, length: int) -> bytes:
        until = time.monotonic() + self._timeout_s
        pieces: list[bytes] = []
        while length > 0 and (piece := answer.read1(min(length, 1 << 16))):
            pieces.append(piece)
            length -= len(piece)
            self.bytes_read += len(piece)
            if time.monotonic() > until:
                raise TimeoutError
        return b"".join(pieces)


def _opener() -> urllib.request.OpenerDirector:
    """Without the handlers for files and FTP, to which a redirect could otherwise lead."""
    opener = urllib.request.OpenerDirector()
    handlers = (
        urllib.request.ProxyHandler,
        urllib.request.HTTPHandler,
        urllib.request.HTTPSHandler,
        urllib.request.HTTPDefaultErrorHandler,
    )
    for handler in (*handlers, urllib.request.HTTPRedirectHandler, urllib.request.HTTPErrorProcessor, urllib.request.UnknownHandler):
        opener.add_handler(handler())
    return opener


def find_web(url: str) -> Place:
    """A file, an index, or a folder that has an index or a model.safetensors."""
    if any(ord(char) <= 32 or ord(char) == 127 for char in url):
        raise CheckpointError("a web address holds no blanks and no control characters", path=repr(url))
    try:
        parts = urllib.parse.urlsplit(url)
        host = parts.hostname
    except ValueError as error:
        raise CheckpointError(f"is no web address: {error}", path=url) from error
    if not host or parts.username or parts.password:
        raise CheckpointError(
            "names no host" if not host else "credentials in an address are not taken", path=f"{parts.scheme}://{host or ''}"
        )
    folder, _, name = parts.path.rpartition("/")
    name = urllib.parse.unquote(name)
    if name and not name.endswith((".safetensors", ".gguf", ".json")):
        folder, name = f"{folder}/{name}", ""
    source = WebSource(urllib.parse.urlunsplit((parts.scheme, parts.netloc, f"{folder}/", "", "")))
    if name.endswith(".gguf"):
        match = SHARD.match(name)
        total = int(match["total"]) if match and int(match["total"]) <= 1000 else 0
        pieces = tuple(f"{match['base']}-{number:05d}-of-{total:05d}.gguf" for number in range(1, total + 1)) if match else ()
        return Place(source=source, format="gguf", files=pieces or (name,), alone=True)
    index = name if name.endswith(".index.json") else INDEX
    config = "config.json" if source.has("config.json") else None
    if not name.endswith(".safetensors") and source.has(index):
        return Place(source=source, format="safetensors", files=(), index=index, config=config)
    single = name if name.endswith(".safetensors") else "model.safetensors"
    if not source.has(single):
        raise CheckpointError(f"neither {INDEX} nor {single} is there", path=source.shown())
    return Place(source=source, format="safetensors", files=(single,), config=config, alone=True)
