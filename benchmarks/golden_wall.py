"""Wall time of a golden suite under pytest, over the time of the same requests sent by a bare thread pool.

    python benchmarks/golden_wall.py [CASES] [CONCURRENCY]

Both at the same concurrency, against the fake engine at 4 ms a token, in turn. The control is measured before the clock
starts, as it belongs to the run and not to the suite. Goal: a ratio of at most 1.10.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pytest_mtp.checks.answers import planned_asks
from pytest_mtp.client.http import HttpClient
from pytest_mtp.servers.launch import launch
from pytest_mtp.suites.load import load_suite

ROW = """\
  - {id: cNUMBER, ask: Write a few sentences about the number NUMBER., sampling: {max_tokens: 60}, expect: {length: {min_words: 3}}}
"""
CONFTEST = """
import time
import pytest
from pytest_mtp.plugin.keys import RUN

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtestloop(session):
    session.config.stash[RUN].control()
    started = time.perf_counter()
    result = yield
    open("seconds", "w").write(str(time.perf_counter() - started))
    return result
"""


def main() -> None:
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else 120
    concurrency = int(sys.argv[2]) if len(sys.argv) > 2 else 4
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = [ROW.replace("NUMBER", str(i)) for i in range(cases)]
        suite = folder / "wall.mtp.yaml"
        suite.write_text("schema_version: 1\nsuite: wall\ncases:\n" + "".join(rows))
        (folder / "conftest.py").write_text(CONFTEST)
        server = launch("fake", run_dir=folder / "run", params={"token_delay_ms": 4, "concurrency": concurrency}, timeout_s=60)
        try:
            pairs = [
                (gate(folder, server.facts.endpoint.root, concurrency), bare(suite, server.facts.endpoint, concurrency)) for _ in range(5)
            ]
        finally:
            server.stop()
    for label, values in (("under pytest", [a for a, _ in pairs]), ("bare requests", [b for _, b in pairs])):
        print(f"{label:14} {statistics.median(values):7.2f} s, from {min(values):.2f} to {max(values):.2f}")
    ratios = [a / b for a, b in pairs]
    print(f"ratio, paired  {statistics.median(ratios):7.3f}, from {min(ratios):.3f} to {max(ratios):.3f}; goal <= 1.10")
    print(f"{cases} cases, concurrency {concurrency}")


def gate(folder: Path, url: str, concurrency: int) -> float:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--mtp-server", url, "--mtp-concurrency", str(concurrency)]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return float((folder / "seconds").read_text())


def bare(suite: Path, endpoint: object, concurrency: int) -> float:
    client = HttpClient(endpoint, timeout_s=120)  # type: ignore[arg-type]  # an Endpoint
    asks = [ask for case in load_suite(suite).cases for ask in planned_asks(case)]
    client.ask(asks[0])
    started = time.perf_counter()
    with ThreadPoolExecutor(concurrency) as pool:
        exchanges = list(pool.map(client.ask, asks))
    seconds = time.perf_counter() - started
    assert all(exchange.reply for exchange in exchanges)
    client.close()
    return seconds


if __name__ == "__main__":
    main()
