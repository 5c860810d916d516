"""The detection matrix: each fault of the catalogue against the selected suites."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from pytest_mtp.core.errors import UsageError, nearest
from pytest_mtp.selftest.fault import Fault
from pytest_mtp.selftest.faults import FAULTS
from pytest_mtp.selftest.trial import Seen, Trial, run_trial

Runner = Callable[..., Trial]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A fault at a rate, and what one run made of it.

    `by` are the findings that the honest fake in the same setting does not give: those under a code that the fault is known
    for, and else all that harm. `expected` tells which. `closed`: the gate was closed where the honest run's was open.
    """

    fault: str
    kind: str
    rate: float
    seed: int
    by: tuple[Seen, ...]
    expected: bool
    closed: bool
    requests: int
    seconds: float
    unreached: tuple[str, ...] = ()

    @property
    def caught(self) -> bool:
        """Somebody who reads the report learns of it: from a finding, or from a condition that is not reached any more."""
        return bool(self.by) or bool(self.closed and self.unreached)

    @property
    def cases(self) -> tuple[str, ...]:
        """Where."""
        return tuple(dict.fromkeys(seen.case for seen in self.by)) or (self.unreached if self.caught else ())

    @property
    def codes(self) -> tuple[str, ...]:
        """As what."""
        return tuple(dict.fromkeys(seen.code for seen in self.by)) or (("INCONCLUSIVE",) if self.caught else ())

    def to_dict(self) -> dict[str, Any]:
        """Builtins."""
        return {**dataclasses.asdict(self), "caught": self.caught, "cases": list(self.cases), "codes": list(self.codes)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """`honest` is what the honest fake was accused of, by setting: each line of it is a false alarm or a true note."""

    suites: tuple[str, ...]
    rows: tuple[Row, ...]
    honest: Mapping[str, Trial]

    @property
    def false_alarms(self) -> tuple[str, ...]:
        """What closed the gate of the honest fake."""
        return tuple(
            f"{name or 'as it is'}: {seen.case} {seen.code}" for name, trial in self.honest.items() for seen in trial.seen if seen.closes
        )

    def to_dict(self) -> dict[str, Any]:
        """Builtins."""
        return {
            "suites": list(self.suites),
            "faults": [_told(row) for row in self.rows],
            "false_alarms": list(self.false_alarms),
        }


def _told(row: Row) -> dict[str, Any]:
    fault = FAULTS[row.fault]
    return {**row.to_dict(), "imitates": fault.imitates, "reports": list(fault.reports), "unseen": fault.unseen}


def chosen(names: Iterable[str]) -> tuple[Fault, ...]:
    """The faults of these names, or of these classes; all for none. Raises UsageError with the nearest word."""
    kinds = {fault.kind for fault in FAULTS.values()}
    found: dict[str, Fault] = {}
    for name in names:
        if name in FAULTS:
            found[name] = FAULTS[name]
        elif name in kinds:
            found |= {fault.name: fault for fault in FAULTS.values() if fault.kind == name}
        else:
            raise UsageError(f"no fault and no class of faults {name!r}{nearest(name, (*FAULTS, *sorted(kinds)))}")
    return tuple(found.values()) or tuple(FAULTS.values())


def matrix(
    suites: Sequence[str],
    faults: Sequence[Fault],
    *,
    rates: Sequence[float] = (1.0,),
    seeds: Sequence[int] = (0,),
    processes: int = 2,
    say: Callable[[str], None] = lambda _: None,
    run: Runner = run_trial,
) -> Matrix:
    """Run the suites once honest for each setting, then once for each fault, rate and seed. Raises UsageError for wrong suites."""
    settings = {_named(fault): fault.setting for fault in faults}
    with ThreadPoolExecutor(max(1, processes)) as pool:
        honest = dict(zip(settings, pool.map(lambda setting: run(suites, setting=setting), settings.values()), strict=True))
        wanted = [(fault, rate, seed) for fault in faults for rate in rates for seed in seeds]

        def one(number: int, fault: Fault, rate: float, seed: int) -> Row:
            word = fault.name if rate >= 1 else f"{fault.name}@{rate:g}"
            trial = run(suites, faults=[word], setting=fault.setting, seed=seed)
            row = _row(fault, rate, seed, trial, honest[_named(fault)])
            say(f"{number + 1} of {len(wanted)}: {word}, {', '.join(row.codes[:3]) or 'unseen'}")
            return row

        jobs = [pool.submit(one, number, *job) for number, job in enumerate(wanted)]
        try:
            rows = tuple(job.result() for job in jobs)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return Matrix(suites=tuple(suites), rows=rows, honest=honest)


def _named(fault: Fault) -> str:
    return "&".join(f"{name}={value}" for name, value in sorted(fault.setting.items()))


def _row(fault: Fault, rate: float, seed: int, trial: Trial, honest: Trial) -> Row:
    known = {(seen.case, seen.code) for seen in honest.seen}
    new = [seen for seen in trial.seen if (seen.case, seen.code) not in known]
    due = tuple(seen for seen in new if seen.code in fault.expected)
    other = tuple(seen for seen in new if seen.closes and not seen.code.startswith(("PERF.", "SUITE.", "BASE.")))
    return Row(
        fault=fault.name,
        kind=fault.kind,
        rate=rate,
        seed=seed,
        by=due or other,
        expected=bool(due),
        closed=honest.open and not trial.open,
        requests=trial.requests,
        seconds=round(trial.seconds, 2),
        unreached=tuple(name for name in trial.unreached if name not in honest.unreached),
    )
