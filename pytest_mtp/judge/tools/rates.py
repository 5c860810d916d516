"""Rates of calls over repeats and over cases: dispatch, trigger against a reference, and schema accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.reply import Reply
from pytest_mtp.core.verdict import Measure
from pytest_mtp.judge.judgement import View
from pytest_mtp.judge.statistics import clopper_pearson
from pytest_mtp.judge.tools.leaks import leaks_in
from pytest_mtp.judge.tools.reading import read_calls
from pytest_mtp.judge.tools.wire import wire_breaches


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """Whether one request was answered by a call, here and by the reference."""

    called: bool
    reference: bool


def dispatch_rate(successes: int, n: int, *, level: float = 0.95) -> Measure:
    """Share of repeats with the right calls, with the exact interval of Clopper and Pearson; no value for no repeats."""
    return _share("tools.dispatch_rate", successes, n, level)


def trigger_rates(triggers: Sequence[Trigger], *, level: float = 0.95) -> tuple[Measure, Measure, Measure]:
    """Precision, recall and F1 of calling at all. Each pair is one request; F1 has no exact interval and claims none."""
    both = sum(t.called and t.reference for t in triggers)
    here = sum(t.called for t in triggers)
    there = sum(t.reference for t in triggers)
    f1 = 2 * both / (here + there) if here + there else None
    return (
        _share("tools.trigger_precision", both, here, level),
        _share("tools.trigger_recall", both, there, level),
        Measure(name="tools.trigger_f1", value=f1, unit="share", per="request", n=len(triggers)),
    )


def schema_accuracy(replies: Sequence[tuple[Ask, Reply]], references: Sequence[bool] | None = None, *, level: float = 0.95) -> Measure:
    """Share of all replies whose calls are fit to run: wire whole, schema kept, no markup left in the text.

    Counted over every reply, not over those that report `tool_calls`: a parser that leaks its calls into the text would
    raise a share of the rest. `references` says where a call was due; a reply without one counts against it there.
    """
    due = references if references is not None else [False] * len(replies)
    fit = sum(_is_fit(ask, reply, wanted) for (ask, reply), wanted in zip(replies, due, strict=True))
    return _share("tools.schema_accuracy", fit, len(replies), level)


def _is_fit(ask: Ask, reply: Reply, due: object) -> bool:
    calls = read_calls(reply, ask)
    if due and not calls:
        return False
    view = View(text=reply.text, reasoning=reply.reasoning or "", reply=reply, ask=ask)
    found = (*wire_breaches(reply, ask, calls, "model"), *leaks_in(view, calls, "model").findings)
    return all(call.fits for call in calls) and all(finding.severity == "note" for finding in found)


def _share(name: str, part: int, whole: int, level: float) -> Measure:
    if not whole:
        return Measure(name=name, value=None, unit="share", per="request", n=0, note="nothing to count")
    interval = clopper_pearson(part, whole, level=level)
    return Measure(name=name, value=part / whole, unit="share", per="request", n=whole, interval=interval)
