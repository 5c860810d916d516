"""What judging hands around: the view of a reply, where an answer was found, and the conclusion."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import CaseSeverity, Severity
from pytest_mtp.core.codes import CODES, severity_of
from pytest_mtp.core.record import Json, Record
from pytest_mtp.core.reply import Reply
from pytest_mtp.core.verdict import Finding, Outcome
from pytest_mtp.judge.program import Program, ProgramResult

GRADER_VERSION = 1
"""Raised when a rule changes that can change a grade; baselines carry it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction(Record):
    """Where the graded words stand: `span` counts characters of the final text (after the reasoning split).

    `settled` says that nothing which could still follow would change the answer: it was given under an explicit marker,
    or as a closed value, before the end of the text. Only a settled answer survives a reply that was cut.
    """

    text: str
    rule: str
    span: tuple[int, int]
    settled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A reply as graders see it: `text` is the final text without its reasoning.

    `unclosed` is the tag of reasoning that never ended, empty where there is none.
    """

    text: str
    reasoning: str = ""
    unclosed: str = ""
    reply: Reply
    ask: Ask

    @property
    def prompt(self) -> str:
        """Every text of the request, one message a paragraph."""
        return "\n\n".join(text for message in self.ask.messages for text in _texts(message.get("content")))

    @property
    def truncated(self) -> bool:
        """The server says that the budget ended the reply."""
        return self.reply.finish_reason == "length"

    def of(self, text: str) -> View:
        """The same reply with only a part of its text in sight."""
        return dataclasses.replace(self, text=text)


def _texts(content: Any) -> Iterable[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, (list, tuple)):
        for part in content:
            if isinstance(part, Mapping) and isinstance(part.get("text"), str):
                yield part["text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement(Record):
    """The conclusion on one reply.

    `answer` is the canonical graded answer, equal for replies that mean the same; a reply within a tolerance carries the
    accepted answer itself. None where no answer was found.
    """

    outcome: Outcome
    findings: tuple[Finding, ...] = ()
    answer: str | None = None
    extraction: Extraction | None = None

    @property
    def code(self) -> str:
        """The code of the first finding that fails, else of the first note, else empty."""
        for finding in self.findings:
            if finding.severity != "note":
                return finding.code
        return self.findings[0].code if self.findings else ""


def conclude(findings: Iterable[Finding] = (), *, answer: str | None = None, extraction: Extraction | None = None) -> Judgement:
    """FAIL when a finding is more than a note, else PASS."""
    kept = tuple(findings)
    outcome: Outcome = "FAIL" if any(finding.severity != "note" for finding in kept) else "PASS"
    return Judgement(outcome=outcome, findings=kept, answer=answer, extraction=extraction)


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeContext:
    """What a grader may not find out by itself, handed in so that judging stays pure.

    `references` maps `control` and `reference` to the graded answer of the same case there (None: there was none).
    `run_code` runs a program in a sandbox; `equal_math` says whether (accepted, given) are equal, None when it could not
    decide in its time. Both are None where the caller offers neither, and what needs them is then ungraded, not wrong.
    """

    case_severity: CaseSeverity = "model"
    references: Mapping[str, str | None] = field(default_factory=dict)
    run_code: Callable[[Program], ProgramResult] | None = None
    equal_math: Callable[[str, str], bool | None] | None = None

    def lowest(self, code: str) -> Severity:
        """The severity of a code where the evidence speaks for the model: that of a `model` case, and never above the table's."""
        return "note" if severity_of(code, self.case_severity) == "note" else "model"

    def finding(
        self,
        code: str,
        title: str,
        *,
        detail: str = "",
        where: str = "",
        evidence: Mapping[str, Json] | None = None,
        severity: Severity | None = None,
    ) -> Finding:
        """A finding with the table's severity and hint, unless the caller knows better and lowers it."""
        return Finding(
            code=code,
            severity=severity or severity_of(code, self.case_severity),
            title=title,
            detail=detail,
            where=where,
            hint=CODES[code].hint,
            evidence=evidence or {},
        )


Grader = Callable[[View, Any, GradeContext], Judgement]
"""(view, Expect, context) to a judgement. Raises UsageError for a spec that it cannot read, and for nothing else."""
