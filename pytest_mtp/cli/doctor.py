"""`pytest-mtp doctor URL`: what a server is, whether its speculation is really on and how well, and what to do next.

Exit codes: 0 for nothing that harms, 1 for findings that would close a gate, 69 for a server that cannot be used, 2 for usage.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from pytest_mtp.core.errors import UsageError

if TYPE_CHECKING:
    from pytest_mtp.core.run import RunReport

_WIDEST = 120


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The words of this command."""
    parser = subparsers.add_parser(
        "doctor",
        help="visit a server: what it is, whether its speculation is really on, what to do next",
        description="Asks a running server a few dozen short questions, one at a time but for the probe of its door, and says on one "
        "screen what it is and whether its drafts are made and accepted. Exit codes: 0 nothing that harms, 1 findings that would "
        "close a gate, 69 a server that cannot be used, 2 usage.",
    )
    parser.add_argument("url", metavar="URL", help="address of the server, as for pytest --mtp-server")
    parser.add_argument("--json", action="store_true", help="one JSON document, in the schema of mtp-report.json")
    parser.add_argument("--model", metavar="NAME", help="the name to ask for (default: the first that the server lists)")
    parser.add_argument("--api-key-env", metavar="VAR", help="name of the variable that holds the key")
    parser.add_argument("--timeout", type=float, default=60.0, metavar="S", help="seconds for one request (default 60)")
    parser.add_argument("--checkpoint", metavar="PATH", help="the files that the server should be serving")
    parser.add_argument("--quick", action="store_true", help="without the probes of the conditions under which it drafts, and of its door")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Raises UsageError for a wrong address, key variable or checkpoint; a server in trouble is a report, never an exception."""
    from pytest_mtp.cli.diagnose import diagnose  # noqa: PLC0415  # `--help` needs none of it
    from pytest_mtp.reports.diagnosis import EXIT_CODES  # noqa: PLC0415

    if not 0 < args.timeout <= 86_400:
        raise UsageError(f"--timeout {args.timeout:g}: expected seconds above 0 and at most a day")
    if args.api_key_env is not None and not args.api_key_env.isidentifier():
        raise UsageError("--api-key-env: expected the NAME of a variable (letters, digits, underscores), not a key")
    report = diagnose(
        args.url,
        model=args.model,
        api_key_env=args.api_key_env,
        timeout_s=args.timeout,
        checkpoint=args.checkpoint,
        quick=args.quick,
        say=_say(),
    )
    print(json.dumps(report.to_dict(), indent=1, allow_nan=False) if args.json else _screen(report))
    return EXIT_CODES[report.gate.verdict]


def _say() -> Callable[[str], None]:
    """Where a person waits at a terminal, one line that replaces the one before; else nowhere."""
    if not sys.stderr.isatty():
        return lambda _: None

    def say(words: str) -> None:
        sys.stderr.write(f"\r\x1b[K{words[:78]}" if words else "\r\x1b[K")
        sys.stderr.flush()

    return say


def _screen(report: RunReport) -> str:
    from pytest_mtp.reports.doctor import doctor_lines  # noqa: PLC0415  # as above

    lines = doctor_lines(report, width=min(shutil.get_terminal_size((80, 24)).columns, _WIDEST))
    if sys.stdout.isatty() and "NO_COLOR" not in os.environ:
        end = lines.index("") if "" in lines else len(lines)
        lines[:end] = [f"\x1b[1m{line}\x1b[0m" for line in lines[:end]]
    return "\n".join(lines)
