"""Labels of offered options: read from the case or from the prompt, and written in other letters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

_SEQUENCES = (
    "ABCDEFGHIJ",
    "abcdefghij",
    "АБВГДЕЖЗ",
    "абвгдежз",
    "ΑΒΓΔΕΖ",
    "أبجدهو",
    "アイウエオ",
    "가나다라마",
    "甲乙丙丁戊",
    "123456789",
    "אבגדהו",
)
_OPTION = re.compile(
    r"(?:^|(?<=[\s(（\[]))(?P<label>[A-Ja-jА-Иа-иΑ-Ζأبجدهوアイウエオ가나다라마甲乙丙丁戊1-9אבגדהו])[)\].:、：．）]\s*(?P<text>[^\n]{0,300})",
    re.MULTILINE,
)
_HOMOGLYPHS = str.maketrans("АВСЕНКМОРТХавсеорхΑΒΕΗΙΚΜΝΟΡΤΧ", "ABCEHKMOPTXabceopxABEHIKMNOPTX")


def options_in(prompt: str) -> dict[str, str]:
    """Label to text of the last list of options in a prompt: labels that count up from the first one, two at least."""
    best: dict[str, str] = {}
    for sequence in _SEQUENCES:
        found: dict[str, str] = {}
        for match in _OPTION.finditer(prompt):
            label, text = match["label"], match["text"]
            if label == sequence[0]:
                found = {label: text}
            elif found and len(found) < len(sequence) and label == sequence[len(found)]:
                previous = sequence[len(found) - 1]
                found[previous] = _until(found[previous], label)
                found[label] = text
        if len(found) >= 2 and len(found) > len(best):
            best = {label: text.strip().rstrip(",;") for label, text in found.items()}
    return best


def _until(text: str, label: str) -> str:
    """Options on one line: the text of one ends where the next label begins."""
    cut = re.search(rf"[\s(（\[]{re.escape(label)}[)\].:、：．）]", text)
    return text[: cut.start()] if cut else text


def same_label(given: str, labels: Mapping[str, str]) -> str | None:
    """The offered label that `given` writes: full width, circled, in the other case, or a look-alike of another script."""
    plain = unicodedata.normalize("NFKC", given).strip("()")
    for candidate in (given, plain, plain.upper(), plain.lower(), plain.translate(_HOMOGLYPHS).upper()):
        if candidate in labels:
            return candidate
    folded = plain.translate(_HOMOGLYPHS).upper()
    return next((label for label in labels if label.translate(_HOMOGLYPHS).upper() == folded), None)
