"""Several expectations as one: the conjunction of a case, and the kinds `all_of`, `any_of` and `none_of`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from pytest_mtp.core.case import Expect
from pytest_mtp.core.errors import UsageError
from pytest_mtp.core.record import Json
from pytest_mtp.core.verdict import Finding, merge
from pytest_mtp.judge.grading import grade
from pytest_mtp.judge.judgement import GradeContext, Judgement, View, conclude
from pytest_mtp.judge.same_as import compare
from pytest_mtp.judge.words.normal import words_of


def conjunction(view: View, expects: Sequence[Expect], context: GradeContext, *, serving: Sequence[Finding] = ()) -> Judgement:
    """Every expectation must hold; `same_as` sees the graded answer of the others. `serving` comes first in the findings."""
    judged = [grade(view, expect, context) for expect in expects if expect.kind != "same_as"]
    answer = _answer_of(judged) if judged else words_of(view.text) or None
    judged += [compare(answer, expect, context) for expect in expects if expect.kind == "same_as"]
    if not judged and not view.text.strip() and not view.reply.tool_calls:
        judged = [conclude([context.finding("GEN.empty", f"no text and no call; finish reason {view.reply.finish_reason!r}")])]
    findings = _once([*serving, *(finding for one in judged for finding in one.findings)])
    outcome = merge([conclude(serving).outcome, *(one.outcome for one in judged)])
    extraction = next((one.extraction for one in judged if one.extraction), None)
    return Judgement(outcome=outcome, findings=findings, answer=answer, extraction=extraction)


def grade_all_of(view: View, expect: Expect, context: GradeContext) -> Judgement:
    """`all_of`: a list of expectations that must all hold."""
    return conjunction(view, parts_of(expect), context)


def grade_any_of(view: View, expect: Expect, context: GradeContext) -> Judgement:
    """`any_of`: the first that holds is the answer; when none does, what each of them says, the best try first."""
    judged = [grade(view, part, context) for part in parts_of(expect)]
    for one in judged:
        if one.outcome == "PASS":
            return one
    if any(one.outcome == "INCONCLUSIVE" for one in judged):
        return Judgement(outcome="INCONCLUSIVE", findings=_once(note for one in judged for note in one.findings if note.severity == "note"))
    judged.sort(key=lambda one: one.answer is None)
    return conclude(_once(finding for one in judged for finding in one.findings), answer=judged[0].answer, extraction=judged[0].extraction)


def grade_none_of(view: View, expect: Expect, context: GradeContext) -> Judgement:
    """`none_of`: a list of expectations of which none may hold. What cannot be read does not hold; no text is no answer."""
    parts = parts_of(expect)
    judged = [grade(view, part, context) for part in parts]
    for part, one in zip(parts, judged, strict=True):
        if one.outcome == "PASS":
            title = f"expected anything but {part.kind} {json.dumps(part.spec, ensure_ascii=False, default=str)}, got it: {one.answer!r}"
            return conclude([context.finding("ANS.wrong", title)], answer=one.answer, extraction=one.extraction)
    if not view.text.strip() and not view.reply.tool_calls:
        return judged[0]
    if any(one.outcome == "INCONCLUSIVE" for one in judged):
        return Judgement(outcome="INCONCLUSIVE", findings=_once(finding for one in judged for finding in one.findings))
    if view.truncated:
        title = "cut at the budget; what may not be said could still have followed"
        return conclude([context.finding("GEN.truncated", title)])
    return conclude(answer=_answer_of(judged))


def parts_of(expect: Expect) -> tuple[Expect, ...]:
    """The expectations listed under a combined kind; a list item with several keys is their conjunction."""
    spec = expect.spec
    if isinstance(spec, str | bytes) or not isinstance(spec, Sequence) or not spec:
        raise UsageError(f"{expect.kind}: expected a list of expectations, got {spec!r}")
    return tuple(_part(item, expect.kind) for item in spec)


def _part(item: Json, kind: str) -> Expect:
    if not isinstance(item, Mapping) or not item:
        raise UsageError(f"{kind}: expected an expectation such as {{number: 3}}, got {item!r}")
    return as_expect(item)


def as_expect(item: Mapping[str, Json]) -> Expect:
    """One mapping of an `expect` as one Expect. Modifiers of `calls` stand beside it."""
    modifiers = {"ordered", "extra", "extra_args", "at_least"}
    options = {key: value for key, value in item.items() if key in modifiers}
    kinds = [Expect(kind=key, spec=value, options=options) for key, value in item.items() if key not in modifiers]
    if len(kinds) == 1:
        return kinds[0]
    return Expect(kind="all_of", spec=[{expect.kind: expect.spec, **options} for expect in kinds])


def _answer_of(judged: Iterable[Judgement]) -> str | None:
    """The graded answer of several: their own when one has any, a JSON list when several do."""
    answers = [one.answer for one in judged if one.answer is not None]
    if len(answers) <= 1:
        return answers[0] if answers else None
    return json.dumps(answers, ensure_ascii=False)


def _once(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    seen: dict[tuple[str, str, str], Finding] = {}
    for finding in findings:
        seen.setdefault((finding.code, finding.title, finding.where), finding)
    return tuple(seen.values())
