"""`text`: the normalised answer equals one of the accepted texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_mtp.core.case import Expect
from pytest_mtp.core.errors import UsageError, nearest
from pytest_mtp.core.record import Json
from pytest_mtp.judge.judgement import Extraction, GradeContext, Judgement, View, conclude
from pytest_mtp.judge.words.difference import aligned
from pytest_mtp.judge.words.markers import marks
from pytest_mtp.judge.words.normal import bare, canonical, excerpt

_KEYS = ("value", "one_of", "case", "fuzzy")
_STOP = re.compile(r"(?<=[^\s.])[.!?。！？](?=\s|$)")
_FUZZY_AT_MOST = 20_000
_MARKUP_AT_MOST = 2000  # white space, emphasis and quotation marks around an answer


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedText:
    """`case` True keeps upper and lower case apart; `fuzzy` is the least similarity from 0 to 1 (Indel ratio), None: equal."""

    values: tuple[str, ...]
    case: bool = False
    fuzzy: float | None = None


def read_spec(spec: Json, where: str = "text") -> AcceptedText:
    """A scalar, or the long form. Raises UsageError."""
    options = spec if isinstance(spec, Mapping) else {"value": spec}
    for key in options:
        if key not in _KEYS:
            raise UsageError(f"{where}: unknown key {key!r}{nearest(str(key), _KEYS)}; known are {', '.join(_KEYS)}")
    given = [options["value"]] if options.get("value") is not None else []
    more = options.get("one_of") or []
    if isinstance(more, str) or not isinstance(more, Sequence):
        raise UsageError(f"{where}: one_of must be a list, not {more!r}")
    values = [*given, *more]
    if not values or any(isinstance(value, bool) or not isinstance(value, str | int | float) for value in values):
        raise UsageError(f"{where}: expected a text, got {spec!r}")
    fuzzy = options.get("fuzzy")
    if fuzzy is not None and (isinstance(fuzzy, bool) or not isinstance(fuzzy, int | float) or not 0 < fuzzy <= 1):
        raise UsageError(f"{where}: fuzzy must be above 0 and at most 1, not {fuzzy!r}")
    case = options.get("case")
    if case not in {None, "strict", "fold", True, False}:
        raise UsageError(f"{where}: case must be 'strict' or 'fold', not {case!r}")
    return AcceptedText(values=tuple(map(str, values)), case=case in {"strict", True}, fuzzy=float(fuzzy) if fuzzy is not None else None)


def grade(view: View, expect: Expect, context: GradeContext) -> Judgement:
    """The grader of `text`."""
    accepted = read_spec(expect.spec)
    golds = [canonical(value, case=accepted.case) for value in accepted.values]
    longest = 4 * max(map(len, golds)) + _MARKUP_AT_MOST
    nearest_miss: Extraction | None = None
    for extraction in _candidates(view.text):
        if len(extraction.text) > longest:
            nearest_miss = nearest_miss or extraction
            continue
        given = canonical(extraction.text, case=accepted.case)
        if any(_equal(gold, given, accepted.fuzzy) for gold in golds):
            return conclude(answer=golds[0], extraction=extraction)
        nearest_miss = nearest_miss or extraction
    wanted = " or ".join(repr(excerpt(value, 40)) for value in accepted.values[:3])
    if nearest_miss is None or (nearest_miss.rule == "whole" and any(_within(gold, view.text, case=accepted.case) for gold in golds)):
        title = f"expected {wanted} alone; it stands inside a longer reply without a marker: {excerpt(view.text)!r}"
        return conclude([context.finding("ANS.unextractable", title, evidence={"expected": list(accepted.values)})])
    got = canonical(nearest_miss.text[:_FUZZY_AT_MOST], case=accepted.case)
    title = f"expected {wanted}, got {excerpt(bare(nearest_miss.text[:_FUZZY_AT_MOST]))!r} (rule {nearest_miss.rule})"
    evidence: dict[str, Json] = {"expected": list(accepted.values), "got": excerpt(nearest_miss.text, 200)}
    finding = context.finding("ANS.wrong", title, detail=aligned(golds[0], got), evidence=evidence)
    return conclude([finding], answer=got, extraction=nearest_miss)


def _candidates(text: str) -> Iterator[Extraction]:
    """The last marked segment, whole and up to its first full stop; the whole reply, and without a preface that ends in a colon."""
    for mark in marks(text):
        segment = text[mark.start : mark.end]
        if not bare(segment):
            continue
        settled = mark.closed
        yield Extraction(text=segment, rule=mark.rule, span=(mark.start, mark.end), settled=settled)
        stop = _STOP.search(segment)
        if stop:
            yield Extraction(text=segment[: stop.start()], rule=mark.rule, span=(mark.start, mark.start + stop.start()), settled=True)
        break
    yield Extraction(text=text, rule="whole", span=(0, len(text)))
    first, _, rest = text.strip().partition("\n")
    if first.rstrip().endswith((":", "：")) and rest.strip():
        yield Extraction(text=rest, rule="after-preface", span=(text.index(rest), len(text)))


def _equal(gold: str, given: str, fuzzy: float | None) -> bool:
    if gold == given or fuzzy is None:
        return gold == given
    if max(len(gold), len(given)) > _FUZZY_AT_MOST or not gold or not given:
        return False
    from rapidfuzz import fuzz  # noqa: PLC0415  # loaded by the cases that ask for it

    return fuzz.ratio(gold, given) >= fuzzy * 100


def _within(gold: str, text: str, *, case: bool) -> bool:
    return bool(gold) and re.search(rf"(?<!\w){re.escape(gold)}(?!\w)", canonical(text[-20_000:], case=case)) is not None
