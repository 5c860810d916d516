"""`same_as`: the graded answer is that of the control or of the second arm."""

from __future__ import annotations

from pytest_mtp.core.case import Expect
from pytest_mtp.core.errors import UsageError, nearest
from pytest_mtp.judge.judgement import GradeContext, Judgement, View, conclude
from pytest_mtp.judge.words.difference import aligned
from pytest_mtp.judge.words.normal import excerpt, words_of

ARMS = ("control", "reference")


def compare(answer: str | None, expect: Expect, context: GradeContext) -> Judgement:
    """Hold a graded answer against that of the named arm; without one there, nothing was judged."""
    arm = expect.spec
    if arm not in ARMS:
        raise UsageError(f"same_as: expected one of {', '.join(ARMS)}, got {arm!r}{nearest(str(arm), ARMS)}")
    other = context.references.get(str(arm))
    if other is None:
        note = context.finding("ANS.ungraded", f"the {arm} has no graded answer to compare with")
        return Judgement(outcome="INCONCLUSIVE", findings=(note,), answer=answer)
    if answer == other:
        return conclude(answer=answer)
    if answer is None:
        return conclude([context.finding("ANS.unextractable", f"expected the answer of the {arm}, {excerpt(other)!r}, found none")])
    title = f"expected the answer of the {arm}, {excerpt(other)!r}, got {excerpt(answer)!r}"
    return conclude([context.finding("ANS.wrong", title, detail=aligned(other, answer))], answer=answer)


def grade(view: View, expect: Expect, context: GradeContext) -> Judgement:
    """Where it stands alone the whole normalised text is the answer."""
    return compare(words_of(view.text) or None, expect, context)
