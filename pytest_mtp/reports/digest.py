"""What a reader wants to see of a run, in the order of its weight; the same for every form of report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_mtp.core.codes import CODES
from pytest_mtp.core.facts import Control, SpecDecode
from pytest_mtp.core.run import CaseResult, RunReport
from pytest_mtp.core.verdict import Measure, by_severity

OUTCOMES = ("PASS", "FAIL", "missed", "INCONCLUSIVE", "BLOCKED")
_EARLY = "the run ended early: this is what was measured until then"
_FIRST = (
    "acceptance_rate", "mean_acceptance_length", "effective_length", "acceptance_at_position", "conditional_at_position",
    "user_e2e_tps", "ttft",
)  # fmt: skip
_RANK: Mapping[str, int] = {"critical": 0, "regression": 1, "blocked": 2, "inconclusive": 3, "model": 4, "note": 5}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One finding of one case. `weight` is its severity, or `blocked` and `inconclusive` where no verdict was reached."""

    weight: str
    code: str
    node_id: str
    title: str


def reasons(report: RunReport) -> list[str]:
    """The conclusion in lines; that a run ended early is always one of them."""
    early = [] if report.run.complete or any("ended early" in reason for reason in report.gate.reasons) else [_EARLY]
    return [*early, *report.gate.reasons]


def budget_lines(report: RunReport) -> list[str]:
    """What was allowed, planned and spent, and what was left out; nothing without a budget."""
    use = report.budget
    if use is None:
        return []
    limits = [f"at most {use.limit_requests} requests"] if use.limit_requests is not None else []
    limits += [f"at most {use.limit_s:g} s"] if use.limit_s is not None else []
    planned = f"{use.planned_cases} cases, {use.planned_requests} requests at most"
    planned += f", about {use.planned_s:.0f} s one at a time" if use.planned_s is not None else ""
    lines = [
        f"{use.budget} ({', '.join(limits) or 'no limit'})",
        f"planned {planned}",
        f"spent {use.requests} requests, {use.seconds:.0f} s",
    ]
    if use.looks:
        fewest, most = min(use.looks.values()), max(use.looks.values())
        lines.append(
            f"{len(use.looks)} probes look {fewest} to {most} times" if fewest != most else f"{len(use.looks)} probes look {most} times"
        )
    if use.left_out:
        lines.append(f"left out {len(use.left_out)} cases")
    return lines


def hint_of(code: str) -> str:
    """What the table of codes advises; empty for a code of somebody's plugin."""
    return CODES[code].hint if code in CODES else ""


def blocking_rows(report: RunReport) -> list[Row]:
    """What closes the gate, weightiest first. A code's own severity stands in where the case is not in the report."""
    outcomes = {result.node_id: result.verdict.outcome for result in report.cases}
    known = {
        (result.node_id, finding.code, finding.title): finding.severity for result in report.cases for finding in result.verdict.findings
    }
    rows = []
    for block in report.gate.blocking:
        default = CODES[block.code].severity if block.code in CODES else "critical"
        weight: str = known.get((block.node_id, block.code, block.title)) or ("critical" if default == "case" else default)
        if outcomes.get(block.node_id) in ("BLOCKED", "INCONCLUSIVE"):
            weight = outcomes[block.node_id].lower()
        rows.append(Row(weight=weight, code=block.code, node_id=block.node_id, title=block.title))
    return sorted(rows, key=lambda row: _RANK[row.weight])


def class_of(result: CaseResult) -> str:
    """Its outcome; `missed` for a wrong answer that does not close the gate."""
    return "missed" if result.verdict.outcome == "FAIL" and not result.closes else result.verdict.outcome


def counts_by_suite(report: RunReport) -> dict[str, dict[str, int]]:
    """Cases by suite and by the words of OUTCOMES."""
    counts: dict[str, dict[str, int]] = {}
    for result in report.cases:
        row = counts.setdefault(result.suite, dict.fromkeys(OUTCOMES, 0))
        row[class_of(result)] += 1
    return counts


def of_class(report: RunReport, name: str) -> list[CaseResult]:
    """The cases of one class, in the order of the run."""
    return [result for result in report.cases if class_of(result) == name]


def notes(report: RunReport) -> dict[str, tuple[int, str]]:
    """What is worth knowing and closes nothing: how often each code came, and its first title."""
    found: dict[str, tuple[int, str]] = {}
    for result in report.cases:
        for finding in result.verdict.findings:
            if finding.severity == "note":
                count, title = found.get(finding.code, (0, finding.title))
                found[finding.code] = (count + 1, title)
    return found


def reason_of(result: CaseResult) -> str:
    """The one line of a case: the verdict's reason, else its weightiest finding."""
    findings = by_severity(result.verdict.findings)
    return result.verdict.reason or (f"{findings[0].code}: {findings[0].title}" if findings else "")


def measures(report: RunReport) -> list[tuple[CaseResult, Measure]]:
    """Every measure with its case; acceptance before speed before the rest, else in the order of the run."""
    found = [(result, measure) for result in report.cases for measure in result.verdict.measures]
    return sorted(found, key=lambda pair: next((at for at, name in enumerate(_FIRST) if pair[1].name.startswith(name)), len(_FIRST)))


def condition_rows(report: RunReport) -> list[tuple[CaseResult, Measure]]:
    """What each condition of a probe can exclude."""
    return [pair for pair in measures(report) if pair[1].name == "excludable_fault_rate"]


def by_stratum(report: RunReport) -> tuple[list[str], list[tuple[str, dict[str, Measure]]]]:
    """The strata, and a row for each measure that has them; the case is named where two cases measure the same."""
    conditions = [measure for _, measure in condition_rows(report)]
    found = [(result, measure) for result, measure in measures(report) if measure.stratum and measure not in conditions]
    strata = list(dict.fromkeys(measure.stratum for _, measure in found))
    cases: dict[str, set[str]] = {}
    for result, measure in found:
        cases.setdefault(measure.name, set()).add(result.node_id)
    rows: dict[str, dict[str, Measure]] = {}
    for result, measure in found:
        label = measure.name if len(cases[measure.name]) == 1 else f"{measure.name} ({result.verdict.case_id})"
        rows.setdefault(label, {})[measure.stratum] = measure
    return strata, list(rows.items())


def number(measure: Measure) -> str:
    """The value with its unit and, where there is one, its interval or spread."""
    if measure.value is None:
        return "not available"
    as_share = measure.unit == "1"

    def say(value: float) -> str:
        return f"{100 * value:.1f}" if as_share else f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"

    unit = " %" if as_share else f" {measure.unit}"
    if measure.interval is None:
        return say(measure.value) + unit
    return f"{say(measure.value)}{unit} [{say(measure.interval.low)}, {say(measure.interval.high)}]"


def interval_words(measure: Measure) -> str:
    """What the brackets mean."""
    if measure.interval is None:
        return ""
    return measure.interval.method if measure.interval.level == 1.0 else f"{100 * measure.interval.level:g} % {measure.interval.method}"


def speculation_words(speculation: SpecDecode) -> str:
    """The state first, then what is configured and what was accepted."""
    parts: list[str] = [speculation.state]
    if speculation.method:
        parts.append(speculation.method + (f", depth {speculation.depth}" if speculation.depth else ""))
    counts = speculation.acceptance
    if counts is not None:
        rate = f" = {100 * counts.rate:.1f} %" if counts.rate is not None else ""
        parts.append(f"{counts.accepted} of {counts.drafted} drafts accepted{rate}")
    return "; ".join(parts)


def control_words(control: Control | None) -> str:
    """What a later difference must exceed, in a line."""
    if control is None:
        return "not measured"
    tokens = "" if control.disagree_tokens is None else f", {control.disagree_tokens} by token"
    words = (
        f"{control.prompts} prompts x {control.repeats}: {control.disagree_text} disagree as text{tokens}, {control.disagree_graded} by "
        f"grade (upper bound {100 * control.upper:.0f} %)"
    )
    if control.step_checked:
        words += f"; {control.step_checked} steps held against undrafted ones: {control.step_material} material, "
        words += f"{control.step_neartie} near ties"
    return words if control.usable else f"UNUSABLE, {control.reason}; {words}"
