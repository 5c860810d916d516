"""A command line that may be shown: secrets masked; and what any program's command line seems to say."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pytest_mtp.client.redaction import MASK

_SECRET_NAME = r"(?:api[-_]?keys?|auth|authorization|keys?|tokens?|secrets?|passw(?:or)?d|passphrase|credentials?)"  # noqa: S105 (a pattern)
_SECRET_FLAG = re.compile(rf"--?(?:[a-z0-9_.-]*[-_.])?{_SECRET_NAME}", re.IGNORECASE)
_COUNTED = re.compile(r"(max|min|num|n|new|batched|draft|speculative|predict)[a-z_-]*[-_]tokens?$", re.IGNORECASE)
_ASSIGNED = re.compile(rf"\b((?:[A-Za-z0-9]+[-_.])*{_SECRET_NAME})=(\S+)", re.IGNORECASE)
_QUOTED = re.compile(rf"""(["'](?:[a-z0-9]+[-_.])*{_SECRET_NAME}["']\s*:\s*["'])[^"']+""", re.IGNORECASE)
_BEARER = re.compile(r"\b(bearer|basic|token)[ :]+[^\s\"']{6,}", re.IGNORECASE)
_KNOWN_FORMS = re.compile(r"\b(?:sk|hf|gsk|xai|ghp|glpat|nvapi)[-_][A-Za-z0-9_-]{8,}")
_IN_URL = re.compile(r"(://)[^/@\s]+@")

_MODEL_FLAGS = ("--model", "--model-path", "--model_path", "--model-dir", "-m")
_SPECULATION = re.compile(r"spec|draft|mtp|nextn|eagle|medusa|lookahead|ngram", re.IGNORECASE)
_WEIGHTS = re.compile(r"\.(gguf|safetensors)$", re.IGNORECASE)


def masked(command: Sequence[str]) -> tuple[str, ...]:
    """The words with every value masked that looks like a key: too many rather than too few."""
    shown: list[str] = []
    hiding = False
    for word in command:
        if word.startswith("-"):
            name, sign, _ = word.partition("=")
            secret = _SECRET_FLAG.fullmatch(name) is not None and _COUNTED.search(name) is None
            hiding = secret and not sign
            shown.append(f"{name}={MASK}" if secret and sign else _without_secrets(word))
        else:
            shown.append(MASK if hiding else _without_secrets(word))
    return tuple(shown)


def _without_secrets(word: str) -> str:
    word = _IN_URL.sub(rf"\1{MASK}@", word)
    word = _QUOTED.sub(rf"\1{MASK}", word)
    word = _BEARER.sub(rf"\1 {MASK}", word)
    word = _ASSIGNED.sub(lambda found: found[0] if _COUNTED.search(found[1]) else f"{found[1]}={MASK}", word)
    return _KNOWN_FORMS.sub(MASK, word)


def hints(command: Sequence[str]) -> tuple[str, ...]:
    """What the flags of a program that we do not know seem to say, one line each: a hint, never a fact. `command` is masked."""
    lines = []
    for place, word in enumerate(command[1:], start=1):
        name, sign, value = word.partition("=")
        follows = command[place + 1] if place + 1 < len(command) and not command[place + 1].startswith("-") else ""
        value = value if sign else follows
        if name in _MODEL_FLAGS and value and not _is_module(command, place):
            lines.append(f"its command line seems to name the model: {name} {value}")
        elif word.startswith("-") and _SPECULATION.search(name):
            lines.append(f"its command line seems to speak of speculation: {name} {value}".rstrip())
        elif not word.startswith("-") and _WEIGHTS.search(word) and command[place - 1] not in _MODEL_FLAGS:
            lines.append(f"its command line names a file of weights: {word}")
    return tuple(lines)


def _is_module(command: Sequence[str], place: int) -> bool:
    """`python -m package` is no model."""
    return place == 1 and command[place] == "-m" and "python" in command[0].rpartition("/")[2]
