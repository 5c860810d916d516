"""Write what is generated in the docs.

The page of finding codes, the doctor's screen, the parameters of launch profiles, the table of probes, and the option table and
failing run of the README:

    python docs/build.py

A test holds the committed pages against the code, so a code or an option without its docs fails.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from pytest_mtp.checks.probes.probe import Probe
from pytest_mtp.core.codes import CODES
from pytest_mtp.core.profile import Parameter
from pytest_mtp.core.run import RunReport
from pytest_mtp.plugin.options import OPTIONS
from pytest_mtp.profiles.load import load_profile, profile_names
from pytest_mtp.reports.doctor import doctor_lines
from pytest_mtp.servers.profile import common_parameters
from pytest_mtp.suites.load import load_suite
from pytest_mtp.suites.shipped import shipped

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
README, FINDINGS, DOCTOR, PROBES = ROOT / "README.md", DOCS / "findings.md", DOCS / "doctor.md", DOCS / "probes.md"
PROFILES = DOCS / "profiles.md"

GROUPS = {
    "INFRA": "No answer was obtained. The outcome is BLOCKED, never a wrong answer.",
    "PROTO": "The wire: bodies, streams, finish reasons, token counts.",
    "CTRL": "The server against itself.",
    "ID": "Whether this is the server and the model that was approved.",
    "GEN": "The text itself, before anybody asks whether it is right.",
    "ANS": "Answers.",
    "TOOL": "Tool calls.",
    "SPEC": "Speculative decoding.",
    "PERF": "Speed, and the instrument that measures it.",
    "BASE": "Comparison with a baseline.",
    "SUITE": "The suite.",
}

HEAD = """\
# Finding codes

Generated from `pytest_mtp/core/codes.py`. A finding has a code (what) and a severity (what it means for the gate):

- `critical`: serving is broken. Closes the gate.
- `regression`: an approved answer was lost. Closes the gate.
- `model`: capability. Never closes the gate by itself.
- `note`: worth knowing.

`case` in the table stands for the severity that the case declares. A judge lowers a severity where the evidence shows that the
model and not the serving is at fault, and never raises one.
"""

FAILING = """\
schema_version: 1
suite: orders
tools:
  find_order:
    description: Look up an order
    parameters: {type: object, properties: {number: {type: string}}, required: [number]}
cases:
  - id: lookup
    tools: [find_order]
    stream: both
    severity: critical
    ask: Call find_order for A-1709
    expect:
      calls: [{name: find_order, arguments: {number: A-1709}}]
"""


def findings_page() -> str:
    """The whole page."""
    parts = [HEAD]
    for group, words in GROUPS.items():
        rows = [code for name, code in CODES.items() if name.split(".")[0] == group]
        table = "\n".join(f"| `{row.name}` | {row.severity} | {row.meaning} | {row.hint} |" for row in rows)
        parts.append(f"## {group}\n\n{words}\n\n| code | severity | meaning | what to do |\n| --- | --- | --- | --- |\n{table}\n")
    return "\n".join(parts)


def options_table() -> str:
    """The table of the README."""
    rows = [
        f"| `{option.flag} {option.metavar}` | {option.help} | {option.default or '-'} |".replace("N|auto", "N\\|auto").replace(
            "NAME|PATH", "NAME\\|PATH"
        )
        for option in OPTIONS
    ]
    return "\n".join(["| option | meaning | default |", "| --- | --- | --- |", *rows])


def probes_table() -> str:
    """Each probe with the suite that holds it and what one look costs at most."""
    rows = []
    for path in (*shipped("probes"), *shipped("soak")):
        suite = load_suite(path)
        for case in suite.cases:
            probe: Probe = importlib.import_module(f"pytest_mtp.checks.probes.{case.check}").PROBE
            alone = "alone" if probe.alone else ""
            rows.append(f"| `{probe.name}` | `{suite.name}` | {probe.about} | {probe.requests(case)} | {probe.tokens(case):,} | {alone} |")
    head = ["| probe | suite | what it asks | requests | tokens at most | server |", "| --- | --- | --- | --- | --- | --- |"]
    return "\n".join([*head, *rows])


def failing_run() -> str:
    """A real run over the fake engine with one fault, without the lines that differ from run to run."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "orders.mtp.yaml").write_text(FAILING)
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--mtp-launch", "fake?faults=doubled-brace", "--color=no"]
        # Under CI pytest prints whole lines; a person at a terminal sees them cut.
        environ = {name: value for name, value in os.environ.items() if name not in ("CI", "BUILD_NUMBER")} | {"COLUMNS": "80"}
        done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
    return steady(done.stdout)


def doctor_screen() -> str:
    """A real visit to the fake engine, with the port, process and time of one run replaced before the lines are laid out."""
    command = [sys.executable, "-m", "pytest_mtp.selftest.fake", "--alias", "demo-model", "--depth", "2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as fake:
        try:
            assert fake.stdout is not None
            url = fake.stdout.readline().split()[-1]
            doctor = [sys.executable, "-m", "pytest_mtp.cli.main", "doctor", url, "--json"]
            done = subprocess.run(doctor, capture_output=True, text=True, check=False)
        finally:
            fake.terminate()
    report = RunReport.from_dict(json.loads(done.stdout.replace(url, "http://127.0.0.1:8000")))
    facts = report.servers[0]
    assert facts.process is not None
    process = dataclasses.replace(facts.process, pid=4711, started_at=1767254400.0, command=("python", *facts.process.command[1:]))
    return "\n".join(doctor_lines(dataclasses.replace(report, servers=(dataclasses.replace(facts, process=process),))))


def steady(text: str) -> str:
    """Ports, aliases, folders, times and versions differ from run to run."""
    lines = [line for line in text.splitlines() if not line.startswith(("platform ", "rootdir: ", "plugins: ", "report: "))]
    plain = "\n".join(lines)
    plain = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:8000", plain)
    plain = re.sub(r"fake-[0-9a-f]{8}", "demo-model", plain)
    plain = re.sub(r" in \d+\.\d+s", "", plain)
    return re.sub(r"={3,}", "===", plain)


def between(text: str, name: str, new: str) -> str:
    """`text` with what stands between the two comments of `name` replaced."""
    start, end = f"<!-- {name}: start -->", f"<!-- {name}: end -->"
    head, rest = text.split(start)
    return f"{head}{start}\n{new}\n{end}{rest.split(end)[1]}"


def profile_tables() -> str:
    """One section a profile, the parameters of all first."""
    parts = [f"### Every profile\n\n{_table(common_parameters())}"]
    for name in profile_names():
        profile = load_profile(name)
        limits = [f"start within {profile.start_timeout_s:g} s"] if profile.start_timeout_s else []
        limits += [f"memory {profile.memory_limit_mib} MiB"] if profile.memory_limit_mib else []
        signals = ", ".join(profile.stop_signals)
        words = (
            f"{profile.description}. Limits: {', '.join(limits) or 'none'}. Stopped by {signals}, KILL after {profile.stop_grace_s:g} s."
        )
        parts.append(f"### `{name}`\n\n{words}\n\n{_table(profile.parameters)}")
    return "\n\n".join(parts)


def _table(parameters: Mapping[str, Parameter]) -> str:
    rows = [
        f"| `{name}` | {_kind(parameter)} | {_default(parameter)} | {_cell(parameter.help)} |" for name, parameter in parameters.items()
    ]
    return "\n".join(["| parameter | kind | default | meaning |", "| --- | --- | --- | --- |", *rows])


def _kind(parameter: Parameter) -> str:
    if parameter.choices:
        return ", ".join(f"`{choice}`" for choice in parameter.choices)
    lowest, highest = (None if bound is None else f"{bound:g}" for bound in (parameter.lowest, parameter.highest))
    if lowest and highest:
        return f"{parameter.kind}, {lowest} to {highest}"
    return f"{parameter.kind}, from {lowest}" if lowest else parameter.kind


def _default(parameter: Parameter) -> str:
    if parameter.required:
        return "required"
    if parameter.default is None:
        return "-"
    return {True: "on", False: "off"}[parameter.default] if isinstance(parameter.default, bool) else f"`{parameter.default}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main() -> None:
    FINDINGS.write_text(findings_page())
    PROFILES.write_text(between(PROFILES.read_text(), "profiles", profile_tables()))
    PROBES.write_text(between(PROBES.read_text(), "probes", probes_table()))
    DOCTOR.write_text(between(DOCTOR.read_text(), "screen", f"```\n{doctor_screen()}\n```"))
    readme = between(README.read_text(), "options", options_table())
    README.write_text(between(readme, "failing run", f"```\n{failing_run()}\n```"))


if __name__ == "__main__":
    main()
