"""`summary.md`: the run on one page, for a job summary or a pull request. Every word of a stranger is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pytest_mtp.core.facts import ServerFacts
from pytest_mtp.core.run import CaseResult, RunReport
from pytest_mtp.core.verdict import Measure
from pytest_mtp.reports.digest import (
    OUTCOMES,
    blocking_rows,
    budget_lines,
    condition_rows,
    control_words,
    counts_by_suite,
    hint_of,
    interval_words,
    measures,
    notes,
    number,
    of_class,
    reason_of,
    reasons,
    speculation_words,
)
from pytest_mtp.reports.escape import code, prose

_MOST_BLOCKING, _MOST_OTHERS, _MOST_MEASURES = 50, 30, 200
MAX_BYTES = 900_000  # GitHub takes 1 MiB for the summaries of a step
_HEADLINE = {
    "pass": "Gate open",
    "fail": "Gate CLOSED",
    "inconclusive": "Gate CLOSED: inconclusive",
    "blocked": "Gate CLOSED: the server could not be judged",
}


def summary_markdown(report: RunReport) -> str:
    """At most `MAX_BYTES` of UTF-8."""
    sections = [
        _headline(report),
        _servers(report.servers),
        ["## Control", "", prose(control_words(report.control)), "", *_control_findings(report)],
        _budget(report),
        _blocking(report),
        _measures(report),
        _counts(report),
        _others("Inconclusive", of_class(report, "INCONCLUSIVE")),
        _others("Missed without closing the gate", of_class(report, "missed")),
        _notes(report),
    ]
    return _capped("\n".join(line for section in sections for line in section))


def _headline(report: RunReport) -> list[str]:
    lines = [f"# {_HEADLINE[report.gate.verdict]}", "", *(f"- {prose(reason)}" for reason in reasons(report))]
    lines += [f"- {prose(note)}" for note in report.run.notes]
    run = report.run
    lines.append(f"- policy {report.gate.policy}, pytest-mtp {prose(run.version)}, {prose(run.started_at)}, {run.duration_s:.0f} s")
    if report.gate.smallest_regression_seen is not None:
        lines.append(f"- a regression smaller than {100 * report.gate.smallest_regression_seen:.1f} % may go unseen with these cases")
    return [*lines, ""]


def _servers(servers: Sequence[ServerFacts]) -> list[str]:
    lines = []
    for facts in servers:
        version = f" {prose(facts.engine_version)}" if facts.engine_version else ""
        lines += ["## Server", "", f"{prose(facts.engine)}{version}, model {code(facts.model)}, at {code(facts.endpoint.api_root)}"]
        lines += ["", f"**Speculation:** {prose(speculation_words(facts.speculation))}", ""]
        lines += [f"- {prose(line)}" for line in facts.speculation.evidence[:10]]
        lines.append("")
    return lines


def _control_findings(report: RunReport) -> list[str]:
    found = report.control.findings[:10] if report.control else ()
    return [*(f"- {finding.severity} {code(finding.code)}: {prose(finding.title)}" for finding in found), *([""] if found else [])]


def _budget(report: RunReport) -> list[str]:
    use = report.budget
    if use is None:
        return []
    lines = ["## Budget", "", *(f"- {prose(line)}" for line in budget_lines(report)), ""]
    if not use.left_out:
        return lines
    rows = ((code(each.node_id), str(each.requests), prose(each.reason)) for each in use.left_out[:_MOST_MEASURES])
    table = _table(("case", "requests", "why"), rows)
    lines += [f"<details><summary>Left out ({len(use.left_out)})</summary>", "", *table, ""]
    rest = len(use.left_out) - _MOST_MEASURES
    return [*lines, *([f"… and {rest} more in the JSON report.", ""] if rest > 0 else []), "</details>", ""]


def _blocking(report: RunReport) -> list[str]:
    rows = blocking_rows(report)
    if not rows:
        return []
    shown = rows[:_MOST_BLOCKING]
    lines = [
        f"## What closes the gate ({len(rows)})",
        "",
        *_table(
            ("severity", "code", "case", "what"),
            ((row.weight, code(row.code) if row.code else "", code(row.node_id), prose(row.title)) for row in shown),
        ),
    ]
    if len(rows) > len(shown):
        lines += ["", f"… and {len(rows) - len(shown)} more in the JSON report."]
    hints = {row.code: hint for row in shown if (hint := hint_of(row.code))}
    return [*lines, "", *(f"- {code(name)}: {prose(hint)}" for name, hint in hints.items()), ""]


def _measures(report: RunReport) -> list[str]:
    """Those of strata (code, prose) in sight; those of single cases folded."""
    conditions = [measure for _, measure in condition_rows(report)]
    found = [pair for pair in measures(report) if pair[1] not in conditions]
    main, single = [pair for pair in found if pair[1].stratum], [pair for pair in found if not pair[1].stratum]
    lines = ["## Measures", "", *_measure_table(main)] if main else []
    if single:
        lines += [f"<details><summary>Measures of single cases ({len(single)})</summary>", "", *_measure_table(single), "</details>", ""]
    if conditions:
        rows = _measure_table(condition_rows(report))
        lines += [f"<details><summary>What clean probes exclude ({len(conditions)} conditions)</summary>", "", *rows, "</details>", ""]
    return lines


def _measure_table(found: Sequence[tuple[CaseResult, Measure]]) -> list[str]:
    rows = [
        (
            code(result.verdict.case_id),
            code(measure.name),
            prose(measure.stratum),
            prose(number(measure)),
            str(measure.n),
            prose("; ".join(filter(None, (interval_words(measure), measure.note)))),
        )
        for result, measure in found[:_MOST_MEASURES]
    ]
    rest = [f"… and {len(found) - _MOST_MEASURES} more in the JSON report.", ""] if len(found) > _MOST_MEASURES else []
    return [*_table(("case", "measure", "of", "value", "n", "note"), rows), "", *rest]


def _counts(report: RunReport) -> list[str]:
    counts = counts_by_suite(report)
    if not counts:
        return []
    rows = ((code(suite), *(str(row[name]) for name in OUTCOMES)) for suite, row in counts.items())
    return ["## Cases", "", *_table(("suite", *(name.lower() for name in OUTCOMES)), rows), ""]


def _others(title: str, results: Sequence[CaseResult]) -> list[str]:
    if not results:
        return []
    lines = [f"- {code(result.node_id)}: {prose(reason_of(result))}" for result in results[:_MOST_OTHERS]]
    rest = [f"- … and {len(results) - _MOST_OTHERS} more"] if len(results) > _MOST_OTHERS else []
    return [f"## {title} ({len(results)})", "", *lines, *rest, ""]


def _notes(report: RunReport) -> list[str]:
    found = notes(report)
    if not found:
        return []
    rows = ((code(name), str(count), prose(title)) for name, (count, title) in list(found.items())[:_MOST_OTHERS])
    return ["## Worth knowing", "", *_table(("code", "times", "for example"), rows), ""]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]


def _capped(text: str) -> str:
    data = text.encode("utf-8", "backslashreplace")
    if len(data) <= MAX_BYTES:
        return text
    whole_lines = data[:MAX_BYTES].decode("utf-8", "ignore").rpartition("\n")[0]
    return f"{whole_lines}\n\n… cut at {MAX_BYTES} bytes; the JSON report is complete.\n"
