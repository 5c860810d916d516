"""`contains`, `not_contains` and `regex`: what must and must not stand in the answer."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from pytest_mtp.core.case import Expect
from pytest_mtp.core.errors import UsageError
from pytest_mtp.core.record import Json
from pytest_mtp.judge.judgement import Extraction, GradeContext, Judgement, View, conclude
from pytest_mtp.judge.words.normal import excerpt, fold


def read_spec(spec: Json, kind: str) -> tuple[str, ...]:
    """One text or a list of texts. Raises UsageError."""
    items = [spec] if isinstance(spec, str | int | float) and not isinstance(spec, bool) else spec
    if isinstance(items, str) or not isinstance(items, Sequence) or not items:
        raise UsageError(f"{kind}: expected a text or a list of texts, got {spec!r}")
    if any(isinstance(item, bool) or not isinstance(item, str | int | float) or not str(item).strip() for item in items):
        raise UsageError(f"{kind}: expected texts, got {spec!r}")
    return tuple(str(item) for item in items)


def _position(needle: str, folded: str) -> int:
    """Where a folded text stands, -1 for nowhere. A number is not found inside a longer number: 32 is not in 1325 nor in 32.5."""
    left = r"(?<!\d)(?<!\d[.,])" if needle[0].isdigit() else ""
    right = r"(?![.,]?\d)" if needle[-1].isdigit() else ""
    if not left and not right:
        return folded.find(needle)
    found = re.search(left + re.escape(needle) + right, folded)
    return found.start() if found else -1


def grade_contains(view: View, expect: Expect, context: GradeContext) -> Judgement:
    """Every text must be found, whatever its case and spacing."""
    needles = read_spec(expect.spec, "contains")
    folded = fold(view.text)
    found = [needle for needle in needles if _position(fold(needle), folded) >= 0]
    missing = [needle for needle in needles if needle not in found]
    answer = json.dumps(sorted(map(fold, found)), ensure_ascii=False)
    if not missing:  # more text cannot take it away
        return conclude(answer=answer, extraction=Extraction(text=found[0], rule="contains", span=(0, len(view.text)), settled=True))
    title = f"expected {_listed(missing)} in the answer, not found in {excerpt(view.text)!r}"
    return conclude([context.finding("ANS.wrong", title, evidence={"missing": missing, "found": found})], answer=answer)


def grade_not_contains(view: View, expect: Expect, context: GradeContext) -> Judgement:
    """No text may be found."""
    needles = read_spec(expect.spec, "not_contains")
    folded = fold(view.text)
    found = {needle: place for needle in needles if (place := _position(fold(needle), folded)) >= 0}
    answer = json.dumps(sorted(map(fold, found)), ensure_ascii=False)
    if not found:
        return conclude(answer=answer)
    place = min(found.values())
    around = excerpt(folded[max(0, place - 20) : place + 40])
    title = f"expected no {_listed(list(found))} in the answer, found it: {around!r}"
    extraction = Extraction(text=next(iter(found)), rule="not_contains", span=(0, len(view.text)), settled=True)
    return conclude([context.finding("ANS.wrong", title, evidence={"found": list(found)})], answer=answer, extraction=extraction)


def grade_regex(view: View, expect: Expect, context: GradeContext) -> Judgement:
    """Every pattern must be found by `re.search`, as written: flags stand inside the pattern, `(?i)`."""
    patterns = [_compiled(pattern) for pattern in read_spec(expect.spec, "regex")]
    matches = {pattern.pattern: pattern.search(view.text) for pattern in patterns}
    missing = [pattern for pattern, match in matches.items() if match is None]
    answer = json.dumps(sorted(pattern for pattern in matches if pattern not in missing), ensure_ascii=False)
    if missing:
        title = f"expected a match of {_listed(missing)}, none in {excerpt(view.text)!r}"
        return conclude([context.finding("ANS.wrong", title, evidence={"missing": missing})], answer=answer)
    spans = [match.span() for match in matches.values() if match]
    settled = all(end < len(view.text) for _, end in spans)
    start, end = spans[0]
    return conclude(answer=answer, extraction=Extraction(text=view.text[start:end], rule="regex", span=(start, end), settled=settled))


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise UsageError(f"regex: {pattern!r} is no regular expression: {error}") from error


def _listed(items: Sequence[str]) -> str:
    return " and ".join(repr(excerpt(item, 40)) for item in items[:4]) + (f" and {len(items) - 4} more" if len(items) > 4 else "")
