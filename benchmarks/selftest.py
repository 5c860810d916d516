"""What the standard plan and the probes catch of the fault catalogue, at which rates, and which probe catches what alone.

    python benchmarks/selftest.py [--rows FILE] [--processes N] [--write]

Every fault once at rate 1.0; a choice of faults that strike requests one by one at rates 0.3, 0.1 and 0.03 with three seeds. Each row
is a pytest run against the fake engine in a process of its own. To save time the golden suites of the standard plan (arithmetic,
facts, code, prose) and its throughput case are run only for faults that nothing else caught. `--rows` keeps finished rows in a file
of JSON lines, so that a run that was interrupted goes on, and one after a change measures what the change may have moved: delete
those lines. `--write` renews selftest.md beside this file.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from pytest_mtp.checks.kinds import PROBES  # noqa: E402  # the package beside us, installed or not
from pytest_mtp.judge.statistics import clopper_pearson  # noqa: E402  # as above
from pytest_mtp.selftest.fault import Fault  # noqa: E402  # as above
from pytest_mtp.selftest.faults import FAULTS  # noqa: E402  # as above
from pytest_mtp.selftest.matrix import Row, matrix  # noqa: E402  # as above
from pytest_mtp.selftest.telling import alone, table_of  # noqa: E402  # as above
from pytest_mtp.selftest.trial import Seen  # noqa: E402  # as above

FIRST = ("smoke", "json", "tools", "server", "speculation", "probes")
REST = ("arithmetic", "facts", "code", "prose", "throughput")
RATES = (0.3, 0.1, 0.03)
SEEDS = (1, 2, 3)
CURVE = (
    "lost-tail", "finish-reason", "truncated-stream", "stream-drops-calls", "usage-mismatch", "stop-ignored", "torn-characters",
    "stuttering-stream", "error-in-stream", "hollow-logprobs",
)  # fmt: skip
"""Faults that strike requests one by one: a fault in the model or its cache strikes a conversation always or never."""

BEYOND = frozenset({
    "slow", "slow-in-a-crowd", "slow-after-long-prompts", "slow-when-sampled", "weak-drafter", "barely-accepts", "doubled-words",
    "late-flip",     "verify-bug-after-long-prompts",
})  # fmt: skip
"""They need a baseline, or the same server without speculation."""


def main() -> int:
    parser = argparse.ArgumentParser(description="the detection matrix of the standard plan and the probes")
    parser.add_argument("--rows", type=Path, help="finished rows, one JSON object a line")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seeds", type=int, nargs="*", default=SEEDS, help="of the runs at lower rates")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    kept = _read(options.rows)
    rows = _measured(list(FAULTS.values()), FIRST, kept, options)
    missed = [FAULTS[row.fault] for row in rows if not row.caught]
    again = {row.fault: row for row in _measured(missed, REST, kept, options)}
    full = [again.get(row.fault, row) if again.get(row.fault, row).caught else row for row in rows]
    curve = [FAULTS[name] for name in CURVE if name in FAULTS]
    slow = [row for rate in RATES for seed in options.seeds for row in _measured(curve, FIRST, kept, options, rate=rate, seed=seed)]
    page = "\n".join(_page(full, slow))
    sys.stdout.write(page)
    if options.write:
        (HERE / "selftest.md").write_text(page, encoding="utf-8")
    return 0


def _measured(
    faults: Sequence[Fault], suites: Sequence[str], kept: dict[str, Row], options: argparse.Namespace, *, rate: float = 1.0, seed: int = 0
) -> list[Row]:
    """In parts, so that what is finished is kept."""
    keys = {fault.name: f"{fault.name}@{rate:g}/{seed}/{suites[0]}" for fault in faults}
    open_ = [fault for fault in faults if keys[fault.name] not in kept]
    groups: dict[str, list[Fault]] = {}
    for fault in open_:
        groups.setdefault(json.dumps(dict(fault.setting), sort_keys=True), []).append(fault)
    for group in groups.values():
        made = matrix(
            [f"builtin:{name}" for name in suites], group, rates=(rate,), seeds=(seed,), processes=options.processes,
            say=lambda words: print(f"{time.strftime('%H:%M:%S')} {words}", file=sys.stderr, flush=True),
        )  # fmt: skip
        for alarm in made.false_alarms:
            print(f"FALSE ALARM {alarm}", file=sys.stderr, flush=True)
        for row in made.rows:
            kept[keys[row.fault]] = row
            if options.rows:
                with options.rows.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"key": keys[row.fault], **row.to_dict()}) + "\n")
    return [kept[keys[fault.name]] for fault in faults]


def _read(path: Path | None) -> dict[str, Row]:
    if path is None or not path.is_file():
        return {}
    return {plain["key"]: row_of(plain) for line in path.read_text(encoding="utf-8").splitlines() if (plain := json.loads(line))}


def row_of(plain: dict[str, Any]) -> Row:
    return Row(
        fault=plain["fault"], kind=plain["kind"], rate=plain["rate"], seed=plain["seed"], by=tuple(Seen(**each) for each in plain["by"]),
        expected=plain["expected"], closed=plain["closed"], requests=plain["requests"], seconds=plain["seconds"],
        unreached=tuple(plain["unreached"]),
    )  # fmt: skip


def _page(rows: Sequence[Row], slow: Sequence[Row]) -> Iterable[str]:
    yield from _head(rows)
    yield from _missed(rows)
    yield from _by_rate(rows, slow)
    yield from _alone(rows)
    yield from ("## Matrix", "", *table_of(rows), "")


def _head(rows: Sequence[Row]) -> Iterable[str]:
    caught = sum(row.caught for row in rows)
    known = sum(row.caught and (row.expected or not row.by) for row in rows)
    due = [row for row in rows if row.fault not in BEYOND]
    seen = sum(row.caught for row in due)
    closed = sum(row.closed for row in rows)
    reported = [row for row in rows if FAULTS[row.fault].reports]
    classes, beyond = len({row.kind for row in reported}), len(rows) - len(due)
    return (
        "# What the gate sees of known faults",
        "",
        f"Made by `python benchmarks/selftest.py --write` with Python {platform.python_version()}.",
        "",
        f"{len(rows)} faults, {len(reported)} of them made after public reports of {classes} classes,",
        "in the fake engine at rate 1.0, one run each, against the standard plan and the probes:",
        f"**{caught} of {len(rows)} are caught ({caught / len(rows):.1%})**, {known} of them under a code that the fault is known for",
        f"or as a condition that is not reached any more; {closed} close the gate, the others are told as notes or as capability.",
        f"{beyond} faults show only beside a baseline or beside the same server without speculation, which these suites lack; of the",
        f"other {len(due)}, {seen} are caught ({seen / len(due):.1%}).",
        "",
        "What these figures are, and are not:",
        "",
        "- A fault is caught when there is a finding that the honest fake in the same setting does not give, under a code that the fault",
        "  is known for or else one that closes the gate, or when a condition is not reached any more and that closes the gate.",
        "- The faults are imitations of ours, and the probes were mended where the first run of this page missed some of them (penalties,",
        "  stop at every cap, words beside calls, reasoning under a forced choice and after a result, drafts under load, empty arguments,",
        "  reasoning beyond its count). It is a test of what is known, and no estimate for faults that nobody has reported.",
        "- To save time arithmetic, facts, code, prose and throughput ran only for faults that nothing else caught; requests and seconds",
        "  below are without them. Seconds are those of a machine that was busy with other work.",
        "- Rows are kept from run to run, and were not all measured on one commit: a probe that was added later is missing from older",
        "  ones, and may see more than is written here.",
        "",
    )


def _missed(rows: Sequence[Row]) -> Iterable[str]:
    yield from ("## Not caught", "", "| fault | class | imitates | why |", "| --- | --- | --- | --- |")
    for row in rows:
        if not row.caught:
            fault = FAULTS[row.fault]
            yield f"| `{row.fault}` | {row.kind} | {fault.imitates} | {fault.unseen or 'a weakness of the suites'} |"
    yield ""


def _by_rate(rows: Sequence[Row], slow: Sequence[Row]) -> Iterable[str]:
    names = sorted({row.fault for row in slow})
    yield from ("## Detection by rate", "")
    seeds = len({row.seed for row in slow})
    yield f"{len(names)} faults that strike requests one by one, one run a fault and seed ({seeds} at the lower rates): {', '.join(names)}."
    yield "Intervals are exact at 95 % (Clopper-Pearson) over runs; runs of one fault are alike, so that they are somewhat too narrow."
    yield from ("", "| rate | runs | caught | share | interval |", "| ---: | ---: | ---: | ---: | --- |")
    base = [row for row in rows if row.fault in names]
    for rate, group in ((1.0, base), *((rate, [row for row in slow if row.rate == rate]) for rate in RATES)):
        if group:
            hits = sum(row.caught for row in group)
            bounds = clopper_pearson(hits, len(group))
            yield f"| {rate:g} | {len(group)} | {hits} | {hits / len(group):.0%} | {bounds.low:.0%} to {bounds.high:.0%} |"
    yield ""


def _alone(rows: Sequence[Row]) -> Iterable[str]:
    yield from ("## What a kind of case catches alone", "")
    yield "Faults that no case of another kind sees. A kind that stands alone nowhere is named too: it confirms what others see."
    yield from ("", "| kind of case | alone | sees in all | faults that it alone sees |", "| --- | ---: | ---: | --- |")
    kinds = [*sorted(PROBES), "golden", "tools", "acceptance", "drafting", "admission", "identity", "control"]
    for kind, names in alone(rows, kinds).items():
        seen = sum(any(each.kind == kind for each in row.by) for row in rows)
        yield f"| {kind} | {len(names)} | {seen} | {', '.join(f'`{name}`' for name in names)} |"
    yield ""


if __name__ == "__main__":
    sys.exit(main())
