"""Characters that no tokenizer should let out: U+FFFD, control characters, lone surrogates, and text decoded twice."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

from pytest_mtp.judge.words.fences import code_spans, inside

_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ufdd0-\ufdef\ufffe\uffff]|[\ud800-\udfff]")
_HIGH = "€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ\x80-\xbf"
_TWICE = re.compile(f"[\xc2-\xdf][{_HIGH}]|[\xe0-\xef][{_HIGH}]{{2}}|\xf0[{_HIGH}]{{3}}")
_ENOUGH = 500  # more of them prove nothing more
_BARRED = re.compile("<[｜|][^<>]{1,40}[｜|]>")
_PIECES = re.compile(r"(?<=[a-z.,!?:;'\")])[ĠĊ](?=[A-Za-z\d\"'(])|(?<=[^\W_])▁(?=[^\W_])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """`count` of them, the first at `start`; `shown` is what one of them is, in ASCII. `cut`: only the last character of a cut reply."""

    count: int
    start: int
    shown: str
    cut: bool = False


def find_replacement(text: str, prompt: str, *, truncated: bool) -> Broken | None:
    """U+FFFD that the prompt did not bring. A budget may end inside a character: then it is the last one, and no fault."""
    if "\ufffd" not in text or "\ufffd" in prompt:
        return None
    count, start = text.count("\ufffd"), text.index("\ufffd")
    cut = truncated and text.rstrip("\ufffd").find("\ufffd") < 0 and count <= 3
    return Broken(count=count, start=start, shown="U+FFFD", cut=cut)


def find_control(text: str, prompt: str, *, truncated: bool) -> Broken | None:
    """Control characters besides tab and line ends, noncharacters, lone surrogates."""
    if _CONTROL.search(text) is None:
        return None
    twice = [
        match.span() for match in itertools.islice(_TWICE.finditer(text), _ENOUGH)
    ]  # C1 characters inside mojibake are told as mojibake
    controls = itertools.islice(_CONTROL.finditer(text), _ENOUGH)
    found = [match for match in controls if match[0] not in prompt and not inside(twice, match.start())]
    if not found:
        return None
    first = found[0]
    surrogate = "\ud800" <= first[0] <= "\udfff"
    cut = truncated and surrogate and len(found) == 1 and first.end() == len(text)
    name = "lone surrogate " if surrogate else ""
    return Broken(count=len(found), start=first.start(), shown=f"{name}U+{ord(first[0]):04X}", cut=cut)


def find_mojibake(text: str, prompt: str) -> Broken | None:
    """UTF-8 read as Latin-1 or Windows-1252 where that can be undone (Ã© is é), and token pieces that were never joined (Ġ, ▁)."""
    code: list[tuple[int, int]] | None = None
    hits = []
    for match in itertools.islice(_TWICE.finditer(text), _ENOUGH):
        undone = _undone(match[0])
        if undone is None or match[0] in prompt:
            continue
        code = code_spans(text) if code is None else code
        if not inside(code, match.start()):
            hits.append((match, undone))
    if len(hits) >= 2:
        match, undone = hits[0]
        return Broken(count=len(hits), start=match.start(), shown=f"{match[0]!r} for {undone!r}")
    special = [match.span() for match in _BARRED.finditer(text)]
    pieces = [
        match
        for match in itertools.islice(_PIECES.finditer(text), _ENOUGH)
        if match[0] not in prompt and not inside(special, match.start())
    ]
    if len(pieces) >= 2:
        return Broken(count=len(pieces), start=pieces[0].start(), shown=f"the token piece mark {pieces[0][0]!r}")
    return None


def _undone(text: str) -> str | None:
    raw = bytearray()
    for char in text:
        try:
            raw += char.encode("cp1252")
        except UnicodeEncodeError:
            if ord(char) > 0xFF:
                return None
            raw.append(ord(char))  # the five holes of cp1252
    try:
        undone = raw.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return undone if undone.isprintable() else None
