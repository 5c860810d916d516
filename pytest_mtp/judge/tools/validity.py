"""Gate B, the schema: whether each call is one that the tool could carry out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import CaseSeverity
from pytest_mtp.core.reply import Reply
from pytest_mtp.core.verdict import Finding
from pytest_mtp.judge.tools.reading import ReadCall, read_calls
from pytest_mtp.judge.tools.report import found, kept


def schema_findings(reply: Reply, ask: Ask, case_severity: CaseSeverity) -> tuple[Finding, ...]:
    """One finding a call. `strict: true` on the tool makes it the server's promise."""
    return tuple(schema_breaches(read_calls(reply, ask), case_severity))


def schema_breaches(calls: Sequence[ReadCall], case_severity: CaseSeverity) -> Iterator[Finding]:
    """The same for calls that are already read."""
    told: set[str] = set()
    for call in calls:
        broken = next((v.problem for v in call.violations if v.of_schema), "")
        if broken and call.name not in told:
            told.add(call.name)
            title = f"the schema of {call.name} is invalid, so its arguments were not held against it: {broken}"
            yield found("TOOL.schema", title, case_severity, severity="note", where=call.where)
        yield from _violated(call, case_severity)


def _violated(call: ReadCall, case_severity: CaseSeverity) -> Iterator[Finding]:
    violations = [violation for violation in call.violations if not violation.of_schema]
    if not violations or (call.parsed.value in (None, {}) and not call.needs_nothing):  # empty arguments have their own code
        return
    first = violations[0]
    strict = call.tool is not None and call.tool.strict
    title = f"{call.where} {call.name} violates its schema{f' at {first.pointer}' if first.pointer else ''}: {first.problem}"
    detail = "\n".join(f"{v.pointer or '(the whole)'}: {v.problem}" for v in violations)
    yield found(
        "TOOL.schema",
        f"{title} (the tool is strict)" if strict else title,
        case_severity,
        severity="critical" if strict else None,
        detail=f"got  {call.shown(400)}\n{detail}",
        where=f"{call.where}{first.pointer}",
        evidence={"arguments": kept(call.wire.arguments), "strict": strict},
    )
