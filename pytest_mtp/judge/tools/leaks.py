"""Markup of calls where text should be: whose fault it is, with both sides shown.

A complete call that a parser should have read blames the parser. Broken markup is the model's. Talk about markup, code and
ordinary JSON blame nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import CaseSeverity
from pytest_mtp.core.reply import Reply
from pytest_mtp.core.verdict import Finding
from pytest_mtp.judge.judgement import View
from pytest_mtp.judge.tools.equality import same_json
from pytest_mtp.judge.tools.offered import offer_of
from pytest_mtp.judge.tools.reading import ReadCall, read_calls
from pytest_mtp.judge.tools.report import found, kept
from pytest_mtp.judge.tools.strays import argument_strays, text_strays
from pytest_mtp.judge.tools.written import Passage, TextCall, bare_passage, passages

_TALK = re.compile(
    r"(?:tool|function)[ _-]?call(?:s|ing)?\b.{0,60}\b(?:format|syntax|mark-?up|template|tags?|tokens?|xml|looks?)\b"
    r"|\b(?:format|syntax|mark-?up|example|looks? like)\b.{0,60}\b(?:tool|function)[ _-]?call"
    r"|chat template|special tokens?",
    re.IGNORECASE | re.DOTALL,
)
_HARMONY = "to=functions."
_MARKED = re.compile(r"[<\[`>={]")  # one of these stands in every dialect


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaks:
    """`calls` are those that the model made and the wire lost, in the text or in the reasoning."""

    findings: tuple[Finding, ...] = ()
    calls: tuple[TextCall, ...] = ()


def leak_findings(text: str, reasoning: str, ask: Ask, reply: Reply, case_severity: CaseSeverity = "model") -> tuple[Finding, ...]:
    """TOOL.leak, TOOL.leak_malformed and TOOL.intent. `text` and `reasoning` are those of the reasoning split."""
    return leaks_in(View(text=text, reasoning=reasoning, reply=reply, ask=ask), read_calls(reply, ask), case_severity).findings


def leaks_in(view: View, calls: Sequence[ReadCall], case_severity: CaseSeverity) -> Leaks:
    """The same with the lost calls, for a view whose calls are already read."""
    if not offer_of(view.ask).tools:
        return Leaks()
    if not _MARKED.search(view.reply.text) and not _MARKED.search(view.reasoning):
        return Leaks(findings=tuple(argument_strays(calls, view, case_severity)))
    text = view.reply.text if _HARMONY in view.reply.text else view.text  # Harmony's header is no part of what a split leaves
    findings = list(argument_strays(calls, view, case_severity))
    lost: list[TextCall] = []
    talk = view.prompt
    there: list[Passage] = []
    excused: list[Passage] = []
    for passage in passages(text, view.ask, talk):
        (excused if _is_talk(passage, text, talk) or _was_cut(passage, text, view) else there).append(passage)
    bare = None if there or calls else bare_passage(text, view.ask, talk)
    complete = [passage for passage in (*there, *([bare] if bare else [])) if passage.complete]
    if complete:
        findings.append(_leak(complete, text, calls, case_severity))
        lost += [call for passage in complete for call in passage.calls if not _on_wire(call, calls)]
    elif broken := [passage for passage in there if passage.problem]:
        findings.append(_malformed(broken, text, calls, case_severity))
    else:
        findings += text_strays(text, there, excused, view, case_severity)
    if not complete:
        intended = [call for call in _intended(view, talk) if _was_lost(call, view, calls)]
        findings += [_intent(call, view, calls, case_severity) for call in intended[:1]]
        lost += intended
    return Leaks(findings=tuple(findings), calls=tuple(lost))


def _is_talk(passage: Passage, text: str, talk: str) -> bool:
    """Somebody asked what calls look like, and the text goes on after the example."""
    return bool(text[passage.end :].strip()) and _TALK.search(talk) is not None


def _was_cut(passage: Passage, text: str, view: View) -> bool:
    return view.truncated and passage.problem != "" and not text[passage.end :].strip()


def _on_wire(call: TextCall, calls: Sequence[ReadCall]) -> bool:
    return any(other.name == call.name and other.arguments is not None and same_json(call.arguments, other.arguments) for other in calls)


def _leak(complete: Sequence[Passage], text: str, calls: Sequence[ReadCall], case_severity: CaseSeverity) -> Finding:
    first = complete[0]
    call = first.calls[0]
    count = sum(len(passage.calls) for passage in complete)
    more = f" and {count - 1} more" if count > 1 else ""
    if _on_wire(call, calls):
        title = f"the markup of {call.shown()}{more} stays in the text beside the call on the wire ({first.family})"
    else:
        title = f"the text holds {call.shown()}{more} as {first.family} markup, the wire {_wire(calls)}"
    return found(
        "TOOL.leak",
        title,
        case_severity,
        detail=_both(text[first.start : first.end], calls),
        where="content",
        evidence={"family": first.family, "text": kept(text[first.start : first.end]), "wire": [c.shown() for c in calls[:8]]},
    )


def _malformed(broken: Sequence[Passage], text: str, calls: Sequence[ReadCall], case_severity: CaseSeverity) -> Finding:
    first = broken[0]
    title = f"broken call markup in the text ({first.family}): {first.problem}"
    return found(
        "TOOL.leak_malformed",
        title,
        case_severity,
        detail=_both(text[first.start : first.end], calls),
        where="content",
        evidence={"family": first.family, "text": kept(text[first.start : first.end])},
    )


def _intended(view: View, talk: str) -> Iterator[TextCall]:
    for passage in passages(view.reasoning, view.ask, talk) if view.reasoning else ():
        if passage.complete:
            yield from passage.calls


def _was_lost(call: TextCall, view: View, calls: Sequence[ReadCall]) -> bool:
    """Reasoning may weigh a call and drop it: only a mangled call of that tool, or a reply of nothing at all, proves a loss."""
    if _on_wire(call, calls):
        return False
    if calls:
        return any((other.name == call.name or other.tool is None) and not other.fits for other in calls)
    return not view.text.strip() and not view.truncated


def _intent(call: TextCall, view: View, calls: Sequence[ReadCall], case_severity: CaseSeverity) -> Finding:
    title = f"the reasoning makes the call {call.shown()}, the wire {_wire(calls)}"
    evidence = {"intended": call.shown(), "wire": [c.shown() for c in calls[:8]]}
    return found("TOOL.intent", title, case_severity, detail=_both(view.reasoning[-1500:], calls), where="reasoning", evidence=evidence)


def _wire(calls: Sequence[ReadCall]) -> str:
    return f"has {calls[0].shown(60)}" if calls else "has no call"


def _both(passage: str, calls: Sequence[ReadCall]) -> str:
    wire = "; ".join(call.shown() for call in calls[:8]) or "no call"
    return f"in the text  {kept(passage)}\non the wire  {wire}"
