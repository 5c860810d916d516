"""`pytest-mtp doctor` as text: one screen, the first sentence first, nothing in it that a server could have sent raw."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from pytest_mtp.core.facts import Acceptance, ServerFacts
from pytest_mtp.core.run import CaseResult, RunReport
from pytest_mtp.core.verdict import Measure
from pytest_mtp.reports.diagnosis import findings, headline, next_steps, own_words
from pytest_mtp.reports.digest import control_words, measures, number, reason_of
from pytest_mtp.reports.printable import fit, labelled, printable, wrap

_INDENT = 13
_MOST = 12


def doctor_lines(report: RunReport, *, width: int = 80) -> list[str]:
    """Every line fits `width` cells; the first ones are the headline."""
    width = max(40, width)
    first = wrap(own_words(printable(headline(report), limit=600)), width, lines=6)
    lines = [*first, ""]
    for label, texts in _sections(report):
        lines += labelled(label, texts, width=width, indent=_INDENT, lines=3)
    return [fit(line, width).rstrip() for line in lines]


def _sections(report: RunReport) -> Iterator[tuple[str, Sequence[str]]]:
    for facts in report.servers:
        yield "server", _server(facts)
        yield "serves", _serves(facts)
        yield "process", _process(facts)
        yield "speculation", _speculation(facts)
    if report.control is not None:
        yield "control", [control_words(report.control)]
    for result in report.cases:
        yield result.kind, _case(result, report)
    if report.servers:
        yield "offers", _offers(report.servers[0])
        yield "not offered", report.servers[0].not_offered[:_MOST]
    yield "found", _found(report)
    yield "next", [f"{at}. {step}" for at, step in enumerate(next_steps(report)[:_MOST], 1)]


def _found(report: RunReport) -> list[str]:
    if not report.servers:
        return [f"critical {block.code}: {own_words(block.title)}" for block in report.gate.blocking]
    return [f"{finding.severity} {finding.code}: {own_words(finding.title)}" for finding in findings(report)[:_MOST]] or ["nothing"]


def _server(facts: ServerFacts) -> list[str]:
    version = f" {facts.engine_version}" if facts.engine_version else ", version not told"
    reasons = [reason for reason in facts.evidence if not reason.startswith("process: ")]
    return [f"{facts.engine}{version}, at {facts.endpoint.api_root}", *(f"by {reason}" for reason in reasons[:2])]


def _serves(facts: ServerFacts) -> list[str]:
    others = [name for name in facts.models if name != facts.model]
    sides = [
        f"{value} {what}" for value, what in ((facts.context_length, "tokens of context"), (facts.sequences, "requests at once")) if value
    ]
    path = facts.details.get("model_path") or (facts.process.model_path if facts.process else None)
    return [
        ", ".join([facts.model, *sides]),
        *([f"and {len(others)} other names: {', '.join(others[:4])}"] if others else []),
        *([f"from {path}"] if isinstance(path, str) and path else []),
    ]


def _process(facts: ServerFacts) -> list[str]:
    process = facts.process
    if process is None:
        why = [line.removeprefix("process: ") for line in facts.evidence if line.startswith("process: ")]
        return [f"not known: {why[-1] if why else 'it runs on another machine'}"]
    started = datetime.fromtimestamp(process.started_at, UTC).isoformat(timespec="seconds")
    told = facts.details.get("model_path")
    another = process.model_path if process.model_path and process.model_path != told and told else None
    named = (("model", another), ("drafter", process.drafter_path))
    return [f"{process.pid}, since {started}", " ".join(process.command), *(f"{what} {path}" for what, path in named if path)]


def _speculation(facts: ServerFacts) -> list[str]:
    spec = facts.speculation
    method = f", {spec.method}" if spec.method else ""
    depth = f", depth {spec.depth}" if spec.depth else ""
    counts = _counts(spec.acceptance) if spec.acceptance else ""
    return [f"{spec.state.upper()}{method}{depth}{counts}", *(f"by {reason}" for reason in spec.evidence[:4])]


def _counts(counts: Acceptance) -> str:
    """The definitions of core.facts.Acceptance: A / T, 1 + A / D, and per position over the rounds."""
    if counts.rate is None:
        return ", nothing drafted"
    words = f", {100 * counts.rate:.1f} % accepted ({counts.accepted} of {counts.drafted})"
    if counts.mean_length is not None:
        words += f", mean length {counts.mean_length:.2f}"
    if counts.rounds and counts.per_position:
        words += ", by position " + " ".join(f"{100 * accepted / counts.rounds:.0f} %" for accepted in counts.per_position[:8])
    return words


def _case(result: CaseResult, report: RunReport) -> list[str]:
    """What a probe concluded, then its numbers."""
    verdict = result.verdict
    noted = [f"worth knowing: {finding.title}" for finding in verdict.findings if finding.severity == "note"]
    words = {
        "PASS": _about(result) or (noted[0] if noted else "nothing harmful"),
        "FAIL": reason_of(result),
        "BLOCKED": f"no answer: {reason_of(result)}",
    }
    told = words.get(verdict.outcome, f"not known: {verdict.reason}")
    own = [measure for owner, measure in measures(report) if owner is result]
    return [told, *_numbers(own)]


def _about(result: CaseResult) -> str:
    """What the files hold, where it is files that were looked at."""
    return next((measure.note for measure in result.verdict.measures if measure.name == "mtp_heads"), "")


def _numbers(own: Sequence[Measure]) -> list[str]:
    """A line a stratum; measures that have none together in one. Positions of a draft stand together."""
    strata: dict[str, list[Measure]] = {}
    for measure in own:
        if not measure.name.startswith(_LEFT_OUT):
            strata.setdefault(measure.stratum, []).append(measure)
    rows = []
    for stratum, group in list(strata.items())[:_MOST]:
        single = [measure for measure in group if not measure.name.startswith(_POSITION)]
        places = [f"{100 * (measure.value or 0):.0f} %" for measure in group if measure not in single]
        words = ", ".join([*map(_said, single[:_MOST]), *([f"by position {' '.join(places)}"] if places else [])])
        rows.append(f"{stratum}: {words}" if stratum else words)
    return rows


def _said(measure: Measure) -> str:
    """A figure that is only a bound says so, and one that is missing says why."""
    words = _WORDS.get(measure.name, measure.name)
    if measure.value is None:
        return measure.note if measure.stratum else f"{words}: {measure.note or 'not available'}"
    return f"{words} {'at least ' if measure.note.startswith('at least') else ''}{number(measure)}"


_POSITION = "acceptance_at_position"
_LEFT_OUT = ("conditional_at_position", "effective_length", "mtp_heads")
_WORDS = {
    "acceptance_rate": "accepted",
    "mean_acceptance_length": "mean length",
    "requests_admitted": "lets in",
    "requests_run_at_once": "runs at once",
}


def _offers(facts: ServerFacts) -> list[str]:
    seen = facts.capabilities.to_dict()
    yes = [name for name, value in seen.items() if value is True]
    no = [name for name, value in seen.items() if value is False]
    told = [f"{', '.join(yes)}" if yes else "nothing beyond answers"]
    return [name.replace("_", " ") for name in [*told, *([f"not: {', '.join(no)}"] if no else [])]]
