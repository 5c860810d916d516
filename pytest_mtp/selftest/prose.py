"""Healthy prose of any length: varied sentences, no loops, the same for the same key."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import count

from pytest_mtp.selftest.dice import pick
from pytest_mtp.selftest.prose_words import LANGUAGES, NAMES
from pytest_mtp.selftest.tokens import split

_DEFAULT_WORDS = 110
_LONG_WORDS = 420
_MOST_WORDS = 6000
_COMMON = {
    "de": "der die und ist nicht ein auf wie was schreibe über bitte",
    "fr": "le la les est une des sur avec que écris pour quelle",
    "es": "el los una qué con por escribe sobre cuál cómo para",
    "it": "il che una per con scrivi sulla qual gli della",
    "en": "the a of and to is write about in what how",
}


def prose(key: str, *, language: str, words: int) -> str:
    """Text of at least `words` words (characters / 2 where words have no spaces), in paragraphs of five sentences."""
    made: list[str] = []
    size = 0
    for sentence in sentences(key, language):
        made.append(sentence)
        size += len(sentence.split()) if LANGUAGES[language].joint else len(sentence) // 2
        if size >= words:
            break
    joint = LANGUAGES[language].joint
    return "\n\n".join(joint.join(made[start : start + 5]) for start in range(0, len(made), 5))


def sentences(key: str, language: str) -> Iterator[str]:
    """Endless sentences; two neighbours never share a frame."""
    tongue = LANGUAGES[language]
    frame = -1
    for number in count():
        step = 1 + pick(key, "frame", number) % (len(tongue.sentences) - 1)
        frame = (frame + step) % len(tongue.sentences)
        yield _fill(tongue.sentences[frame], key, number, language)


def _fill(sentence: str, key: str, number: int, language: str) -> str:
    slots = LANGUAGES[language].slots
    places = count()

    def word(match: re.Match[str]) -> str:
        options = slots[match.group(1)]
        return options[pick(key, number, next(places)) % len(options)]

    filled = re.sub(r"\{(\w+)\}", word, sentence)
    return filled[:1].upper() + filled[1:]


@cache
def alternatives(word: str) -> tuple[str, ...]:
    """The other one-token words of its slots, in any language; none for a word that no slot holds.

    Where words have no spaces, a token's borders follow from the lengths before it: stand-ins are as long as the word.
    """
    for language in LANGUAGES.values():
        for options in language.slots.values():
            if word in options:
                fits = [other for other in options if other != word and len(split(other)) == 1]
                return tuple(other for other in fits if language.joint or len(other) == len(word))
    return ()


def language_of(prompt: str) -> str:
    """The language asked for by name, else the one the prompt is written in."""
    for word in re.findall(r"[^\W\d_]+", prompt.lower()):
        if word in NAMES:
            return NAMES[word]
    scripts = (("ja", r"[\u3040-\u30ff]"), ("zh", r"[\u4e00-\u9fff]"), ("ru", r"[\u0400-\u04ff]{3}"))
    for language, pattern in scripts:
        if re.search(pattern, prompt):
            return language
    spoken = set(re.findall(r"[^\W\d_]+", prompt.lower()))
    return max(_COMMON, key=lambda language: (len(spoken & set(_COMMON[language].split())), language == "en"))


def words_of(prompt: str) -> int:
    """How many words the prompt asks for."""
    lower = prompt.lower()
    if asked := re.search(r"(\d{1,4})[ -](word|sentence|paragraph|wörter|satz|sätze|mots|phrases|palabras|parole)", lower):
        per = {"sentence": 14, "satz": 14, "sätze": 14, "phrases": 14, "paragraph": 70}.get(asked.group(2), 1)
        return min(max(8, int(asked.group(1)) * per), _MOST_WORDS)
    if re.search(r"\b(one|a single|short|brief) (sentence|line)\b", lower):
        return 12
    return _LONG_WORDS if re.search(r"\b(long|story|essay|detailed|at length)\b", lower) else _DEFAULT_WORDS
