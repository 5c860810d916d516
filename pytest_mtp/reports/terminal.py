"""Lines for pytest's terminal: most severe first, cut to the width, nothing in them that a server could have sent raw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_mtp.core.facts import ServerFacts
from pytest_mtp.core.run import CaseResult, RunReport
from pytest_mtp.core.verdict import Measure
from pytest_mtp.reports.digest import (
    OUTCOMES,
    blocking_rows,
    budget_lines,
    by_stratum,
    control_words,
    counts_by_suite,
    hint_of,
    notes,
    number,
    of_class,
    reason_of,
    reasons,
    speculation_words,
)
from pytest_mtp.reports.printable import columns, fit, labelled, pad, printable, wrap

_MOST_BLOCKING, _MOST_OTHERS, _MOST_MEASURES, _MOST_STRATA = 12, 6, 24, 6
_LABEL = 13


def facts_line(facts: ServerFacts) -> str:
    """The server in one line."""
    version = f" {facts.engine_version}" if facts.engine_version else ""
    return printable(
        f"{facts.engine}{version}, model {facts.model}, {facts.endpoint.api_root}, speculation {speculation_words(facts.speculation)}"
    )


def summary_lines(report: RunReport, *, width: int = 80) -> list[str]:
    """The run; every line fits `width` cells. The caller prints the verdict after it."""
    width = max(40, width)
    lines = [
        *(line for facts in report.servers for line in labelled("server", _server_lines(facts), width=width, indent=_LABEL)),
        *labelled("control", [control_words(report.control), *_control_findings(report)], width=width, indent=_LABEL),
        *labelled("budget", budget_lines(report), width=width, indent=_LABEL),
        *_left_out(report, width),
        *_table(_suite_rows(report)),
        *labelled("skipped", _skipped_lines(report), width=width, indent=_LABEL),
        *(line for rows in _measure_tables(report) for line in _fitting(rows, width)),
        *_others("inconclusive, without closing the gate", [r for r in of_class(report, "INCONCLUSIVE") if not r.closes], width),
        *_others("missed, without closing the gate", of_class(report, "missed"), width),
        *labelled("notes", _note_lines(report), width=width, indent=_LABEL),
        *_blocking_lines(report, width),
        *labelled("why", reasons(report), width=width, indent=_LABEL),
    ]
    return [fit(line, width).rstrip() for line in lines]


def _server_lines(facts: ServerFacts) -> list[str]:
    """The speculation on a line of its own: it must not be cut at the edge of the screen."""
    version = f" {facts.engine_version}" if facts.engine_version else ""
    return [
        f"{facts.engine}{version}, model {facts.model}, at {facts.endpoint.api_root}",
        f"speculation {speculation_words(facts.speculation)}",
        *facts.speculation.evidence[:3],
    ]


def _control_findings(report: RunReport) -> list[str]:
    """The control is no item of pytest, so what it found must be understood from here alone."""
    lines: list[str] = []
    for finding in report.control.findings[:4] if report.control else ():
        lines.append(f"{finding.severity} {finding.code}: {finding.title}")
        if finding.severity in ("critical", "regression"):
            lines += finding.detail.splitlines()[:3]
            hint = finding.hint or hint_of(finding.code)
            lines += [f"hint: {hint}"] if hint else []
            lines += [f"evidence: {finding.evidence['file']} in the report's folder"] if "file" in finding.evidence else []
    return lines


def _skipped_lines(report: RunReport) -> list[str]:
    """What was not asked and why: a case that nobody asked is no pass."""
    rows = [f"{printable(node_id, limit=200)}: {printable(why, limit=200)}" for node_id, why in report.run.skipped.items()]
    return [*rows[:_MOST_OTHERS], *_rest(len(rows) - _MOST_OTHERS)]


def _left_out(report: RunReport, width: int) -> list[str]:
    names = [printable(each.node_id, limit=200) for each in report.budget.left_out] if report.budget else []
    return labelled("", [*names[:_MOST_OTHERS], *_rest(len(names) - _MOST_OTHERS)], width=width, indent=_LABEL)


def _suite_rows(report: RunReport) -> list[list[str]]:
    counts = counts_by_suite(report)
    if not counts:
        return []
    used = [name for name in OUTCOMES if name == "PASS" or any(row[name] for row in counts.values())]
    head = ["suite", *(name.lower() for name in used)]
    return [head, *([printable(suite, limit=60), *(str(row[name] or "-") for name in used)] for suite, row in counts.items())]


def _measure_tables(report: RunReport) -> list[list[list[str]]]:
    """A table for the rows that share strata: code and prose here, the conditions of a drafter there."""
    strata, rows = by_stratum(report)
    groups: list[tuple[set[str], list[tuple[str, Mapping[str, Measure]]]]] = []
    for label, of in rows[:_MOST_MEASURES]:
        group = next((group for group in groups if group[0] & of.keys()), None)
        if group is None:
            groups.append(group := (set(), []))
        group[0].update(of)
        group[1].append((label, of))
    return [_measure_rows([name for name in strata if name in shown][:_MOST_STRATA], group) for shown, group in groups]


def _measure_rows(strata: Sequence[str], rows: Sequence[tuple[str, Mapping[str, Measure]]]) -> list[list[str]]:
    lines = [
        [printable(label, limit=60), *(printable(number(of[name]), limit=60) if name in of else "-" for name in strata)]
        for label, of in rows
    ]  # fmt: skip
    return [["measure", *(printable(name, limit=30) for name in strata)], *lines]


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    if not rows:
        return []
    widths = [max(columns(row[at]) for row in rows) for at in range(len(rows[0]))]
    return ["", *("  ".join(pad(cell, width) for cell, width in zip(row, widths, strict=True)) for row in rows)]


def _fitting(rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """The table, or where it is too wide one line a value: a number that is cut is worse than none."""
    table = _table(rows)
    if all(columns(line.rstrip()) <= width for line in table):
        return table
    head, *lines = rows
    values = [[row[0], stratum, cell] for row in lines for stratum, cell in zip(head[1:], row[1:], strict=True) if cell != "-"]
    named = [[name if at == 0 or values[at - 1][0] != name else "", stratum, cell] for at, (name, stratum, cell) in enumerate(values)]
    return _table([["measure", "stratum", "value"], *named])


def _others(label: str, results: Sequence[CaseResult], width: int) -> list[str]:
    if not results:
        return []
    lines = [row for result in results[:_MOST_OTHERS] for row in _entry(printable(result.node_id, limit=200), reason_of(result), width)]
    return ["", f"{label} ({len(results)})", *lines, *_rest(len(results) - _MOST_OTHERS)]


def _note_lines(report: RunReport) -> list[str]:
    """One line a code, with what one of its findings says."""
    rows = [
        f"{code}: {printable(title, limit=200)}" + (f" ({count} times)" if count > 1 else "")
        for code, (count, title) in notes(report).items()
    ]
    return [*rows[:_MOST_OTHERS], *_rest(len(rows) - _MOST_OTHERS)]


def _blocking_lines(report: RunReport, width: int) -> list[str]:
    rows = blocking_rows(report)
    if not rows:
        return [""]
    lines = ["", f"closes the gate ({len(rows)})"]
    for row in rows[:_MOST_BLOCKING]:
        lines += _entry(f"{_words(row.weight, printable(row.code), printable(row.node_id, limit=200))}", row.title, width)
    return [*lines, *_rest(len(rows) - _MOST_BLOCKING), ""]


def _entry(head: str, words: str, width: int) -> list[str]:
    return [f"  {head}", *(f"      {row}" for row in wrap(printable(words), width - 6))]


def _words(*words: str) -> str:
    return " ".join(word for word in words if word)


def _rest(count: int) -> list[str]:
    return [f"  … and {count} more in the report"] if count > 0 else []
