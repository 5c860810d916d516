r"""Where a reply says that its answer comes now: `\boxed{}`, `####`, and "answer:" in the languages people ask in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_SEGMENT = 600
_TRIES = 50
_LATIN_WORDS = (
    "answer", "antwort", "lösung", "ergebnis", "réponse", "reponse", "respuesta", "resposta", "risposta", "antwoord", "svaret", "svar",
    "vastaus", "odpowiedź", "odpověď", "odpoveď", "odgovor", "válasz", "răspunsul", "răspuns", "cevap", "yanıt", "jawabannya", "jawaban",
    "đáp án", "đáp số", "câu trả lời", "jibu", "ответ", "відповідь", "отговор", "одговор", "απάντηση",
)  # fmt: skip
_OTHER_WORDS = (
    "最终答案", "最終答案", "最終的な答え", "答案", "答え", "解答", "回答", "答", "정답", "답변", "답은", "답",
    "الإجابة النهائية", "الإجابة", "الاجابة", "الجواب", "الناتج", "תשובה", "پاسخ نهایی", "پاسخ", "جواب",
    "उत्तर", "উত্তর", "பதில்", "సమాధానం", "คำตอบ",
)  # fmt: skip
_LINKS = (
    "is|are|was|be|equals|equal to|comes to|ist|lautet|beträgt|est|es|é|è|är|er|on|jest|to|je|adalah|ialah|olarak|là|este|είναι|составляет"
)
_OTHER_LINKS = "是|为|為|は|が|은|는|이|هو|هي|است|है|হল|คือ"


def _either_case(word: str) -> str:
    first = word[0]  # both cases by hand: with a flag the search would lose its table of first letters
    return f"(?:[{first.upper()}{first}]{re.escape(word[1:])}|{re.escape(word.upper())})"


_LATIN = "|".join(map(_either_case, _LATIN_WORDS))
_OTHER = "|".join(_OTHER_WORDS)
_STARS = r"(?:[ \t]*(?:\*\*|__|\*))?"
_ASIDE = r"(?:[ \t]+(?:to|for|of|in)\b[^\n:.]{0,60}?|,[^\n:.,]{0,40},|(?:[ \t]+\w{1,12}){0,2}?)"
_LINKED = rf"(?:[ \t]*[:：=→]|[ \t]*[-=]>|{_ASIDE}[ \t]+(?:{_LINKS})\b)"
_MARKER = re.compile(
    rf"(?:(?P<word>{_LATIN})(?:[ \t]*\([^()\n]{{0,40}}\))?{_STARS}{_LINKED}"
    rf"|(?:{_OTHER}){_STARS}(?:[ \t]*[:：=→]|[ \t]*(?:{_OTHER_LINKS})))(?:[ \t]*[:：])?{_STARS}"
)
_HASHES = re.compile(r"^#{4}[ \t]+(?=[-+−(]?[$€£¥]?[\d.\w])(?!\d{1,3}[.)][ \t])", re.MULTILINE)
_HEADING = re.compile(rf"^(?:#{{1,6}}[ \t]+|\*\*)(?:\w{{1,20}}[ \t]+){{0,2}}(?:{_LATIN}|{_OTHER})[ \t]*(?:\*\*)?[ \t]*$", re.MULTILINE)
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
    r"""Marked segments: `\boxed{}` from the last to the first, then the other markers from the last to the first."""
    yield from _boxed(text)
    found = [("answer-marker", match) for match in _MARKER.finditer(text) if not _inside_word(text, match)]
    if "#" in text or "**" in text:
        found += [("hash-marker", match) for match in _HASHES.finditer(text)]
        found += [("heading", match) for match in _HEADING.finditer(text)]
        found.sort(key=lambda pair: pair[1].end())
    for rule, match in found[: -_TRIES - 1 : -1]:
        yield _line(text, rule, match)


def _inside_word(text: str, match: re.Match[str]) -> bool:
    """`Ansvar:` is no `svar:`."""
    return match["word"] is not None and match.start() > 0 and text[match.start() - 1].isalnum()


def _line(text: str, rule: str, match: re.Match[str]) -> Mark:
    """The rest of the marker's line; the next line that has words when the rest has none."""
    start = match.end()
    end = _line_end(text, start)
    for _ in range(4):
        if end >= len(text) or not _ONLY_MARKUP.fullmatch(text, start, end):
            break
        start, end = end + 1, _line_end(text, end + 1)
    return Mark(rule=rule, at=match.start(), start=start, end=min(end, start + _SEGMENT), closed=end < len(text))


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
