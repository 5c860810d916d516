"""`--mtp-self-test`: what the selected suites would catch, measured against the fake engine with each known fault."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_mtp.core.errors import MtpError
from pytest_mtp.selftest.matrix import chosen, matrix
from pytest_mtp.selftest.telling import lines_of

DEFAULT_SUITES = ("builtin:standard", "builtin:probes")
_WIDEST = 140


def self_test(config: pytest.Config) -> int:
    """Print the matrix. 0 when it ran, whatever it found. Raises pytest.UsageError for suites that cannot be run."""
    if config.option.mtp_server or config.option.mtp_launch:
        raise pytest.UsageError("--mtp-self-test tests the suites and no server: leave --mtp-server and --mtp-launch out")
    suites = suites_of(config) or DEFAULT_SUITES
    try:
        made = matrix(suites, chosen(()), processes=min(4, os.cpu_count() or 1), say=_say)
    except MtpError as error:
        raise pytest.UsageError(f"--mtp-self-test: {error}") from error
    sys.stdout.write("\n".join(lines_of(made, width=min(shutil.get_terminal_size((100, 24)).columns, _WIDEST))) + "\n")
    return int(pytest.ExitCode.OK)


def suites_of(config: pytest.Config) -> Sequence[str]:
    """The paths on the command line, those of --mtp-suite among them, as full paths; none where none was given."""
    if config.args_source != pytest.Config.ArgsSource.ARGS:
        return ()
    places = (word.partition("::") for word in config.args)
    return tuple(f"{Path(config.invocation_params.dir, path).resolve()}{mark}{case}" for path, mark, case in places)


def _say(words: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{words[:78]}")
        sys.stderr.flush()
