"""`language`: the answer is in the asked language. What is too short to tell is unextractable, not wrong."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_mtp.core.case import Expect
from pytest_mtp.core.errors import UsageError, nearest
from pytest_mtp.core.record import Json
from pytest_mtp.judge.judgement import Extraction, GradeContext, Judgement, View, conclude
from pytest_mtp.judge.languages.detect import KNOWN, detect
from pytest_mtp.judge.languages.profiles import BY_SCRIPT
from pytest_mtp.judge.words.normal import excerpt

_SAME = {"nb": "no", "nn": "no", "iw": "he", "in": "id", "ms": "id", "cmn": "zh", "yue": "zh", "jp": "ja", "gr": "el"}
_SETTLED = 200  # characters after which more text does not change the language


def read_spec(spec: Json) -> tuple[str, ...]:
    """Two-letter codes of ISO 639-1, one or several of which any will do; a region after a hyphen is left out."""
    items = [spec] if isinstance(spec, str) else spec
    if isinstance(items, str) or not isinstance(items, Sequence) or not items or any(not isinstance(item, str) for item in items):
        raise UsageError(f"language: expected a code such as de, got {spec!r}")
    codes = [str(item).lower().replace("_", "-").split("-")[0] for item in items]
    codes = [_SAME.get(code, code) for code in codes]
    for code in codes:
        if code not in KNOWN:
            raise UsageError(f"language: {code!r} is none of those that can be told{nearest(code, KNOWN)}: {', '.join(sorted(KNOWN))}")
    return tuple(codes)


def grade(view: View, expect: Expect, context: GradeContext) -> Judgement:
    """The grader of `language`."""
    wanted = read_spec(expect.spec)
    detected = detect(view.text)
    asked = " or ".join(wanted)
    if detected.language is None:
        if detected.script and not any(code in _of_script(detected.script) for code in wanted):
            title = f"expected an answer in {asked}, got {detected.script} letters: {excerpt(view.text)!r}"
            return conclude([context.finding("ANS.language", title)], answer=detected.script)
        may_be = f"; it may be {', '.join(detected.candidates[:4])}" if detected.candidates else ""
        title = f"expected an answer in {asked}; too short to tell{may_be}: {excerpt(view.text)!r}"
        return conclude([context.finding("ANS.unextractable", title)])
    extraction = Extraction(text=excerpt(view.text), rule="language", span=(0, len(view.text)), settled=len(view.text) >= _SETTLED)
    if detected.language in wanted:
        return conclude(answer=detected.language, extraction=extraction)
    title = f"expected an answer in {asked}, got {detected.language}: {excerpt(view.text)!r}"
    return conclude([context.finding("ANS.language", title)], answer=detected.language, extraction=extraction)


def _of_script(script: str) -> tuple[str, ...]:
    return ("zh", "ja") if script in {"Han", "Kana"} else BY_SCRIPT.get(script, ())
