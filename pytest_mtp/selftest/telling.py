"""The detection matrix in words: for a terminal, and as Markdown."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from pytest_mtp.selftest.faults import FAULTS
from pytest_mtp.selftest.matrix import Matrix, Row

_MOST_CASES = 3


def lines_of(made: Matrix, *, width: int = 100) -> list[str]:
    """What would pass unseen first, then what is caught, then the sums."""
    lines: list[str] = []
    unseen = [row for row in made.rows if not row.caught]
    if unseen:
        lines += [f"would pass unseen ({len(unseen)} of {len(made.rows)})", ""]
        for row in unseen:
            lines += textwrap.wrap(f"{_named(row)}: {FAULTS[row.fault].imitates}", width, initial_indent="  ", subsequent_indent="      ")
            why = _why(row)
            lines += textwrap.wrap(why, width, initial_indent="      ", subsequent_indent="      ") if why else []
        lines.append("")
    caught = [row for row in made.rows if row.caught]
    if caught:
        lines += [f"caught ({len(caught)} of {len(made.rows)})", ""]
        widest = max(len(_named(row)) for row in caught)
        lines += [f"  {_named(row):{widest}}  {_mark(row)}  {', '.join(row.codes[:2])}  by {_cases(row)}" for row in caught]
        lines.append("")
    return [*lines, *_sums(made)]


def markdown_of(made: Matrix) -> str:
    """The same as a page."""
    parts = ["# What these suites would catch", "", *_sums(made), ""]
    unseen = [row for row in made.rows if not row.caught]
    if unseen:
        parts += ["## Would pass unseen", "", "| fault | imitates | why |", "| --- | --- | --- |"]
        parts += [f"| `{_named(row)}` | {FAULTS[row.fault].imitates} | {_why(row)} |" for row in unseen]
        parts.append("")
    parts += ["## Matrix", "", *table_of(made.rows)]
    return "\n".join(parts) + "\n"


def table_of(rows: Sequence[Row]) -> list[str]:
    """One line a fault, as Markdown."""
    lines = ["| fault | class | gate | codes | caught by | requests | seconds |", "| --- | --- | --- | --- | --- | --- | --- |"]
    for row in rows:
        codes = ", ".join(f"`{code}`" for code in row.codes[:3]) or "none"
        lines.append(
            f"| `{_named(row)}` | {row.kind} | {_mark(row).strip()} | {codes} | {_cases(row)} | {row.requests} | {row.seconds:.1f} |"
        )
    return lines


def _sums(made: Matrix) -> list[str]:
    caught = sum(row.caught for row in made.rows)
    closed = sum(row.closed for row in made.rows)
    requests = sum(row.requests for row in made.rows)
    words = f"{caught} of {len(made.rows)} caught, {closed} of them close the gate; {requests:,} requests. Suites: {', '.join(made.suites)}"
    honest = made.false_alarms
    runs = len(made.honest)
    plural = "s" if runs != 1 else ""
    alarm = f"false alarms in {runs} honest run{plural}: {'; '.join(honest)}" if honest else f"no false alarm in {runs} honest run{plural}"
    return [words, alarm]


def _named(row: Row) -> str:
    return row.fault if row.rate >= 1 else f"{row.fault}@{row.rate:g}"


def _mark(row: Row) -> str:
    return "closed" if row.closed else "told  " if row.caught else "open  "


def _why(row: Row) -> str:
    reached = f"not reached: {', '.join(row.unreached)}" if row.unreached else ""
    return "; ".join(filter(None, (FAULTS[row.fault].unseen, reached)))


def _cases(row: Row) -> str:
    return ", ".join(_some(row.cases))


def _some(cases: Sequence[str]) -> Iterator[str]:
    yield from cases[:_MOST_CASES]
    if len(cases) > _MOST_CASES:
        yield f"and {len(cases) - _MOST_CASES} more"


def alone(rows: Iterable[Row], kinds: Sequence[str]) -> dict[str, list[str]]:
    """For each kind of case the faults that no case of another kind sees. Control and start count as kinds of their own."""
    found: dict[str, list[str]] = {kind: [] for kind in kinds}
    for row in rows:
        seers = {seen.kind for seen in row.by}
        if len(seers) == 1:
            (only,) = seers
            found.setdefault(only, []).append(row.fault)
    return found
