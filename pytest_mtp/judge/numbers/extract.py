"""Which number of a reply is its answer, or why none is."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass

from pytest_mtp.judge.numbers.scan import Token, scan
from pytest_mtp.judge.numbers.spelled import spelled_number
from pytest_mtp.judge.numbers.units import canonical_unit, unit_after
from pytest_mtp.judge.words.markers import MARKED_RULES, Mark, marks
from pytest_mtp.judge.words.normal import excerpt

_SENTENCE = 1500
_SENTENCES_BACK, _SPELLED_AT_MOST = 6, 80
_DIGIT = re.compile(r"[\d½-¾⅐-⅞]")
_CHUNK = 4096
_STOP = re.compile(r"(?:[.!?。！？؟।](?=\s|$|[\"'”’)*])|[。！？])")
_EQUALS = re.compile(r"[=＝≈]|\\approx|\\equiv")
_ASIDE = re.compile(r"[(,;，；（]|\b(?:because|since|as|weil|da|car|porque|poiché|так как)\b|因为|所以")
_OR = re.compile(r"[\s*_$]{0,8}+(?:or|and|to|oder|und|bis|ou|et|o|y|u|e|или|и|до|或|和|または|और|या|أو|و|/)[\s*_$]{0,8}+", re.IGNORECASE)
_BOLD = re.compile(r"(\*\*|__)(?=\S)([^*_\n]{1,80}?)\1")
_SETTLED_AFTER = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A number in the text: `context` is the segment it was chosen from, (start, end) its place in the whole text."""

    token: Token
    rule: str
    context: str
    start: int
    end: int
    settled: bool
    unit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """`code` is ANS.unextractable or ANS.ambiguous; `why` ends the title."""

    code: str
    why: str


def find_number(text: str, *, loose: bool = False, decimal_comma: bool = False) -> Found | Lost:
    """By the first rule that applies: boxed, last marker, last sentence that has numbers, and last number if `loose`."""
    for mark in marks(text):
        found = _in_mark(text, mark, decimal_comma=decimal_comma)
        if found is not None:
            return found
    found = _in_last_sentence(text, decimal_comma=decimal_comma)
    if isinstance(found, Lost) and loose:
        return _last(text, decimal_comma=decimal_comma) or found
    return found


def _in_mark(text: str, mark: Mark, *, decimal_comma: bool) -> Found | Lost | None:
    segment = text[mark.start : mark.end]
    tokens = scan(segment, decimal_comma=decimal_comma, marked=True)
    if not tokens:
        spelled = spelled_number(segment)
        return _marked(text, spelled, segment, mark) if spelled else None
    cut = _STOP.search(segment, tokens[0].end)
    sentence_end = cut.start() if cut else len(segment)
    inside = [token for token in tokens if token.start < sentence_end] or tokens
    clause = _ASIDE.search(segment, inside[0].end, sentence_end)  # `32 (since 3 * 12 = 36)`: what explains is not the answer
    clause_end = clause.start() if clause and inside[0].value is not None else sentence_end
    first_clause = [token for token in inside if token.start < clause_end]
    chosen = _after_equals(segment[:clause_end], first_clause)[0]
    problem = _problem(segment, inside, chosen)
    return problem or _marked(text, chosen, segment, mark)


def _marked(text: str, token: Token, segment: str, mark: Mark) -> Found:
    found = _found(text, token, segment, mark.start, mark.rule, closed=mark.closed)
    return dataclasses.replace(found, context=text[mark.at : mark.end])


def _after_equals(segment: str, tokens: list[Token]) -> list[Token]:
    """The numbers after the last equals sign that has any after it, else all."""
    for sign in reversed(list(_EQUALS.finditer(segment))):
        after = [token for token in tokens if token.start >= sign.end()]
        if after:
            return after
    return tokens


def _problem(segment: str, tokens: list[Token], chosen: Token) -> Lost | None:
    if chosen.value is None:
        return Lost(code="ANS.unextractable", why=f"what stands there is not one number: {excerpt(segment)!r}")
    following = next((token for token in tokens if token.start >= chosen.end), None)
    if following is None or (following.value, following.percent) == (chosen.value, chosen.percent):
        return None
    between = segment[chosen.end : following.start]
    unit = unit_after(segment, chosen.end)
    rest = between.replace(unit, "", 1) if unit else between
    compound = canonical_unit(unit) is not None and (not rest.strip() or _OR.fullmatch(rest) is not None)
    if _OR.fullmatch(between) or compound or between.strip() in {",", ";", "、", "，"}:
        return Lost(code="ANS.ambiguous", why=f"two numbers stand there: {excerpt(segment)!r}")
    return None


def _in_last_sentence(text: str, *, decimal_comma: bool) -> Found | Lost:
    """The last sentence that has numbers; one in which only dates and the like look like numbers is passed over."""
    end = len(text)
    lost = Lost(code="ANS.unextractable", why="the reply has no number")
    for _ in range(_SENTENCES_BACK):
        last = _last_digit(text, end)
        if last < 0:
            break
        start, limit = _sentence(text, last)
        segment = text[start:limit]
        tokens = scan(segment, decimal_comma=decimal_comma)
        if tokens:
            return _from_sentence(text, segment, start, tokens)
        lost = Lost(code="ANS.unextractable", why=f"nothing in its last numbers is a plain number: {excerpt(segment)!r}")
        end = start
    spelled = spelled_number(text) if len(text) <= _SPELLED_AT_MOST else None
    return _found(text, spelled, text, 0, "whole", closed=False) if spelled else lost


def _last_digit(text: str, end: int) -> int:
    """The place after the last digit before `end`, -1 for none; from behind, piece by piece."""
    for stop in range(end, 0, -_CHUNK):
        hits = [match.end() for match in _DIGIT.finditer(text, max(0, stop - _CHUNK), stop)]
        if hits:
            return hits[-1]
    return -1


def _from_sentence(text: str, segment: str, start: int, tokens: list[Token]) -> Found | Lost:
    chosen, rule = _chosen(segment, tokens)
    if chosen is None:
        return Lost(code="ANS.ambiguous", why=f"its last sentence has several numbers and marks none: {excerpt(segment)!r}")
    if chosen.value is None:
        return Lost(code="ANS.unextractable", why=f"what stands there is not one number: {excerpt(segment)!r}")
    return _found(text, chosen, segment, start, rule, closed=False)


def _sentence(text: str, end: int) -> tuple[int, int]:
    """(start, limit) of the sentence whose last digit ends at `end`."""
    stop = _STOP.search(text, end)
    newline = text.find("\n", end)
    limit = min(stop.start() if stop else len(text), newline if newline >= 0 else len(text), end + _SENTENCE)
    return _sentence_start(text, end), limit


def _chosen(segment: str, tokens: list[Token]) -> tuple[Token | None, str]:
    if len({(token.value, token.percent) for token in tokens}) == 1:
        return tokens[-1], "single-number"
    results = _after_equals(segment, tokens)
    if len(results) < len(tokens) and len({token.value for token in results}) == 1:
        return results[0], "equation"
    bold = [token for span in _BOLD.finditer(segment) for token in tokens if span.start() <= token.start and token.end <= span.end()]
    if len({token.value for token in bold}) == 1:
        return bold[-1], "bold"
    return None, ""


def _sentence_start(text: str, end: int) -> int:
    floor = max(0, end - _SENTENCE)
    start = max(floor, text.rfind("\n", floor, end) + 1)
    digits = end - 1
    while digits > start and text[digits - 1] in "0123456789.,":
        digits -= 1
    stops = [stop.end() for stop in _STOP.finditer(text, start, digits)]
    return stops[-1] if stops else start


def _last(text: str, *, decimal_comma: bool) -> Found | None:
    start = max(0, len(text) - _SENTENCE)
    tokens = [token for token in scan(text[start:], decimal_comma=decimal_comma) if token.value is not None]
    return _found(text, tokens[-1], text[start:], start, "last-number", closed=False) if tokens else None


def _found(text: str, token: Token, segment: str, offset: int, rule: str, *, closed: bool) -> Found:
    start, end = offset + token.start, offset + token.end
    settled = rule in MARKED_RULES and (closed or len(text) - end >= _SETTLED_AFTER)
    unit = token.money or unit_after(segment, token.end)
    return Found(token=token, rule=rule, context=segment, start=start, end=end, settled=settled, unit=unit)
