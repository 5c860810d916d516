"""One character over and over. `!!!!!!` is token 0 of many vocabularies: what comes out when logits are not numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_mtp.judge.words.fences import code_spans, inside

_RUN = re.compile(r"(\S)\1{31,}")
_LEADERS = frozenset(".-_=*~#─━═│┃║╌╍┄┅█▓▒░▀▄■□●○·•…‐–—+|/\\^<>0")
_BASE64 = re.compile(r"[A-Za-z0-9+/=]{80,}")
_LEAST = {"letter": 60, "mark": 40, "leader": 1500}


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """`char` times `length` from `start` on."""

    char: str
    length: int
    start: int


def find_run(text: str, *, asked: bool = False) -> Run | None:
    """The longest run that no healthy text has: leaders and rules may be long, letters and exclamation marks may not. Code is left out.

    `asked`: the prompt wants repetition, and only an absurd length counts.
    """
    code: list[tuple[int, int]] | None = None
    worst: Run | None = None
    for match in _RUN.finditer(text):
        char, length = match[1], match.end() - match.start()
        if length < _least(char) * (20 if asked else 1) or (worst and length <= worst.length):
            continue
        code = code_spans(text) if code is None else code
        if inside(code, match.start()) or _encoded(text, match):
            continue
        worst = Run(char=char, length=length, start=match.start())
    return worst


def _least(char: str) -> int:
    if char in _LEADERS:
        return _LEAST["leader"]
    return _LEAST["letter"] if char.isalnum() or not char.isascii() else _LEAST["mark"]


def _encoded(text: str, match: re.Match[str]) -> bool:
    """Zeros in base64 are a run of A."""
    around = _BASE64.search(text, max(0, match.start() - 100), min(len(text), match.end() + 100))
    return around is not None and len(set(around[0])) > 12
