"""`python -m pytest_mtp.selftest.proxy`: the faults of the catalogue before any real server.

Everything passes as it is, byte by byte and as it comes, but for the chats that an armed fault strikes. A struck stream is changed
event by event where the fault can do so; where it needs the whole reply, that one stream is read to its end first.
"""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Self

import httpx

from pytest_mtp.core.errors import UsageError
from pytest_mtp.selftest.arming import arm
from pytest_mtp.selftest.condition import WORDS
from pytest_mtp.selftest.faults import FAULTS
from pytest_mtp.selftest.relay import Relay
from pytest_mtp.selftest.stage import Stage

PROXIED = tuple(name for name, fault in FAULTS.items() if fault.proxied)


class FaultProxy:
    """A proxy of known faults. A context manager; `start` and `stop` do the same. `struck` counts what struck, by fault."""

    def __init__(self, upstream: str, *, faults: Iterable[str] = (), port: int = 0, seed: int = 0) -> None:
        """Raise UsageError for an address that is none and for a fault that a proxy cannot show, OSError for a taken port."""
        try:
            url = httpx.URL(upstream)
        except httpx.InvalidURL as error:
            raise UsageError(f"--upstream {upstream}: {error}") from error
        if url.scheme not in ("http", "https") or not url.host:
            raise UsageError(f"--upstream {upstream}: expected an address such as http://127.0.0.1:8000")
        self.upstream = upstream.rstrip("/").removesuffix("/v1")
        self.armed = arm(faults)
        for armed in self.armed:
            if not armed.fault.proxied:
                raise UsageError(f"the fault {armed.fault.name!r} lies in the model or its drafts: a proxy cannot show it, the fake can")
        self.seed = seed
        self.stage = Stage()
        self.struck: dict[str, int] = {}
        self.ended = threading.Event()
        self.client = httpx.Client(timeout=httpx.Timeout(None, connect=10), limits=httpx.Limits(max_connections=None), trust_env=False)
        self._lock = threading.Lock()
        self._relay = Relay(port, self)
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The root, without `/v1`."""
        return f"http://127.0.0.1:{self._relay.server_address[1]}"

    def count(self, name: str) -> None:
        """One more request is struck."""
        with self._lock:
            self.struck[name] = self.struck.get(name, 0) + 1

    def start(self) -> Self:
        """Answer in threads of this process."""
        self._thread = threading.Thread(target=self._relay.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        """Close every connection. Twice is fine."""
        self.ended.set()
        if self._thread is not None:
            self._relay.shutdown()
            self._thread.join()
            self._thread = None
        self._relay.close_all()
        self.client.close()

    def die(self) -> None:
        """A crash, in mid-request."""
        threading.Thread(target=self.stop, daemon=True).start()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until SIGTERM or SIGINT. Prints one line when connections are taken."""
    options = _parser().parse_args(argv)
    if options.list:
        print("\n".join(f"{name}: {FAULTS[name].imitates}" for name in PROXIED))  # noqa: T201  # a command prints
        return 0
    if not options.upstream:
        print("proxy: --upstream URL is needed", file=sys.stderr)  # noqa: T201  # as above
        return 2
    try:
        proxy = FaultProxy(options.upstream, faults=options.fault, port=options.port, seed=options.seed)
    except (UsageError, OSError) as error:
        print(f"proxy: {error}", file=sys.stderr)  # noqa: T201  # as above
        return 2
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: proxy.ended.set())
    proxy.start()
    print(f"listening {proxy.url}", flush=True)  # noqa: T201  # the line that a launcher waits for
    proxy.ended.wait()
    proxy.stop()
    told = ", ".join(f"{name} {count}" for name, count in sorted(proxy.struck.items()))
    print(f"struck: {told or 'nothing'}", flush=True)  # noqa: T201  # as above
    return 0


def _parser() -> argparse.ArgumentParser:
    conditions = ", ".join(f"{name}=N" if word.number is not None else name for name, word in WORDS.items())
    parser = argparse.ArgumentParser(
        prog="python -m pytest_mtp.selftest.proxy", description="Known faults before a real OpenAI-compatible server, to see what notices."
    )
    parser.add_argument("--upstream", metavar="URL", help="the real server")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument(
        "--fault",
        action="append",
        default=[],
        metavar="NAME[:NUMBER][@RATE][?CONDITION]",
        help=f"repeatable; --list shows the names. Conditions, joined by & or +: {conditions}",
    )
    parser.add_argument("--seed", type=int, default=0, help="decides which requests a fault with a rate strikes")
    parser.add_argument("--list", action="store_true", help="list the faults that a proxy can show, and end")
    return parser


if __name__ == "__main__":
    sys.exit(main())
