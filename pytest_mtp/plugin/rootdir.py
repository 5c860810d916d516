"""Values of our options that pytest takes for places to look for its ini file.

pytest decides on its root before it knows the options of plugins: in `--mtp-checkpoint /models/x` it sees a path to test. The ini
file of the folder is then passed over in silence, with the server that it names, and a job without a server is green.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

_PATHS = frozenset({"--mtp-checkpoint", "--mtp-suite", "--mtp-report", "--mtp-launch"})
_OF_PYTEST_ALONE = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini")
_SHARED = {"pyproject.toml": "[tool.pytest", "tox.ini": "[pytest]", "setup.cfg": "[tool:pytest]"}


def refuse_a_moved_root(config: pytest.Config) -> None:
    """Raise pytest.UsageError where a value of ours after a blank made pytest lose the ini file that it would have found."""
    known = vars(config.option)
    if known.get("inifilename") or known.get("rootdir"):
        return
    words = [str(word) for word in config.invocation_params.args]
    moving = [(flag, value) for flag, value in pairwise(words) if flag in _PATHS and Path(value.partition("?")[0]).exists()]
    if not moving:
        return
    positional = set(known.get("file_or_dir") or ())  # holds the paths of built-in suites too, which nobody typed
    typed = [Path(word.partition("::")[0]) for word in words if word in positional]
    here = config.invocation_params.dir
    start = next((here / path for path in typed if (here / path).exists()), here)
    lost = _ini_of(start)
    if lost is not None and config.inipath != lost:
        flag, value = moving[0]
        raise pytest.UsageError(
            f"{flag} {value}: after a blank pytest takes this path for a place to look for its ini file, and passes over {lost}; "
            f"write {flag}={value}"
        )


def _ini_of(start: Path) -> Path | None:
    """The ini file that pytest would find from here upwards."""
    for folder in (start, *start.parents):
        for name in _OF_PYTEST_ALONE:
            if (folder / name).is_file():
                return folder / name
        for name, section in _SHARED.items():
            if (folder / name).is_file() and section in (folder / name).read_text(encoding="utf-8", errors="replace"):
                return folder / name
    return None
