"""Checkpoints behind a web address: headers travel, weights do not."""

from __future__ import annotations

import http.server
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import pytest

from pytest_mtp.checkpoint.errors import CheckpointError
from pytest_mtp.checkpoint.verdict import inspect_checkpoint
from pytest_mtp.checkpoint.web import WebSource
from pytest_mtp.core.errors import InfraError

ONE = {"num_nextn_predict_layers": 1}


class Static(http.server.SimpleHTTPRequestHandler):
    """A plain file server that knows ranges, as the standard library's does not; `ignores` makes it a worse one."""

    sent = 0
    ignores = False
    lies = b""

    def do_GET(self) -> None:  # the library's name
        path = Path(self.translate_path(self.path))
        if self.path.startswith("/moved/"):
            self.send_response(302)
            self.send_header("Location", self.path.removeprefix("/moved"))
            self.end_headers()
            return
        if not path.is_file():
            self.send_error(404)
            return
        raw = path.read_bytes()
        span = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if span is None or self.ignores:
            self.send_response(200)
        elif int(span[1]) >= len(raw):
            self.send_error(416)
            return
        else:
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {span[1]}-{min(int(span[2]), len(raw) - 1)}/{len(raw)}")
            raw = raw[int(span[1]) : int(span[2]) + 1]
        raw = self.lies or raw
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        with suppress(ConnectionError):  # a client that hangs up is what one of the tests is about
            self.wfile.write(raw)
        type(self).sent += len(raw)

    def log_message(self, *_: object) -> None:
        """Quiet."""


@contextmanager
def serving(folder: Path, **behaviour: object) -> Iterator[tuple[str, type[Static]]]:
    handler = type("Handler", (Static,), {"sent": 0, **behaviour})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", handler
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.parametrize("prefix", ["", "/moved"], ids=["direct", "redirected"])
def test_a_sharded_model_is_read_by_its_headers_alone(make, prefix: str) -> None:
    folder = make.folder(make.trunk() | make.nextn(), make.config(**ONE), shards=4)
    with serving(folder) as (url, handler):
        inspection = inspect_checkpoint(f"{url}{prefix}/")
        local = inspect_checkpoint(str(folder))
    assert (inspection.verdict, inspection.digest, inspection.header_bytes) == ("present", local.digest, local.header_bytes)
    assert inspection.bytes_read == handler.sent, "what we count is what travelled"
    whole = sum(path.stat().st_size for path in folder.iterdir())
    assert handler.sent <= whole - inspection.weights.total_bytes + 16


@pytest.mark.parametrize("name", ["model.safetensors", ""], ids=["file", "folder"])
def test_a_single_file(make, name: str) -> None:
    folder = make.folder(make.trunk() | make.nextn(), make.config(**ONE))
    with serving(folder) as (url, _):
        assert inspect_checkpoint(f"{url}/{name}").verdict == "present"


def test_a_gguf_file_and_its_weights_on_demand(make) -> None:
    make.gguf([*make.gguf_trunk(), *make.gguf_block(3, nextn=True)])
    with serving(make.base) as (url, _):
        inspection = inspect_checkpoint(f"{url}/m.gguf", deep=True)
    assert (inspection.verdict, inspection.values.tensors) == ("present", 12)


def test_a_missing_shard_is_a_contradiction(make) -> None:
    folder = make.folder(make.trunk() | make.nextn(), make.config(**ONE), shards=4)
    (folder / "model-00001-of-00004.safetensors").unlink()
    with serving(folder) as (url, _):
        assert inspect_checkpoint(f"{url}/").verdict == "contradiction"


def test_a_server_that_ignores_ranges_is_refused_before_its_weights_travel(make, tmp_path: Path) -> None:
    folder = make.folder(make.trunk() | make.nextn(), make.config(**ONE))
    with (folder / "model.safetensors").open("ab") as file:
        file.truncate(8 << 20)
    with serving(folder, ignores=True) as (url, _), pytest.raises(CheckpointError, match="ignores range requests"):
        inspect_checkpoint(f"{url}/model.safetensors")


def test_small_files_of_such_a_server_are_read_whole(make) -> None:
    folder = make.folder(make.trunk() | make.nextn(), make.config(**ONE))
    with serving(folder, ignores=True) as (url, _):
        assert inspect_checkpoint(f"{url}/").verdict == "present"


def test_a_place_without_a_model(tmp_path: Path) -> None:
    with serving(tmp_path) as (url, _), pytest.raises(CheckpointError, match=r"neither model\.safetensors\.index\.json nor"):
        inspect_checkpoint(f"{url}/")


def test_a_server_that_sends_other_bytes_than_asked(make) -> None:
    folder = make.folder(make.trunk(), make.config())
    with serving(folder, lies=b"{}") as (url, _), pytest.raises(CheckpointError):
        inspect_checkpoint(f"{url}/model.safetensors")


def test_nobody_listening_is_an_infrastructure_error() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(InfraError) as caught:
        inspect_checkpoint(f"http://127.0.0.1:{port}/m.gguf")
    assert caught.value.code == "INFRA.connect"


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://", "names no host"),
        ("http:///x", "names no host"),
        ("http://user:secret@host/x", "credentials in an address are not taken"),
        ("http://[::1/x", "is no web address"),
        ("http://host/a b", "no blanks"),
    ],
)
def test_an_address_that_is_none(url: str, words: str) -> None:
    with pytest.raises(CheckpointError, match=words) as caught:
        inspect_checkpoint(url)
    assert "secret" not in str(caught.value)


def test_a_redirect_to_a_file_is_not_followed(tmp_path: Path) -> None:
    class Away(Static):
        def do_GET(self) -> None:  # the library's name
            self.send_response(302)
            self.send_header("Location", "file:///etc/passwd")
            self.end_headers()

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Away, directory=str(tmp_path)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        with pytest.raises(CheckpointError, match="302"):
            inspect_checkpoint(f"http://127.0.0.1:{server.server_port}/m.gguf")
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_server_that_never_answers_is_given_up() -> None:
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        source = WebSource(f"http://127.0.0.1:{mute.getsockname()[1]}/", timeout_s=0.1)
        with pytest.raises(InfraError) as caught:
            source.size("model.safetensors")
    assert caught.value.code == "INFRA.timeout"
