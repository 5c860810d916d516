"""The faults that the fake can show: what each imitates, and the finding code that must turn red for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pytest_mtp.selftest import fault_answers, fault_completions, fault_doors, fault_frames
from pytest_mtp.selftest.conditions import CONDITION_FAULTS
from pytest_mtp.selftest.fault import Fault
from pytest_mtp.selftest.reports import ROWS
from pytest_mtp.selftest.rows_calls import CALL_FAULTS
from pytest_mtp.selftest.rows_drafts import DRAFT_FAULTS
from pytest_mtp.selftest.rows_options import OPTION_FAULTS
from pytest_mtp.selftest.rows_replies import REPLY_FAULTS
from pytest_mtp.selftest.rows_serving import SERVING_FAULTS

# What follows when a part of an answer is missing, depending on what was asked.
_HALF_SAID = ("ANS.wrong", "ANS.unextractable", "ANS.json", "ANS.json_forced", "ANS.code", "ANS.length", "ANS.language", "GEN.empty")

_ROWS = (
    Fault(
        name="wrong-value",
        imitates="Broken weights or quantisation: fluent text with another value in it",
        expected=("ANS.wrong",),
        answer=fault_answers.wrong_value,
    ),
    Fault(
        name="empty-arguments",
        imitates="A tool parser that keeps the name of a call and loses its arguments",
        expected=("TOOL.args_empty",),
        completion=fault_completions.empty_arguments,
    ),
    Fault(
        name="doubled-brace",
        imitates="A streaming tool parser that sends the last brace twice when it comes in one chunk with the end of the call",
        expected=("TOOL.args_extra_brace",),
        completion=fault_completions.doubled_brace,
    ),
    Fault(
        name="leaked-markup",
        imitates="A tool parser of another model family: the call stays in the text",
        expected=("TOOL.leak",),
        completion=fault_completions.leaked_markup,
    ),
    Fault(
        name="finish-reason",
        imitates="An API layer that reports stop for calls and for full budgets, tool_calls for plain text",
        expected=("PROTO.finish",),
        completion=fault_completions.finish_reason,
    ),
    Fault(
        name="truncated-stream",
        imitates="A stream whose last events are lost on a clean end",
        expected=("PROTO.truncated",),
        frames=fault_frames.truncated,
    ),
    Fault(
        name="cut-stream",
        imitates="A proxy whose time limit ends the stream in the middle of the answer",
        expected=("PROTO.truncated", *_HALF_SAID, "TOOL.args_json", "TOOL.count"),
        frames=fault_frames.cut,
    ),
    Fault(
        name="dead-drafter",
        imitates="A drafter whose weights or template do not fit: every draft is verified and refused",
        expected=("SPEC.dead",),
        trait="rejects-drafts",
    ),
    Fault(
        name="usage-mismatch",
        imitates="Refused drafts are counted as completion tokens",
        expected=("PROTO.usage",),
        completion=fault_completions.usage_mismatch,
    ),
    Fault(
        name="replacement-characters",
        imitates="A detokeniser that decodes token by token, so that characters of several tokens fall apart",
        expected=("GEN.degenerate.replacement", "ANS.wrong"),
        answer=fault_answers.replacement_characters,
    ),
    Fault(
        name="endless-loop",
        imitates="A broken cache: every reply falls into a loop, sampled ones too",
        expected=("GEN.degenerate.loop", "GEN.truncated", "ANS.wrong", "ANS.length"),
        answer=fault_answers.endless_loop,
    ),
    Fault(
        name="unstable",
        imitates="Noise between runs that is larger than the small gaps between tokens",
        expected=("CTRL.unstable", "ANS.flip"),
        trait="wavers",
    ),
    Fault(
        name="verify-bug",
        imitates="A verify step that lets a wrong draft through",
        expected=("SPEC.parity.material",),
        trait="breaks-verify",
    ),
    Fault(
        name="stream-only-empty-arguments",
        imitates="A streaming tool parser that loses arguments when one chunk holds several tokens; unstreamed calls are right",
        expected=("TOOL.args_empty", "TOOL.stream_diff"),
        frames=fault_frames.empty_arguments,
    ),
    Fault(
        name="dropped-call",
        imitates="The last of several parallel calls is lost",
        expected=("TOOL.count",),
        completion=fault_completions.dropped_call,
    ),
    Fault(
        name="swapped-arguments",
        imitates="Values land under the wrong names",
        expected=("TOOL.value",),
        answer=fault_answers.swapped_arguments,
    ),
    Fault(
        name="duplicate-id",
        imitates="All calls of a reply carry the same id",
        expected=("TOOL.id",),
        completion=fault_completions.duplicate_id,
    ),
    Fault(
        name="error-in-stream",
        imitates="An engine that dies in mid-reply: the API layer sends an error event with status 200",
        expected=("INFRA.5xx",),
        frames=fault_frames.error_event,
    ),
    Fault(name="no-done", imitates="A stream without its last event", expected=("PROTO.done",), frames=fault_frames.no_done),
    Fault(
        name="html-body",
        imitates="A proxy that answers 200 with a page",
        expected=("INFRA.path", "PROTO.json", "PROTO.sse"),
        door=fault_doors.html_body,
    ),
    Fault(
        name="busy",
        imitates="Rate limits: the first chats get 429, as many as the number says",
        expected=("INFRA.busy",),
        door=fault_doors.busy,
        number=10_000,
    ),
    Fault(name="unauthorized", imitates="A wrong key", expected=("INFRA.auth",), door=fault_doors.unauthorized),
    Fault(
        name="server-error", imitates="A failing engine behind a living API layer", expected=("INFRA.5xx",), door=fault_doors.server_error
    ),
    Fault(name="reset", imitates="A proxy that drops connections", expected=("INFRA.reset",), door=fault_doors.reset),
    Fault(
        name="hang",
        imitates="A dead scheduler: connections are taken, chats never answered",
        expected=("INFRA.timeout",),
        door=fault_doors.hang,
    ),
    Fault(name="die-after", imitates="A crash under load", expected=("INFRA.crash",), door=fault_doors.die_after, number=3),
    Fault(
        name="slow",
        imitates="A step that takes far longer than it should",
        expected=("PERF.drop",),
        trait="slow",
        number=20,
        unseen="a speed is slow only beside another one: needs a baseline",
    ),
    # Beyond the common ones: each is from a public report.
    Fault(
        name="unknown-tool",
        imitates="A parser that leaves a namespace of the model's own format in the name",
        expected=("TOOL.name", "TOOL.forced"),
        completion=fault_completions.unknown_tool,
    ),
    Fault(
        name="missing-id",
        imitates="Calls without an id",
        expected=("TOOL.id",),
        completion=fault_completions.missing_id,
    ),
    Fault(
        name="duplicate-call",
        imitates="A parser that sends the last call once more when the reply ends",
        expected=("TOOL.duplicate",),
        completion=fault_completions.duplicate_call,
    ),
    Fault(
        name="empty-reply",
        imitates="A reasoning parser that eats the answer: stop, and nothing said",
        expected=("GEN.empty",),
        completion=fault_completions.empty_reply,
    ),
    Fault(
        name="special-tokens",
        imitates="The end-of-turn token is written out",
        expected=("GEN.degenerate.special", "ANS.json", "ANS.json_forced", "ANS.code", "ANS.wrong"),
        completion=fault_completions.special_tokens,
    ),
    Fault(
        name="null-finish",
        imitates="A last chunk whose finish reason is null",
        expected=("PROTO.finish", "PROTO.truncated"),
        completion=fault_completions.null_finish,
    ),
    Fault(
        name="single-quotes",
        imitates="A parser that writes arguments as its language prints them and not as JSON",
        expected=("TOOL.args_json",),
        answer=fault_answers.single_quotes,
    ),
    Fault(
        name="ignored-choice",
        imitates="tool_choice is dropped by a gateway: forced calls come as words",
        expected=("TOOL.forced",),
        answer=fault_answers.ignored_choice,
    ),
    Fault(
        name="ignored-schema",
        imitates="response_format is dropped by a gateway: JSON comes with words around it",
        expected=("ANS.json_forced", "ANS.json"),
        answer=fault_answers.ignored_schema,
    ),
    Fault(
        name="ignored-result",
        imitates="A template without the tool role: the model never sees results and calls again",
        expected=("TOOL.none_expected", "TOOL.after_result", "GEN.empty"),
        answer=fault_answers.ignored_result,
    ),
    Fault(
        name="leaked-reasoning",
        imitates="Channel markers are stripped and the channels are not: reasoning stands in the answer",
        expected=("PROTO.reasoning", "CTRL.unusable"),
        answer=fault_answers.leaked_reasoning,
    ),
    Fault(
        name="mojibake",
        imitates="UTF-8 read as Latin-1 on its way",
        expected=("GEN.degenerate.mojibake", "GEN.degenerate.control", "ANS.wrong", "ANS.language", "ANS.length"),
        answer=fault_answers.mojibake,
    ),
    Fault(
        name="wrong-script",
        imitates="Corrupted weights: words of other languages in the middle of a text",
        expected=("GEN.degenerate.script",),
        answer=fault_answers.wrong_script,
    ),
    Fault(
        name="lost-tail",
        imitates="The last fragment of streamed arguments is lost",
        expected=("TOOL.args_json", "TOOL.args_empty", "TOOL.stream_diff"),
        frames=fault_frames.lost_tail,
    ),
    Fault(
        name="zero-index",
        imitates="Streamed parallel calls all have index 0",
        expected=("TOOL.wire", "TOOL.count", "TOOL.stream_diff"),
        frames=fault_frames.zero_index,
    ),
    Fault(
        name="repeated-arguments",
        imitates="Streamed arguments come in fragments and once more as a whole",
        expected=("TOOL.args_json", "TOOL.stream_diff"),
        frames=fault_frames.repeated_arguments,
    ),
    Fault(
        name="lost-first-delta",
        imitates="The first delta with content is lost in streams",
        expected=_HALF_SAID,
        frames=fault_frames.lost_first_delta,
    ),
    Fault(
        name="overrun",
        imitates="A verify step whose accepted drafts run over max_tokens",
        expected=("PROTO.usage",),
        trait="overruns",
    ),
    Fault(
        name="weak-drafter",
        imitates="Acceptance sinks to a share of what it was (a per cent)",
        expected=("SPEC.accept_drop",),
        trait="weak-drafts",
        number=40,
        unseen="a low rate may be a weak drafter's: only a baseline says that it fell",
    ),
    Fault(
        name="miscounted-drafts",
        imitates="More drafts are counted as accepted than were drafted",
        expected=("SPEC.identity",),
        trait="miscounts",
    ),
)


def _reported(fault: Fault) -> Fault:
    kind, reports = ROWS.get(fault.name, ("surroundings", ()))
    return replace(fault, kind=kind, reports=reports)


FAULTS: Mapping[str, Fault] = {
    fault.name: _reported(fault)
    for fault in (*_ROWS, *CONDITION_FAULTS, *CALL_FAULTS, *REPLY_FAULTS, *OPTION_FAULTS, *SERVING_FAULTS, *DRAFT_FAULTS)
}
