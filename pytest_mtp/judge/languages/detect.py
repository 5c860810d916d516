"""The language of a text, or those between which it cannot be told."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_mtp.judge.languages.profiles import BY_SCRIPT, LETTERS, STOP_WORDS
from pytest_mtp.judge.languages.scripts import letters_by_script
from pytest_mtp.judge.words.fences import code_spans

_SAMPLE = 20_000
_NOISE = re.compile(r"https?://\S++|(?<![\w.+-])[\w.+-]++@[\w.-]++|\\[a-zA-Z]++|\$[^$\n]{1,200}\$|<[^<>\n]{1,80}>")
_WORD = re.compile(r"[^\s\d_.,;:!?…।॥؟،؛。！？、，「」『』“”‘«»\"()\[\]{}<>*/|\\=+~#–—-]+")  # vowel signs of Indic scripts are no \\w
_LETTER_WEIGHT = 0.5
_SURE = 4.0  # four frequent words of one language
_MARGIN = 1.3
KNOWN = frozenset({*STOP_WORDS, *(language for group in BY_SCRIPT.values() for language in group), "zh", "ja"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Detected:
    """`language` None: not told apart; `candidates` are then what it may be, the likeliest first. `script` is the main one."""

    language: str | None
    candidates: tuple[str, ...]
    script: str = ""


def detect(text: str) -> Detected:
    """By script, then by frequent words and telling letters. Code, addresses and formulas are left out."""
    prose = _prose(text[:_SAMPLE])
    counts = letters_by_script(prose)
    if not counts:
        return Detected(language=None, candidates=())
    east = counts.get("Han", 0) + counts.get("Kana", 0)
    main = max(counts, key=lambda script: counts[script])
    if main in {"Han", "Kana"} or east > counts.get(main, 0):
        return _east_asian(counts)
    languages = BY_SCRIPT.get(main, ())
    if len(languages) == 1:
        return Detected(language=languages[0], candidates=languages, script=main)
    return _by_words(prose, languages, main)


def _prose(text: str) -> str:
    kept, position = [], 0
    for start, end in code_spans(text):
        kept.append(text[position:start])
        position = end
    kept.append(text[position:])
    return _NOISE.sub(" ", " ".join(kept))


def _east_asian(counts: dict[str, int]) -> Detected:
    kana, han = counts.get("Kana", 0), counts.get("Han", 0)
    if kana * 12 >= han:  # Japanese prose has more kana than Han; titles in Chinese may quote a word of it
        return Detected(language="ja", candidates=("ja",), script="Han")
    return Detected(language="zh" if han >= 10 or kana == 0 else None, candidates=("zh", "ja"), script="Han")


def _by_words(prose: str, languages: tuple[str, ...], script: str) -> Detected:
    words = [word.lower().replace("’", "'") for word in _WORD.findall(prose)]
    letters = prose.lower()
    scores = {
        language: sum(word in STOP_WORDS[language] for word in words)
        + min(_LETTER_WEIGHT * sum(letters.count(letter) for letter in LETTERS.get(language, "")), 0.1 * len(words) + 1)
        for language in languages
    }
    ranked = sorted(scores, key=lambda language: -scores[language])
    best, second = ranked[0], ranked[1]
    likely = tuple(language for language in ranked if scores[language] > 0 and scores[language] * _MARGIN >= scores[best]) or languages
    if scores[best] >= min(_SURE, 2 + 0.1 * len(words)) and scores[best] >= _MARGIN * scores[second]:
        return Detected(language=best, candidates=likely, script=script)
    return Detected(language=None, candidates=likely, script=script)
