"""What tool_choice promises is the server's duty, whatever the model would like to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_mtp.core.case import CaseSeverity
from pytest_mtp.core.reply import Reply
from pytest_mtp.core.verdict import Finding
from pytest_mtp.judge.tools.offered import Offer
from pytest_mtp.judge.tools.reading import ReadCall
from pytest_mtp.judge.tools.report import found, kept
from pytest_mtp.judge.words.normal import excerpt


def choice_findings(reply: Reply, calls: Sequence[ReadCall], offer: Offer, case_severity: CaseSeverity) -> Iterator[Finding]:
    """none: no call. required: at least one. named: that one. A reply that was cut or refused has not broken its promise."""
    choice = offer.choice
    if choice.mode == "none":
        if calls:
            title = f"tool_choice none, but {calls[0].shown(60)} came"
            shown = [call.shown() for call in calls[:8]]
            yield found("TOOL.none_expected", title, case_severity, severity="critical", where="call 0", evidence={"calls": shown})
        return
    if offer.tools and choice.forces and not calls and _had_its_chance(reply):
        asked = f"a call of {choice.names[0]}" if choice.mode == "named" else "a call"
        title = f"tool_choice demanded {asked}, and text came: {excerpt(reply.text or '(nothing)', 50)}"
        evidence = {"tool_choice": choice.mode, "content": kept(reply.text), "finish_reason": reply.finish_reason}
        yield found("TOOL.forced", title, case_severity, evidence=evidence)
    if choice.names:
        for call in calls:
            if call.name not in choice.names:
                title = f"tool_choice allows {' and '.join(choice.names[:3])} alone, but {call.shown(60)} came"
                yield found(
                    "TOOL.forced", title, case_severity, where=call.where, evidence={"allowed": list(choice.names), "name": call.name}
                )
    if len(calls) > 1 and not offer.parallel:
        title = f"parallel_tool_calls is false, and {len(calls)} calls came"
        yield found("PROTO.param", title, case_severity, evidence={"calls": len(calls)})


def _had_its_chance(reply: Reply) -> bool:
    return reply.finish_reason not in ("length", "content_filter") and not reply.refusal
