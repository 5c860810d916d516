"""`list` and `set`: the listed items equal the accepted ones, in order or matched one to one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from pytest_mtp.core.case import Expect
from pytest_mtp.core.errors import UsageError
from pytest_mtp.core.record import Json
from pytest_mtp.judge.answers.items import Listed, find_items, readings
from pytest_mtp.judge.combine import as_expect
from pytest_mtp.judge.judgement import Extraction, GradeContext, Judgement, View, conclude
from pytest_mtp.judge.matching import maximum_matching
from pytest_mtp.judge.registry import grader_for
from pytest_mtp.judge.words.normal import canonical, excerpt

_MATCHED_AT_MOST = 400
_ITEM_AT_MOST = 5000


def grade_list(view: View, expect: Expect, context: GradeContext) -> Judgement:
    """The grader of `list`: the same items in the same order."""
    return _grade(view, expect, context, ordered=True)


def grade_set(view: View, expect: Expect, context: GradeContext) -> Judgement:
    """The grader of `set`: the same items in any order, each as often as accepted."""
    return _grade(view, expect, context, ordered=False)


def read_spec(spec: Json, kind: str) -> tuple[Expect, ...]:
    """Each item as an expectation: a mapping is one, a number is `number`, anything else `text`."""
    if isinstance(spec, str) or not isinstance(spec, Sequence):
        raise UsageError(f"{kind}: expected a list of items, got {spec!r}")
    return tuple(_item(item, kind) for item in spec)


def _item(item: Json, kind: str) -> Expect:
    if isinstance(item, Mapping) and item:
        return as_expect(item)
    if isinstance(item, bool):
        return Expect(kind="text", spec="true" if item else "false")
    if isinstance(item, int | float):
        return Expect(kind="number", spec=item)
    if isinstance(item, str) and item.strip():
        return Expect(kind="text", spec=item)
    raise UsageError(f"{kind}: an item is a text, a number or an expectation, not {item!r}")


def _grade(view: View, expect: Expect, context: GradeContext, *, ordered: bool) -> Judgement:
    golds = read_spec(expect.spec, expect.kind)
    for gold in golds:  # a spec that cannot be read is told whatever the reply is
        grader_for(gold.kind)(view.of("-"), gold, context)
    found = find_items(view.text)
    if found is None:
        return conclude([context.finding("ANS.unextractable", f"expected {len(golds)} items, found no list: {excerpt(view.text)!r}")])
    extraction = Extraction(text=excerpt(", ".join(found.items), 200), rule=found.rule, span=found.span, settled=found.settled)
    problem = _in_order(view, golds, found, context) if ordered else _matched(view, golds, found, context)
    if not problem:
        return conclude(answer=_canonical([_gold_shown(gold) for gold in golds], ordered=ordered), extraction=extraction)
    if len(found.items) == 1 and len(golds) > 1 and found.rule == "inline":
        return conclude([context.finding("ANS.unextractable", f"expected {len(golds)} items, found no list: {excerpt(view.text)!r}")])
    answer = _canonical([canonical(item) for item in found.items], ordered=ordered)
    evidence: dict[str, Json] = {"got": [excerpt(item) for item in found.items[:50]], "rule": found.rule}
    return conclude([context.finding("ANS.wrong", problem, evidence=evidence)], answer=answer, extraction=extraction)


def _fits(view: View, gold: Expect, item: str, context: GradeContext) -> bool:
    if len(item) > _ITEM_AT_MOST:
        return False
    return any(grader_for(gold.kind)(view.of(words), gold, context).outcome == "PASS" for words in readings(item) if words)


def _in_order(view: View, golds: Sequence[Expect], found: Listed, context: GradeContext) -> str:
    for index, (gold, item) in enumerate(zip(golds, found.items, strict=False)):
        if not _fits(view, gold, item, context):
            return f"item {index + 1}: expected {_gold_shown(gold)!r}, got {excerpt(item)!r}"
    if len(golds) > len(found.items):
        return f"expected {len(golds)} items, got {len(found.items)}; the first one missing is {_gold_shown(golds[len(found.items)])!r}"
    if len(golds) < len(found.items):
        return f"expected {len(golds)} items, got {len(found.items)}; the first one too many is {excerpt(found.items[len(golds)])!r}"
    return ""


def _matched(view: View, golds: Sequence[Expect], found: Listed, context: GradeContext) -> str:
    items = found.items
    if len(items) > _MATCHED_AT_MOST + len(golds):
        return f"expected {len(golds)} items in any order, got {len(items)}"
    edges = [[column for column, item in enumerate(items) if _fits(view, gold, item, context)] for gold in golds]
    partner = maximum_matching(edges, len(items))
    missing = [_gold_shown(gold) for gold, column in zip(golds, partner, strict=True) if column < 0]
    extra = [excerpt(item) for column, item in enumerate(items) if column not in set(partner)]
    if not missing and not extra:
        return ""
    told = [f"missing {', '.join(map(repr, missing[:5]))}"] if missing else []
    told += [f"too many {', '.join(map(repr, extra[:5]))}"] if extra else []
    return f"expected {len(golds)} items in any order, got {len(items)}: {'; '.join(told)}"


def _gold_shown(gold: Expect) -> str:
    spec = gold.spec.get("value", gold.spec) if isinstance(gold.spec, Mapping) else gold.spec
    return spec if isinstance(spec, str) else json.dumps(spec, ensure_ascii=False, default=str)


def _canonical(items: Sequence[str], *, ordered: bool) -> str:
    folded = [canonical(item) for item in items]
    return json.dumps(folded if ordered else sorted(folded), ensure_ascii=False)
