"""Degeneration as findings: the scan of the final text, and a shorter one of the reasoning."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pytest_mtp.core.case import Expect
from pytest_mtp.core.record import Json
from pytest_mtp.core.verdict import Finding
from pytest_mtp.judge.degeneration import asked
from pytest_mtp.judge.degeneration.alien import find_alien
from pytest_mtp.judge.degeneration.broken import Broken, find_control, find_mojibake, find_replacement
from pytest_mtp.judge.degeneration.loops import find_loop
from pytest_mtp.judge.degeneration.runs import find_run
from pytest_mtp.judge.degeneration.special import find_special
from pytest_mtp.judge.judgement import GradeContext, View
from pytest_mtp.judge.structured.reading import parse
from pytest_mtp.judge.words.fences import fences
from pytest_mtp.judge.words.normal import excerpt

_EDGE = 40_000


def degeneration_findings(view: View, expects: Sequence[Expect], context: GradeContext) -> list[Finding]:
    """GEN.degenerate.*, at most one of each in each place. `expects` tells which scripts are welcome."""
    found = [*_everywhere(view.text, "text", view, context)]
    if view.reasoning:
        found += _everywhere(view.reasoning, "reasoning", view, context)
    view = view.of(_edges(view.text))
    found += [*_special(view, context), *_alien(view, expects, context), *_fence(view, context)]
    return found


def _edges(text: str) -> str:
    """The beginning and the end of a text that is longer than anybody reads; U+FFFD is looked for in all of it."""
    return text if len(text) <= 2 * _EDGE else text[:_EDGE] + text[-_EDGE:]


def _everywhere(text: str, where: str, view: View, context: GradeContext) -> list[Finding]:
    prompt = view.prompt
    found = _repetition(text, where, view, context)
    whole, text = text, _edges(text)
    truncated = view.truncated and where == "text"
    for code, broken in (
        ("GEN.degenerate.replacement", find_replacement(whole, prompt, truncated=truncated)),
        ("GEN.degenerate.control", find_control(text, prompt, truncated=truncated)),
        ("GEN.degenerate.mojibake", None if asked.encodings(prompt) else find_mojibake(text, prompt)),
    ):
        if broken:
            found.append(_broken(code, broken, whole if code.endswith("replacement") else text, where, context))
    return found


def _repetition(text: str, where: str, view: View, context: GradeContext) -> list[Finding]:
    wanted = asked.repetition(view.prompt)
    ended = not (view.truncated or (where == "reasoning" and view.unclosed))
    run = None if wanted and ended else find_run(_edges(text), asked=wanted)
    if run:
        evidence: dict[str, Json] = {
            "unit": run.char,
            "repeats": run.length,
            "share": round(run.length / len(text), 3),
            "span": [run.start, run.start + run.length],
        }
        title = f"{run.char!r} stands {run.length} times in a row in the {where}"
        return [context.finding("GEN.degenerate.loop", title, where=where, evidence=evidence)]
    if ended and text[:1] in {"[", "{"} and not parse(text).error:
        return []  # a JSON value that closes is the work of a model that knows where it is
    loop = find_loop(text, ended=ended, asked=wanted, prompt=view.prompt)
    if loop is None:
        return []
    evidence = {
        "rule": loop.rule,
        "unit": excerpt(loop.unit, 200),
        "period": len(loop.unit),
        "repeats": loop.repeats,
        "share": round(loop.share, 3),
        "span": list(loop.span),
    }
    title = f"{excerpt(loop.unit, 40)!r} comes {loop.repeats} times, {loop.share:.0%} of the {where} ({loop.rule})"
    return [context.finding("GEN.degenerate.loop", title, where=where, evidence=evidence)]


def _broken(code: str, broken: Broken, text: str, where: str, context: GradeContext) -> Finding:
    around = excerpt(text[max(0, broken.start - 15) : broken.start + 15])
    times = f"{broken.count} times, first" if broken.count > 1 else "once,"
    cut = "; the budget ended inside a character" if broken.cut else ""
    title = f"{broken.shown} {times} at character {broken.start} of the {where}: {around!r}{cut}"
    evidence: dict[str, Json] = {"count": broken.count, "at": broken.start}
    return context.finding(code, title, where=where, evidence=evidence, severity="note" if broken.cut else None)


def _special(view: View, context: GradeContext) -> list[Finding]:
    special = find_special(view.text, view.prompt, asked=asked.tokens(view.prompt))
    if special is None:
        return []
    around = excerpt(view.text[max(0, special.start - 20) : special.start + len(special.token) + 20])
    times = f" and {special.count - 1} more" if special.count > 1 else ""
    title = f"the special token {special.token}{times} stands in the text: {around!r}"
    return [
        context.finding(
            "GEN.degenerate.special", title, where="text", evidence={"token": special.token, "count": special.count, "at": special.start}
        )
    ]


def _alien(view: View, expects: Sequence[Expect], context: GradeContext) -> list[Finding]:
    if view.text.isascii():
        return []
    golds = json.dumps([expect.spec for expect in expects], ensure_ascii=False, default=str)
    tools = json.dumps([dict(tool) for tool in view.ask.tools], ensure_ascii=False, default=str)
    alien = find_alien(
        view.text,
        f"{view.prompt}\n{golds}\n{tools}",
        asked=asked.languages(view.prompt) or any(expect.kind == "language" for expect in expects),
    )
    if alien is None:
        return []
    words = {"mixed": "inside words", "bare": "between words", "switched": f"as {alien.share:.0%} of the answer"}[alien.kind]
    title = f"{alien.script} letters {words}, and nobody asked for them: {excerpt(alien.example)!r}"
    evidence: dict[str, Json] = {
        "kind": alien.kind,
        "script": alien.script,
        "count": alien.count,
        "share": round(alien.share, 3),
        "at": alien.start,
    }
    # An answer that is fluent in another script is a model's habit; letters strewn into words are not.
    severity = context.lowest("GEN.degenerate.script") if alien.kind == "switched" else None
    return [context.finding("GEN.degenerate.script", title, where="text", evidence=evidence, severity=severity)]


def _fence(view: View, context: GradeContext) -> list[Finding]:
    blocks = [] if view.truncated else fences(view.text)
    if not blocks or blocks[-1].closed:
        return []
    return [context.finding("GEN.degenerate.fence", f"the code fence at character {blocks[-1].start} is never closed", where="text")]
