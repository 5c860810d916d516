"""`python -m pytest_mtp.selftest.fake`: the fake engine as a process of its own."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from pytest_mtp.core.errors import UsageError
from pytest_mtp.selftest.dialects import DIALECTS
from pytest_mtp.selftest.faults import FAULTS
from pytest_mtp.selftest.server import DEFAULT_ALIAS, FakeServer

DIED = 134  # the status of a process that aborted


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until SIGTERM, SIGINT, or the end of the watched pipe. Prints one line when connections are taken."""
    options = _parser().parse_args(argv)
    try:
        server = FakeServer(
            port=options.port,
            alias=options.alias,
            faults=options.fault,
            dialects=options.dialect,
            answers=options.answers,
            depth=options.depth,
            speculation=options.speculation == "on",
            concurrency=options.concurrency,
            max_concurrency=options.max_concurrency,
            door=options.door,
            workers=options.workers,
            context_length=options.context_length,
            token_delay_ms=options.token_delay_ms,
            api_key=os.environ.get(options.api_key_env) if options.api_key_env else None,
            seed=options.seed,
        )
    except (UsageError, OSError) as error:
        print(f"fake: {error}", file=sys.stderr)  # noqa: T201  # a command prints
        return 2
    asked_to_end = server.ended
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: asked_to_end.set())
    if options.watch_fd is not None:
        threading.Thread(target=_watch, args=(options.watch_fd, asked_to_end), daemon=True).start()
    server.start()
    print(f"listening {server.url}", flush=True)  # noqa: T201  # the line that a launcher waits for
    asked_to_end.wait()
    if server.died:
        os._exit(DIED)
    server.stop()
    return 0


def _watch(descriptor: int, asked_to_end: threading.Event) -> None:
    """Reading from a pipe returns nothing once the last writer, our launcher, is gone."""
    while os.read(descriptor, 4096):
        continue
    asked_to_end.set()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m pytest_mtp.selftest.fake", description="A deterministic engine with known answers and known faults"
    )
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--alias", default=DEFAULT_ALIAS, help="name under /v1/models")
    parser.add_argument("--fault", action="append", default=[], metavar="NAME[:NUMBER][@RATE]", help=", ".join(FAULTS))
    parser.add_argument("--dialect", action="append", default=[], metavar="NAME", help=", ".join(DIALECTS))
    parser.add_argument("--answers", type=Path, metavar="FILE", help="answer book (JSON), asked before the shipped one")
    parser.add_argument("--depth", type=int, default=3, help="tokens in a draft")
    parser.add_argument("--speculation", choices=("on", "off"), default="on")
    parser.add_argument("--concurrency", type=int, default=8, help="as told under /fake/info")
    parser.add_argument("--max-concurrency", type=int, metavar="N", help="503 beyond it")
    parser.add_argument("--door", type=int, metavar="N", help="429 beyond it, as a proxy in front would answer")
    parser.add_argument("--workers", type=int, metavar="N", help="requests that are generated at once; the others wait")
    parser.add_argument("--context-length", type=int, default=32_768, metavar="TOKENS")
    parser.add_argument("--token-delay-ms", type=float, default=0.0, metavar="X", help="time of one decoding step")
    parser.add_argument("--api-key-env", metavar="VAR", help="name of the variable that holds the key to ask for")
    parser.add_argument("--watch-fd", type=int, metavar="FD", help="end when this pipe does")
    parser.add_argument("--seed", type=int, default=0, help="decides which requests a fault with a rate strikes")
    return parser


if __name__ == "__main__":
    sys.exit(main())
