"""`date`: the same day, the same time of day, or the same instant whatever its zone."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass

from pytest_mtp.core.case import Expect
from pytest_mtp.core.errors import UsageError
from pytest_mtp.core.record import Json
from pytest_mtp.judge.dates.moment import Moment, from_iso
from pytest_mtp.judge.dates.scan import Mention, scan
from pytest_mtp.judge.judgement import Extraction, GradeContext, Judgement, View, conclude
from pytest_mtp.judge.words.difference import aligned
from pytest_mtp.judge.words.markers import marks
from pytest_mtp.judge.words.normal import excerpt

_TAIL = 4000
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n+")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    mention: Mention | None
    rule: str = ""
    offset: int = 0
    settled: bool = False
    several: tuple[str, ...] = ()


def read_spec(spec: Json) -> Moment:
    """An ISO 8601 day, month, time or both. Raises UsageError."""
    value = spec.get("value") if isinstance(spec, dict) else spec
    moment = from_iso(value) if isinstance(value, str) else None
    if moment is None:
        raise UsageError(f"date: expected an ISO date or time such as 2024-05-01 or 2024-05-01T15:30:00Z, got {spec!r}")
    return moment


def grade(view: View, expect: Expect, context: GradeContext) -> Judgement:
    """The grader of `date`."""
    gold = read_spec(expect.spec)
    wanted = gold.shown()
    found = _find(view.text, gold)
    if found.several:
        title = f"expected {wanted}, got {' and '.join(found.several[:4])}, none marked"
        return conclude([context.finding("ANS.ambiguous", title, evidence={"expected": wanted, "got": list(found.several)})])
    if found.mention is None:
        title = f"expected {wanted}, found no date: {excerpt(view.text[-80:])!r}"
        return conclude([context.finding("ANS.unextractable", title, evidence={"expected": wanted})])
    start, end = found.offset + found.mention.start, found.offset + found.mention.end
    words = view.text[start:end]
    if found.mention.moment is None:
        code = "ANS.ambiguous" if "may be" in found.mention.why else "ANS.wrong"
        return conclude([context.finding(code, f"expected {wanted}, got {words!r}: {found.mention.why}")])
    extraction = Extraction(text=words, rule=found.rule, span=(start, end), settled=found.settled)
    return _compare(gold, found.mention.moment, extraction, context)


def _compare(gold: Moment, got: Moment, extraction: Extraction, context: GradeContext) -> Judgement:
    wanted, given = gold.shown(), got.shown()
    same, gap = _same(gold, got)
    if same:
        return conclude(answer=wanted, extraction=extraction)
    if gap:
        return conclude([context.finding("ANS.ambiguous", f"expected {wanted}, got {given}: {gap} (rule {extraction.rule})")])
    title = f"expected {wanted}, got {given} (rule {extraction.rule}: {excerpt(extraction.text)!r})"
    finding = context.finding("ANS.wrong", title, detail=aligned(wanted, given), evidence={"expected": wanted, "got": given})
    return conclude([finding], answer=given, extraction=extraction)


def _same(gold: Moment, got: Moment) -> tuple[bool, str]:
    """Whether they are the same, and what is missing to tell."""
    if gold.day is not None and got.day is None:
        return False, "the day is missing"
    if gold.time is not None and got.time is None:
        return False, "the time is missing"
    if gold.day is not None and got.day is not None and gold.day_known and not got.day_known:
        return False, "the day of the month is missing"
    if gold.time is not None and gold.offset is not None:
        if got.offset is None:
            return False, "the zone is missing"
        if gold.day is not None:
            return gold.instant() == got.instant(), ""
        return _of_day(gold) == _of_day(got), ""
    same_day = gold.day is None or (got.day is not None and (gold.day == got.day if gold.day_known else _month(gold) == _month(got)))
    return same_day and (gold.time is None or gold.time == got.time), ""


def _month(moment: Moment) -> tuple[int, int] | None:
    return (moment.day.year, moment.day.month) if moment.day else None


def _of_day(moment: Moment) -> dt.timedelta:
    time = moment.time or dt.time(0)
    since = dt.timedelta(hours=time.hour, minutes=time.minute - (moment.offset or 0), seconds=time.second, microseconds=time.microsecond)
    return since % dt.timedelta(days=1)


def _find(text: str, gold: Moment) -> _Found:
    for mark in marks(text):
        mentions = _fitting(scan(text[mark.start : mark.end]), gold)
        if mentions:
            settled = mark.closed or len(text) - mark.end > 0
            return _one(mentions, mark.rule, mark.start, settled=settled)
    offset = max(0, len(text) - _TAIL)
    mentions = _fitting(scan(text[offset:]), gold)
    if not mentions:
        return _Found(mention=None)
    only = _one(mentions, "single-date", offset, settled=False)
    if not only.several:
        return only
    start = offset  # several: those of the last sentence that has any
    for cut in _SENTENCE.finditer(text, offset):
        if cut.end() <= offset + mentions[-1].start:
            start = cut.end()
    last = [mention for mention in mentions if offset + mention.start >= start]
    return _one(last, "last-sentence", offset, settled=False)


def _fitting(mentions: list[Mention], gold: Moment) -> list[Mention]:
    """A time of day is no answer to a question about a day, unless nothing else is there."""
    if gold.day is None:
        return [mention for mention in mentions if mention.moment is None or mention.moment.time is not None]
    return [mention for mention in mentions if mention.moment is None or mention.moment.day is not None] or mentions


def _one(mentions: list[Mention], rule: str, offset: int, *, settled: bool) -> _Found:
    distinct = {mention.moment.shown() if mention.moment else mention.why: mention for mention in mentions}
    if len(distinct) > 1:
        return _Found(mention=None, several=tuple(distinct))
    return _Found(mention=mentions[-1], rule=rule, offset=offset, settled=settled)
