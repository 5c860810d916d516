"""One trial of the self-test: a pytest run of real suites against the fake with one fault, and what its report says of it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pytest_mtp.core.errors import InfraError, UsageError

TIMEOUT_S = 10
"""On each request: the fake answers at once, and hanging faults should not cost minutes."""

LONGEST_S = 900.0
_UNREADABLE = (2, 3, 4)
"""pytest's exit codes for suites and words that it cannot read; a fault may also end a run so, an honest fake never."""

_CODE = re.compile(r"\b(?:INFRA|CTRL)\.[a-z_]+\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One finding: where it stands (a case as `suite::id`, or `control`), what it says, and whether it closed the gate there."""

    case: str
    kind: str
    code: str
    severity: str
    closes: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A whole run. `unreached` are cases that were INCONCLUSIVE; `requests` are those of the cases, without the control."""

    seen: tuple[Seen, ...]
    open: bool
    requests: int
    seconds: float
    unreached: tuple[str, ...] = ()
    costs: Mapping[str, int] | None = None


def run_trial(suites: Sequence[str], *, faults: Sequence[str] = (), setting: Mapping[str, str | int] | None = None, seed: int = 0) -> Trial:
    """Raise UsageError for suites that pytest cannot read, InfraError for a run that left no report and told no code."""
    params: dict[str, str] = {name: str(value) for name, value in (setting or {}).items()}
    if faults:
        params["faults"] = ",".join(quote(word, safe="@:+=") for word in faults)
    params["seed"] = str(seed)
    launch = "fake?" + "&".join(f"{name}={value}" for name, value in params.items())
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mtp-selftest-") as folder:
        words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "pytest_mtp.plugin"]
        words += ["--rootdir", folder, "--mtp-report", "report", "--mtp-timeout", str(TIMEOUT_S), "--mtp-launch", launch]
        words += [word for suite in suites for word in (("--mtp-suite", suite) if "::" not in suite else (suite,))]
        done = _run(words, Path(folder))
        seconds = time.monotonic() - started
        report = Path(folder) / "report" / "mtp-report.json"
        unreadable = not faults and done.returncode in _UNREADABLE
        if report.is_file() and not unreadable:
            return _read(json.loads(report.read_text(encoding="utf-8")), seconds)
    said = f"{done.stdout}\n{done.stderr}"
    codes = dict.fromkeys(_CODE.findall(said))
    if done.returncode in _UNREADABLE and (unreadable or not codes):
        raise UsageError(f"the suites cannot be run: {_last_words(said)}")
    if not codes:
        raise InfraError(f"a run of the self-test left no report: {_last_words(said)}", code="INFRA.start")
    found = tuple(Seen(case="start", kind="start", code=code, severity="critical", closes=True) for code in codes)
    return Trial(seen=found, open=False, requests=0, seconds=seconds)


def _run(words: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """In a folder and an environment of its own: what the user's own run is told must not reach it."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))}
    package = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, (package, environment.get("PYTHONPATH", ""))))
    environment |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": path, "NO_COLOR": "1"}
    try:
        return subprocess.run(  # noqa: S603  # our own interpreter and words
            words, cwd=folder, env=environment, capture_output=True, text=True, errors="replace", timeout=LONGEST_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise InfraError(f"a run of the self-test did not end within {LONGEST_S:g} s", code="INFRA.timeout") from error


def _last_words(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    telling = (line for mark in (".mtp.yaml:", "ERROR") for line in lines if mark in line)
    return next(telling, lines[-1] if lines else "no word")[:300]


def _read(report: Mapping[str, Any], seconds: float) -> Trial:
    seen = [
        Seen(case="control", kind="control", code=found["code"], severity=found["severity"], closes=_harms(found["severity"]))
        for found in (report.get("control") or {}).get("findings", ())
    ]
    unreached, requests = [], 0
    costs: dict[str, int] = {}
    for case in report["cases"]:
        verdict = case["verdict"]
        name = f"{case['suite']}::{verdict['case_id']}"
        seen += [
            Seen(case=name, kind=case["kind"], code=found["code"], severity=found["severity"], closes=case["closes"])
            for found in verdict["findings"]
        ]
        requests += verdict["exchanges"]
        costs[name] = verdict["exchanges"]
        if verdict["outcome"] == "INCONCLUSIVE":
            unreached.append(name)
    for blocking in report["gate"]["blocking"]:
        if blocking["code"] and not any(found.code == blocking["code"] for found in seen):  # none: a case that was INCONCLUSIVE
            seen.append(Seen(case="run", kind="run", code=blocking["code"], severity="critical", closes=True))
    return Trial(
        seen=tuple(seen), open=report["gate"]["verdict"] == "pass", requests=requests, seconds=seconds, unreached=tuple(unreached),
        costs=costs,
    )  # fmt: skip


def _harms(severity: str) -> bool:
    return severity in ("critical", "regression")
