"""The text of one failed item: the reason first, then what proves it, then how to see it again."""

from __future__ import annotations

from pytest_mtp.core.run import CaseResult
from pytest_mtp.core.verdict import Finding, by_severity
from pytest_mtp.reports.digest import hint_of
from pytest_mtp.reports.printable import printable, printable_lines

_MOST_FINDINGS = 8
_LONGEST_COMMAND = 20_000


def failure_lines(result: CaseResult, *, folder: str = "") -> list[str]:
    """Plain lines without colour; nothing of a server's text reaches the terminal raw. `folder` is the report's, as typed."""
    verdict = result.verdict
    findings = by_severity(verdict.findings)
    lines = [f"{verdict.outcome}: {printable(verdict.reason or 'no reason was given')}"]
    lines.append(f"  case {printable(verdict.case_id)}, {printable(result.source.path)}:{result.source.line}")
    if verdict.rate is not None and verdict.rate[1] > 1:
        lines.append(f"  right {verdict.rate[0]} of {verdict.rate[1]} times")
    for finding in findings[:_MOST_FINDINGS]:
        lines += ["", *_finding_lines(finding)]
    if len(findings) > _MOST_FINDINGS:
        lines += ["", f"… and {len(findings) - _MOST_FINDINGS} more findings in the report"]
    if verdict.evidence or verdict.reproduce:
        lines.append("")
    if verdict.evidence:
        lines.append(f"evidence: {printable(f'{folder}/{verdict.evidence}' if folder else verdict.evidence)}")
    for at, command in enumerate(verdict.reproduce):
        lines += [f"{'again:   ' if at == 0 else '         '} {row}" for row in printable_lines(command, limit=_LONGEST_COMMAND)]
    return lines


def _finding_lines(finding: Finding) -> list[str]:
    where = f" at {printable(finding.where)}" if finding.where else ""
    lines = [f"{printable(finding.code)} ({finding.severity}){where}: {printable(finding.title)}"]
    lines += [f"    {row}" for row in (printable_lines(finding.detail) if finding.detail else [])]
    hint = finding.hint or hint_of(finding.code)
    return [*lines, f"  hint: {printable(hint)}"] if hint else lines
