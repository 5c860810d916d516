r"""Where a reply says that its answer comes now: `\boxed{}`, `####`, and "answer:" in the languages people ask in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MARKED_RULES = frozenset({"boxed", "answer-marker", "hash-marker", "heading"})
_SEGMENT = 600
_TRIES = 50
_WINDOW = 100_000
_LATIN_WORDS = (
    "answer", "antwort", "lösung", "ergebnis", "réponse", "reponse", "respuesta", "resposta", "risposta", "antwoord", "svaret", "svar",
    "vastaus", "odpowiedź", "odpověď", "odpoveď", "odgovor", "válasz", "răspunsul", "răspuns", "cevap", "yanıt", "jawabannya", "jawaban",
    "đáp án", "đáp số", "câu trả lời", "jibu", "ответ", "відповідь", "отговор", "одговор", "απάντηση",
)  # fmt: skip
_LATIN_SET = frozenset(_LATIN_WORDS)
_OTHER_WORDS = (
    "最终答案", "最終答案", "最終的な答え", "答案", "答え", "解答", "回答", "答", "정답", "답변", "답은", "답",
    "الإجابة النهائية", "الإجابة", "الاجابة", "الجواب", "الناتج", "תשובה", "پاسخ نهایی", "پاسخ", "جواب",
    "उत्तर", "উত্তর", "பதில்", "సమాధానం", "คำตอบ",
)  # fmt: skip
# Polish and Czech say `to` for `is`; English says "the answer to the question".
_TO = r"to(?![ \t]+(?:the|this|that|these|those|your|our|my|a|an|all|any|each|question)\b)"
_LINKS = (
    f"is|are|was|be|equals|equal to|comes to|ist|lautet|beträgt|est|es|é|è|är|er|on|jest|{_TO}|je|"
    "adalah|ialah|olarak|là|este|είναι|составляет"
)
_OTHER_LINKS = "是|为|為|は|が|은|는|이|هو|هي|است|है|হল|คือ"


_STARS = r"(?:[ \t]{0,6}(?:\*\*|__|\*))?"
_ASIDE = r'(?:[ \t]{1,6}(?:to|for|of|in)\b[^\n:.?"“”„«»]{0,60}?|,[^\n:.,]{0,40},|(?:[ \t]{1,6}\w{1,12}){0,2}?)'
_LINKED = rf"(?:[ \t]{{0,6}}[:：=→]|[ \t]{{0,6}}[-=]>|{_ASIDE}[ \t]{{1,6}}(?:{_LINKS})\b)"
_AFTER_LATIN = re.compile(rf"(?:[ \t]{{0,6}}\([^()\n]{{0,40}}\))?{_STARS}{_LINKED}(?:[ \t]{{0,6}}[:：])?{_STARS}", re.IGNORECASE)
_AFTER_OTHER = re.compile(rf"{_STARS}(?:[ \t]{{0,6}}[:：=→]|[ \t]{{0,6}}(?:{_OTHER_LINKS}))(?:[ \t]{{0,6}}[:：])?{_STARS}")
_HASHES = re.compile(r"^#{4}[ \t]+(?=[-+−(]?[$€£¥]?[\d.\w])(?!\d{1,3}[.)][ \t])", re.MULTILINE)
_HEADING_BEFORE = re.compile(r"(?:^|\n)(?:#{1,6}[ \t]+|\*\*)(?:\w{1,20}[ \t]+){0,2}$")
_HEADING_AFTER = re.compile(r"[ \t]*(?:\*\*)?[ \t]*(?=\n|$)")
_ONLY_MARKUP = re.compile(r"[\s*_`$>:：]*(?:\\[\[(])?[\s*_`$]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """The words after a marker, at (start, end) of the text. `closed` when a newline or a brace ends them; `at`: the marker."""

    rule: str
    at: int
    start: int
    end: int
    closed: bool


def marks(text: str) -> Iterator[Mark]:
    r"""Marked segments: `\boxed{}` from the last to the first, then the other markers from the last to the first.

    The last 100 000 characters are searched: what was said before them is not how a reply ends.
    """
    yield from _boxed(text)
    floor = max(0, len(text) - _WINDOW)
    found = [*_worded(text, floor)]
    if text.find("####", floor) >= 0:
        found += [("hash-marker", match.start(), match.end()) for match in _HASHES.finditer(text, floor)]
    found.sort(key=lambda hit: hit[2])
    for rule, at, end in found[: -_TRIES - 1 : -1]:
        yield _line(text, rule, at, end)


def _worded(text: str, floor: int) -> Iterator[tuple[str, int, int]]:
    """(rule, start, end) of the markers that begin with a word for answer. Plain searches: an alternation of 60 words is slow."""
    lower = text[floor:].replace("İ", "I").lower()  # the one letter whose lower case is longer
    for word in (*_LATIN_WORDS, *_OTHER_WORDS):
        at = lower.rfind(word)
        for _ in range(_TRIES):
            if at < 0:
                break
            hit = _marker(text, floor + at, floor + at + len(word), latin=word in _LATIN_SET)
            if hit:
                yield hit
            at = lower.rfind(word, 0, at)


def _marker(text: str, start: int, end: int, *, latin: bool) -> tuple[str, int, int] | None:
    if latin and start and text[start - 1].isalnum():  # `Ansvar:` is no `svar:`
        return None
    after = (_AFTER_LATIN if latin else _AFTER_OTHER).match(text, end)
    if after:
        return "answer-marker", start, after.end()
    heading = _HEADING_AFTER.match(text, end)
    if heading and _HEADING_BEFORE.search(text[max(0, start - 60) : start]):
        return "heading", start, heading.end()
    return None


def _line(text: str, rule: str, at: int, start: int) -> Mark:
    """The rest of the marker's line; the next line that has words when the rest has none."""
    end = _line_end(text, start)
    for _ in range(4):
        if end >= len(text) or not _ONLY_MARKUP.fullmatch(text, start, end):
            break
        start, end = end + 1, _line_end(text, end + 1)
    return Mark(rule=rule, at=at, start=start, end=min(end, start + _SEGMENT), closed=end < len(text))


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _boxed(text: str) -> Iterator[Mark]:
    at, size = len(text), len("\\boxed{")
    for _ in range(_TRIES):
        at = text.rfind("\\boxed{", 0, at)
        if at < 0:
            return
        end = _brace(text, at + size)
        if end >= 0:
            yield Mark(rule="boxed", at=at, start=at + size, end=end, closed=True)


def _brace(text: str, start: int) -> int:
    """Index of the closing brace, or -1 when it does not come within a segment."""
    depth = 1
    for index in range(start, min(len(text), start + _SEGMENT)):
        if text[index - 1] == "\\":
            continue
        if text[index] == "{":
            depth += 1
        elif text[index] == "}":
            depth -= 1
            if depth == 0:
                return index
    return -1
