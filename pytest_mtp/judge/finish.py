"""What the reader of the wire noted, and whether the finish reason fits the reply.

Whether `tool_calls` fits the calls is told with the calls. A reason is only accused by what it claims: `length` below
max_tokens is honest where the context is full, and `stop` exactly at max_tokens is a coincidence that happens.
"""

from __future__ import annotations

from pytest_mtp.core.codes import CODES
from pytest_mtp.core.verdict import Finding
from pytest_mtp.judge.judgement import GradeContext, View
from pytest_mtp.judge.words.normal import excerpt

REASONS = frozenset({"stop", "length", "tool_calls", "function_call", "content_filter"})


def note_findings(view: View, context: GradeContext) -> list[Finding]:
    """One finding a wire note; the same note twice is told once."""
    found: dict[tuple[str, str], Finding] = {}
    for note in view.reply.notes:
        code = note.code if note.code in CODES else "PROTO.sse"
        title = f"{CODES[code].meaning}: {excerpt(note.detail, 90)}"
        found.setdefault((code, note.detail), context.finding(code, title, detail=note.detail if len(note.detail) > 90 else ""))
    return list(found.values())


def finish_findings(view: View, context: GradeContext) -> list[Finding]:
    """PROTO.finish and GEN.filtered."""
    reply, reason = view.reply, view.reply.finish_reason
    if reason is None:
        if reply.tool_calls or any(note.code in {"PROTO.truncated", "PROTO.finish"} for note in reply.notes):
            return []
        return [context.finding("PROTO.finish", "the reply is complete, and its finish reason is null")]
    if reason == "content_filter" and view.text.strip():
        return [context.finding("GEN.filtered", f"a content filter ended the answer; it ends: {excerpt(view.text[-60:])!r}")]
    if reason not in REASONS:
        title = f"finish reason {reason!r} is none of {', '.join(sorted(REASONS))}"
        return [context.finding("PROTO.finish", title, severity="note", evidence={"finish_reason": reason})]
    return []
