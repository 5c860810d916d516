"""The command `pytest-mtp`: one file a subcommand, and every foreseen trouble is one message."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from pytest_mtp import __version__
from pytest_mtp.cli import demo_model, doctor, inspect, selftest
from pytest_mtp.core.errors import InfraError, MtpError
from pytest_mtp.reports.printable import printable_lines

EXIT_USAGE = 2
EXIT_INTERRUPTED = 130
EXIT_INFRA = 69
"""As the plugin: the surroundings, not the thing under test."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand; its return value is the exit code."""
    parser = argparse.ArgumentParser(
        prog="pytest-mtp", description="Look at checkpoints and servers. The gate itself is `pytest --mtp-server URL`."
    )
    parser.add_argument("--version", action="version", version=f"pytest-mtp {__version__}")
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in (inspect, doctor, selftest, demo_model):
        command.add_parser(subparsers)
    args = parser.parse_args(argv)
    try:
        return int(args.run(args))
    except MtpError as error:
        print("\n".join(printable_lines(f"pytest-mtp: {error}")), file=sys.stderr)
        return EXIT_INFRA if isinstance(error, InfraError) else EXIT_USAGE
    except KeyboardInterrupt:
        print("pytest-mtp: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:  # `| head` has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


if __name__ == "__main__":
    sys.exit(main())
