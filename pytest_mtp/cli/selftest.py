"""`pytest-mtp selftest`: what the selected suites would catch, measured against a fake engine with known faults.

Exit codes: 0 when it ran, whatever it found; 2 for usage; 69 when a run could not be made.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_mtp.core.errors import UsageError

if TYPE_CHECKING:
    from pytest_mtp.selftest.matrix import Matrix

DEFAULT_SUITES = ("builtin:standard", "builtin:probes")
_WIDEST = 140


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The words of this command."""
    parser = subparsers.add_parser(
        "selftest",
        help="what your suites would catch: run them against a fake engine with each known fault",
        description="Runs the suites as pytest would, against an honest fake engine and then against the same engine with one fault of "
        "the catalogue after the other, and prints which case catches which fault, at what cost, and what would pass unseen. Each "
        "fault imitates public bug reports. No server is needed. Exit code 0 when it ran.",
    )
    parser.add_argument(
        "--suite", action="append", default=[], metavar="NAME|PATH", help="as for pytest; repeatable (default: builtin:standard and probes)"
    )
    parser.add_argument(
        "--fault", action="append", default=[], metavar="NAME", help="a fault, or a class of faults; repeatable (default: all)"
    )
    parser.add_argument("--rate", action="append", default=[], type=float, metavar="R", help="share of requests it strikes; repeatable (1)")
    parser.add_argument(
        "--seed", action="append", default=[], type=int, metavar="N", help="decides which requests it strikes; repeatable (0)"
    )
    parser.add_argument("--processes", type=int, default=min(4, os.cpu_count() or 1), metavar="N", help="runs at a time")
    parser.add_argument("--json", action="store_true", help="one JSON document")
    parser.add_argument("--markdown", metavar="FILE", help="write the matrix there as Markdown")
    parser.add_argument("--list", action="store_true", help="list the faults and what they imitate, and run nothing")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Raises UsageError for unknown faults, rates and suites, InfraError for a run that could not be made."""
    from pytest_mtp.selftest.matrix import chosen, matrix  # noqa: PLC0415  # `--help` needs none of it

    faults = chosen(args.fault)
    if args.list:
        print("\n".join(f"{fault.name}: {fault.imitates} ({', '.join(fault.reports) or fault.kind})" for fault in faults))
        return 0
    for rate in args.rate:
        if not 0 < rate <= 1:
            raise UsageError(f"--rate {rate:g}: expected a share above 0 and at most 1")
    if not 1 <= args.processes <= 64:
        raise UsageError(f"--processes {args.processes}: expected 1 to 64")
    made = matrix(
        [_place(word) for word in args.suite] or DEFAULT_SUITES,
        faults,
        rates=args.rate or (1.0,),
        seeds=args.seed or (0,),
        processes=args.processes,
        say=_say,
    )
    if args.markdown:
        _write(Path(args.markdown), made)
    print(json.dumps(made.to_dict(), indent=1) if args.json else _screen(made))
    return 0


def _place(word: str) -> str:
    """A suite by name stays; a path is meant from here, while the runs have folders of their own."""
    return str(Path(word).resolve()) if Path(word).exists() else word


def _write(path: Path, made: Matrix) -> None:
    from pytest_mtp.selftest.telling import markdown_of  # noqa: PLC0415  # as above

    try:
        path.write_text(markdown_of(made), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--markdown: cannot write {path}: {error.strerror}") from error


def _screen(made: Matrix) -> str:
    from pytest_mtp.selftest.telling import lines_of  # noqa: PLC0415  # as above

    return "\n".join(lines_of(made, width=min(shutil.get_terminal_size((100, 24)).columns, _WIDEST)))


def _say(words: str) -> None:
    """Progress, one line that replaces the one before; nothing where nobody waits at a terminal."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{words[:78]}")
        sys.stderr.flush()
