"""The order of judgement of one exchange: transport, wire, finish, usage, reasoning, degeneration, answer.

Faults of the serving are found whether or not the answer is right; the answer is graded whatever they are.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytest_mtp.core.case import CALL_KINDS, COMBINING_KINDS, Expect
from pytest_mtp.core.exchange import Exchange, Fault
from pytest_mtp.core.verdict import Finding
from pytest_mtp.judge.combine import conjunction, parts_of
from pytest_mtp.judge.degeneration.findings import degeneration_findings
from pytest_mtp.judge.finish import finish_findings, note_findings
from pytest_mtp.judge.judgement import GradeContext, Judgement, View, conclude
from pytest_mtp.judge.reasoning import Split, split_reasoning
from pytest_mtp.judge.structured.forced import forced_findings
from pytest_mtp.judge.tools.graders import tool_findings
from pytest_mtp.judge.usage import usage_findings
from pytest_mtp.judge.words.normal import excerpt


def judge(exchange: Exchange, expects: Sequence[Expect], *, context: GradeContext) -> Judgement:
    """The conclusion on one exchange. `expects` is a conjunction; with none, only the serving is judged."""
    if exchange.fault is not None:
        return _fault(exchange.fault, context)
    view, split = view_of(exchange)
    serving = [
        *note_findings(view, context),
        *finish_findings(view, context),
        *usage_findings(view, context),
        *_reasoning(split, view, context),
        *degeneration_findings(view, expects, context),
        *forced_findings(view, context),
        *_tools(view, expects, context),
    ]
    return conjunction(view, expects, context, serving=serving)


def view_of(exchange: Exchange) -> tuple[View, Split]:
    """What graders see of a reply, and how its reasoning was split off. The exchange must hold a reply."""
    reply = exchange.reply
    if reply is None:
        raise ValueError("a fault has no text to see")
    bare = View(text=reply.text, reasoning="", reply=reply, ask=exchange.ask)
    split = split_reasoning(reply, bare.prompt)
    view = View(text=split.text, reasoning=split.reasoning, unclosed=split.unclosed, reply=reply, ask=exchange.ask)
    return view, split


def _tools(view: View, expects: Sequence[Expect], context: GradeContext) -> list[Finding]:
    """What the wire and the text say about calls where no expectation about calls says it itself."""
    return [] if any(_of_calls(expect) for expect in expects) else [*tool_findings(view, context)]


def _of_calls(expect: Expect) -> bool:
    return expect.kind in CALL_KINDS or (expect.kind in COMBINING_KINDS and any(map(_of_calls, parts_of(expect))))


def _reasoning(split: Split, view: View, context: GradeContext) -> list[Finding]:
    found = []
    if split.leak:
        found.append(context.finding("PROTO.reasoning", split.leak, evidence={"text": excerpt(view.reply.text, 200)}))
    if split.lone_close:
        title = f"{split.lone_close} without its opening tag, which a template may hold; what stands before it counts as reasoning"
        found.append(context.finding("PROTO.reasoning", title, severity="note"))
    if split.unclosed and split.text.strip():
        found.append(context.finding("GEN.think_unclosed", f"{split.unclosed} is opened and never closed"))
    return found


def _fault(fault: Fault, context: GradeContext) -> Judgement:
    evidence = {"kind": fault.kind, "status": fault.status, "body": fault.body}
    finding = context.finding(fault.code, fault.message, evidence=evidence)
    if fault.code.startswith("INFRA."):
        return Judgement(outcome="BLOCKED", findings=(finding,))
    return conclude([finding])
