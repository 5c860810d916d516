"""The faults that the fake can show: what each imitates, and the finding code that must turn red for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from pytest_mtp.core.errors import UsageError, nearest
from pytest_mtp.selftest import fault_answers, fault_completions, fault_doors, fault_frames
from pytest_mtp.selftest.brain import Answer
from pytest_mtp.selftest.dice import roll
from pytest_mtp.selftest.fault_doors import Door
from pytest_mtp.selftest.scene import Scene
from pytest_mtp.selftest.wire import Completion, Frame

Trait = Literal["rejects-drafts", "breaks-verify", "wavers", "slow"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault; at most one of the changes is set, by where a real server would break.

    `answer` in the model, `completion` in the API layer, `frames` in its streaming, `door` before any of them. The
    middle two need nothing but a reply, so a proxy can apply them to a real one. `expected` holds the code that must be
    found first, then codes that may follow from it.
    """

    name: str
    imitates: str
    expected: tuple[str, ...]
    answer: Callable[[Answer, Scene], Answer] | None = None
    completion: Callable[[Completion, Scene], Completion] | None = None
    frames: Callable[[tuple[Frame, ...], Scene], tuple[Frame, ...]] | None = None
    door: Callable[[int, int], Door] | None = None
    trait: Trait | None = None
    number: int | None = None  # the default of NAME:NUMBER, where the fault takes one


@dataclass(frozen=True, slots=True, kw_only=True)
class Armed:
    """A fault with its rate, and its number where it takes one."""

    fault: Fault
    rate: float = 1.0
    number: int = 0

    def strikes(self, scene: Scene, seed: int) -> bool:
        """Whether it strikes this request. A fault in the model strikes a conversation always or never, as weights do."""
        if self.rate >= 1:
            return True
        turn = 0 if self.fault.answer or self.fault.trait else scene.turn
        return roll(seed, self.fault.name, scene.request.key, turn) < self.rate


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
        expected=("PROTO.truncated", "ANS.json", "ANS.wrong", "ANS.unextractable", "TOOL.args_json"),
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
        expected=("GEN.degenerate.loop", "GEN.truncated"),
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
        expected=("PROTO.json", "PROTO.sse"),
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
    Fault(name="slow", imitates="A step that takes far longer than it should", expected=("PERF.drop",), trait="slow", number=20),
)

FAULTS: Mapping[str, Fault] = {fault.name: fault for fault in _ROWS}


def arm(words: Iterable[str]) -> tuple[Armed, ...]:
    """`NAME`, `NAME:NUMBER` or `NAME-NUMBER`, each with an optional `@RATE`. Raises UsageError with the nearest word."""
    return tuple(_armed(word) for word in words)


def _armed(word: str) -> Armed:
    match = re.fullmatch(r"([a-z-]+?)(?:[:-](\d+))?(?:@([\d.]+))?", word)
    name = match.group(1) if match else word
    fault = FAULTS.get(name)
    if match is None or fault is None:
        raise UsageError(f"no fault {word!r}{nearest(name, FAULTS)}; known: {', '.join(FAULTS)}")
    number = match.group(2)
    if number is not None and fault.number is None:
        raise UsageError(f"the fault {name!r} takes no number, but {word!r} has one")
    try:
        rate = float(match.group(3) or 1)
    except ValueError:
        rate = -1.0
    if not 0 <= rate <= 1:
        raise UsageError(f"the rate in {word!r} must be between 0 and 1")
    return Armed(fault=fault, rate=rate, number=int(number) if number is not None else fault.number or 0)
