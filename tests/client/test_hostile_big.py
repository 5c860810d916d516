"""No server can make the client hold more than 500 MB, however much it sends: measured in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.client.hostile_big import BODIES, PAGES, STREAMS
from tests.client.raw_server import Serve, raw_server

MOST_MIB = 400
ROOT = Path(__file__).parents[2]

Measure = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def measure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measure]:
    if sys.platform != "linux":
        pytest.skip("peaks of memory are read from /proc")
    folder = tmp_path_factory.mktemp("evidence")
    command = [sys.executable, "-m", "tests.client.measured"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def asked(serve: Serve, *, stream: bool = False, path: str = "", timeout_s: float = 60) -> dict[str, Any]:
            with raw_server(serve) as server:
                order = {"root": server.root, "stream": stream, "path": path, "timeout_s": timeout_s}
                process.stdin.write(json.dumps({**order, "evidence": str(folder / "exchanges.jsonl")}) + "\n")  # type: ignore[union-attr]
                process.stdin.flush()  # type: ignore[union-attr]
                answer: dict[str, Any] = json.loads(process.stdout.readline())  # type: ignore[union-attr]
                (folder / "exchanges.jsonl").unlink(missing_ok=True)
                return answer

        yield asked
        process.stdin.close()


@pytest.mark.parametrize("name", STREAMS)
def test_streams(measure: Measure, name: str) -> None:
    serve, code = STREAMS[name]
    told = measure(serve, stream=True)
    assert told["fault"] == code, told
    assert told["peak_mib"] < MOST_MIB, told


@pytest.mark.parametrize("name", BODIES)
def test_bodies(measure: Measure, name: str) -> None:
    serve, code = BODIES[name]
    told = measure(serve)
    assert told["fault"] == code, told
    assert told["peak_mib"] < MOST_MIB, told


@pytest.mark.parametrize("name", PAGES)
def test_pages(measure: Measure, name: str) -> None:
    told = measure(PAGES[name], path="/metrics")
    assert told["length"] == 8 << 20, told
    assert told["peak_mib"] < MOST_MIB, told
