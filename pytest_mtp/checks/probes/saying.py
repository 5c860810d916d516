"""Asks that every probe words alike."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from pytest_mtp.core.ask import Ask, Sampling
from pytest_mtp.core.case import Case
from pytest_mtp.core.record import Json

COUNT = "Count from one to fifty in words, separated by commas."
STORY = "Write a short story about a lighthouse keeper who finds a letter."


def say(prompt: str, *, max_tokens: int, stream: bool = False, temperature: float = 0.0, **sampling: object) -> Ask:
    """One user message."""
    plain: Mapping[str, object] = {"temperature": temperature, "max_tokens": max_tokens, **sampling}
    return Ask(messages=({"role": "user", "content": prompt},), sampling=Sampling.from_dict(plain), stream=stream)


def secret_word(place: int) -> str:
    """Of the request at this place: letters and digits that no prompt and no other request holds."""
    return "zq" + hashlib.sha256(f"canary {place}".encode()).hexdigest()[:8]


def whole(case: Case, name: str, default: int) -> int:
    """A whole number of `with`, which the schema has checked."""
    value: Json = case.params.get(name, default)
    assert isinstance(value, int | float)  # the schema takes 3.0 for an integer
    return int(value)
