"""One expectation held against one view: what comes before and after every grader of answers.

Before: a reply without text has no answer to be wrong. After: a reply that was cut, or a refusal, gets its own code
unless the answer had been given by then.
"""

from __future__ import annotations

from pytest_mtp.core.case import CALL_KINDS, COMBINING_KINDS, Expect, Severity
from pytest_mtp.core.verdict import Finding
from pytest_mtp.judge.judgement import GradeContext, Judgement, View, conclude
from pytest_mtp.judge.refusal import refusal_in
from pytest_mtp.judge.registry import grader_for
from pytest_mtp.judge.words.markers import MARKED_RULES
from pytest_mtp.judge.words.normal import excerpt

_LOST = frozenset({"ANS.unextractable", "ANS.ambiguous", "ANS.json", "ANS.wrong"})


def grade(view: View, expect: Expect, context: GradeContext) -> Judgement:
    """The judgement of one expectation. Raises UsageError for a kind or a spec that does not exist."""
    grader = grader_for(expect.kind)
    if expect.kind in CALL_KINDS or expect.kind in COMBINING_KINDS:
        return grader(view, expect, context)
    if not view.text.strip():
        grader(view, expect, context)  # a spec that cannot be read is told even so
        return conclude([_empty(view, expect, context)])
    judged = grader(view, expect, context)
    if view.truncated:
        judged = _cut(view, judged, context)
    marked = judged.extraction is not None and judged.extraction.rule in MARKED_RULES
    if judged.outcome == "FAIL" and judged.code in _LOST and not marked:
        refusal = refusal_in(view.text, view.reply.refusal)
        if refusal:
            title = f"refused instead of answering: {excerpt(refusal)!r}"
            return conclude([context.finding("GEN.refusal", title, evidence={"refusal": refusal})])
    return judged


def _empty(view: View, expect: Expect, context: GradeContext) -> Finding:
    reply = view.reply
    asked = f"expected an answer ({expect.kind})"
    if reply.refusal:
        return context.finding("GEN.refusal", f"refused instead of answering: {excerpt(reply.refusal)!r}")
    if reply.finish_reason == "content_filter":
        return context.finding("GEN.filtered", f"{asked}, a content filter ended the reply before any text")
    if view.unclosed or (view.truncated and view.reasoning):
        spent = f"the budget of {reply.usage.completion_tokens} tokens" if reply.usage and view.truncated else "the whole reply"
        # A long thought under the case's own budget says nothing about the serving; what was approved once still counts.
        lowered: Severity | None = "model" if view.truncated and context.case_severity == "critical" else None
        return context.finding("GEN.think_unclosed", f"{asked}, {spent} went into reasoning that never ended", severity=lowered)
    if view.truncated:
        return context.finding("GEN.truncated", f"{asked}, the budget ended before any text")
    if reply.tool_calls:
        names = ", ".join(str(call.name) for call in reply.tool_calls)
        return context.finding("GEN.empty", f"{asked}, got no text and a call of {names}")
    rest = " (reasoning only)" if view.reasoning else ""
    return context.finding("GEN.empty", f"{asked}, got no text{rest}; finish reason {reply.finish_reason!r}")


def _cut(view: View, judged: Judgement, context: GradeContext) -> Judgement:
    """A cut reply: the answer counts, right or wrong, only when it was settled before the cut."""
    limit = view.ask.sampling.max_tokens
    budget = f"max_tokens={limit}" if limit else "the server's limit"
    if judged.extraction and judged.extraction.settled:
        note = context.finding("GEN.truncated", f"cut at {budget} after the answer had been given", severity="note")
        return conclude([*judged.findings, note], answer=judged.answer, extraction=judged.extraction)
    if judged.outcome == "INCONCLUSIVE":
        return judged
    tail = excerpt(view.text[-80:])
    title = f"cut at {budget} before a final answer; it ends: {tail!r}"
    evidence = {"max_tokens": limit, "so_far": judged.answer}
    return conclude([context.finding("GEN.truncated", title, evidence=evidence)])
