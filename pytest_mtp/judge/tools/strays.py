"""Markers that a parser left behind: in the text, and inside the arguments of calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_mtp.core.case import CaseSeverity
from pytest_mtp.core.verdict import Finding
from pytest_mtp.judge.judgement import View
from pytest_mtp.judge.reasoning import FAMILIES
from pytest_mtp.judge.tools.answer import json_text
from pytest_mtp.judge.tools.reading import ReadCall
from pytest_mtp.judge.tools.report import found, kept
from pytest_mtp.judge.tools.written import Passage, is_special, markers_of
from pytest_mtp.judge.words.fences import code_spans, inside
from pytest_mtp.judge.words.normal import excerpt

_MARKERS = markers_of()
_ENDINGS = ("</parameter>", "</function>", "</tool_call>", "</arg_value>", "</invoke>")
_MOST_SHOWN = 6
_LONG = 1000
_HINTS = ("<", "[", "◁", "\\u")


def text_strays(
    text: str, there: Sequence[Passage], excused: Sequence[Passage], view: View, case_severity: CaseSeverity
) -> Iterator[Finding]:
    """Special tokens anywhere; tags such as </tool_call> where they stand alone on a line or end the text.

    Of `there` only the marker is known to be one; nothing inside `excused` is looked at. A conversation that names one
    marker of a family is about the others too.
    """
    seen = {passage.marker: passage.start for passage in there if passage.marker and _stands_out(text, passage.marker, passage.start)}
    talk = view.prompt
    code: list[tuple[int, int]] | None = None
    for marker, siblings in _MARKERS.items():
        at = text.find(marker)
        if at < 0 or any(marker in other for other in seen) or any(word in talk for word in siblings):
            continue
        if not _stands_out(text, marker, at):
            at = text.rfind(marker)
        if any(passage.start <= at < passage.end for passage in excused) or not _stands_out(text, marker, at):
            continue
        code = code_spans(text) if code is None else code
        if not inside(code, at):
            seen[marker] = at
    if seen:
        words = ", ".join(list(seen)[:_MOST_SHOWN])
        at = min(seen.values())
        title = f"call markers stand in the text: {words}"
        evidence = {"markers": list(seen), "text": kept(text[max(0, at - 200) : at + 400])}
        yield found("TOOL.leak", title, case_severity, where="content", evidence=evidence)


def _stands_out(text: str, marker: str, at: int) -> bool:
    if is_special(marker):
        return True
    line_start = text.rfind("\n", 0, at) + 1
    line_end = text.find("\n", at)
    line = text[line_start : line_end if line_end >= 0 else len(text)]
    return line.strip() == marker or not text[at + len(marker) :].strip()


def argument_strays(calls: Sequence[ReadCall], view: View, case_severity: CaseSeverity) -> Iterator[Finding]:
    """Markers of calls or of reasoning inside arguments, unless the conversation is about them.

    A long argument may well be a program or a page about them: there only a marker at the edge of a value counts. Reasoning
    tags that come in pairs were written on purpose.
    """
    for call in calls:
        raw = call.wire.arguments
        if not call.parsed.whole or not any(hint in raw for hint in _HINTS):  # broken arguments have told it already
            continue
        text = json_text(call.parsed.value).replace('\\"', '"')  # as the values have it, however the server escapes
        left = [marker for marker in _MARKERS if marker in text and is_special(marker) and _counts(marker, text)]
        left += [
            tag for pair in FAMILIES if text.count(pair[0]) != text.count(pair[1]) for tag in pair if tag in text and _counts(tag, text)
        ]
        left += [ending for ending in _ENDINGS if ending + '"' in text]
        left = [marker for marker in dict.fromkeys(left) if marker not in view.prompt]
        if left:
            title = f"{call.where} {excerpt(call.name, 40)}: markers inside the arguments: {', '.join(left[:_MOST_SHOWN])}"
            yield found("TOOL.leak", title, case_severity, where=call.where, evidence={"arguments": kept(raw), "markers": left})


def _counts(marker: str, text: str) -> bool:
    return len(text) <= _LONG or f'"{marker}' in text or f'{marker}"' in text
