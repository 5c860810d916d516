"""What a visit to a server comes to: the first sentence, what is not known, and what to do next. Pure words over a report."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_mtp.core.facts import Control, ServerFacts, SpecDecode
from pytest_mtp.core.run import CaseResult, RunReport
from pytest_mtp.core.verdict import Finding, by_severity
from pytest_mtp.reports.digest import hint_of

EXIT_CODES = {"pass": 0, "inconclusive": 0, "fail": 1, "blocked": 69}
"""By the verdict of the gate: what harms is 1, a server that cannot be used 69 (EX_UNAVAILABLE), as for the gate itself."""

_OPTION = re.compile(r"--mtp-(model|api-key-env|timeout|checkpoint)\b")
_UNSEEN = re.compile(r"(?i)\b(drafts?|counters?|acceptance|speculation)\b")


def headline(report: RunReport) -> str:
    """One sentence: an unused head on disk before all else, then harm, then whether speculation is on and how well."""
    if not report.servers:
        first = report.gate.blocking[0] if report.gate.blocking else None
        return f"This server cannot be used: {first.title}" if first else "This server cannot be used."
    unused = unused_head(report)
    if unused is not None:
        return f"The head is on disk and unused: {_set(unused)}"
    if report.gate.verdict == "blocked":
        return f"The server stopped answering: {report.gate.blocking[0].title}"
    if report.gate.verdict == "fail":
        first = report.gate.blocking[0]
        return f"Something is wrong, {first.code}: {first.title}" if first.code else f"Something is wrong: {first.title}"
    return _state(report.servers[0].speculation)


def unused_head(report: RunReport) -> Finding | None:
    """The founding case of this project: the checkpoint holds a head, and its server does not speculate."""
    return next((finding for finding in findings(report) if finding.code == "SPEC.inactive" and "flags" in finding.evidence), None)


def findings(report: RunReport) -> list[Finding]:
    """Of the control and of every probe, each once, most severe first."""
    control = report.control.findings if report.control else ()
    every = [*control, *(finding for result in report.cases for finding in result.verdict.findings)]
    return by_severity(list({(finding.code, finding.title): finding for finding in every}.values()))


def unknown(report: RunReport) -> list[CaseResult]:
    """Probes for which the server does not offer what they need."""
    return [result for result in report.cases if result.verdict.outcome == "INCONCLUSIVE"]


def next_steps(report: RunReport) -> list[str]:
    """What to do, weightiest first, each once; how to judge the answers themselves comes last."""
    return list(dict.fromkeys(_steps(report)))


def own_words(text: str) -> str:
    """Options of the pytest plugin under the names that they have here."""
    return _OPTION.sub(r"--\1", text)


def _steps(report: RunReport) -> Iterator[str]:
    if not report.servers:
        notes = report.run.notes or [hint_of(block.code) for block in report.gate.blocking]
        yield from (own_words(note) for note in notes if note)
        return
    facts = report.servers[0]
    unused = unused_head(report)
    if unused is not None:
        flags = unused.evidence.get("flags")
        yield f"Restart the server with {flags}, then visit it again." if flags else unused.hint
    for finding in findings(report):
        hint = finding.hint or (hint_of(finding.code) if finding.severity in ("critical", "regression") else "")
        if hint and finding is not unused:
            yield f"{finding.code}: {own_words(hint)}"
    if facts.speculation.state == "unknown":
        yield from _to_see(facts)
    if report.gate.verdict != "blocked":
        model = f" --mtp-model {facts.model}" if len(facts.models) > 1 else ""
        yield f"Judge its answers: pytest --mtp-server {facts.endpoint.root}{model} --mtp-suite builtin:smoke"


def _to_see(facts: ServerFacts) -> Iterator[str]:
    """What would make the drafts visible, in the engine's own words."""
    lines = [line for line in facts.not_offered if _UNSEEN.search(line)]
    yield from (f"To see whether it drafts: {line}" for line in lines[:3])


def _set(unused: Finding) -> str:
    flags = unused.evidence.get("flags")
    return f"set {flags}" if flags else unused.hint


def _state(speculation: SpecDecode) -> str:
    method = f" ({speculation.method}{f', depth {speculation.depth}' if speculation.depth else ''})" if speculation.method else ""
    if speculation.state == "active":
        return f"Speculation is on{method}{_how_well(speculation)}."
    if speculation.state == "inactive":
        return "This server does not speculate, and nothing is wrong with it otherwise."
    if speculation.state == "dead":
        return f"Speculation is configured{method} and dead."
    why = speculation.evidence[0] if speculation.evidence else "it tells nothing of drafts"
    return f"Whether this server speculates cannot be seen: {why}."


def _how_well(speculation: SpecDecode) -> str:
    counts = speculation.acceptance
    if counts is None or counts.rate is None:
        return ""
    length = f", {counts.mean_length:.2f} tokens a step" if counts.mean_length else ""
    return f": {100 * counts.rate:.0f} % of the drafts are accepted{length}"


def was_blocked(control: Control) -> Finding | None:
    """The trouble with the surroundings that left the control without any answer; None where answers came."""
    if control.usable:
        return None
    return next((finding for finding in control.findings if finding.code.startswith("INFRA.")), None)
