"""`choice`: the chosen option is the accepted one. A bare letter in prose is never searched for: "A" is an article."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_mtp.core.case import Expect
from pytest_mtp.core.errors import UsageError, nearest
from pytest_mtp.core.record import Json
from pytest_mtp.judge.answers.labels import options_in, same_label
from pytest_mtp.judge.judgement import Extraction, GradeContext, Judgement, View, conclude
from pytest_mtp.judge.words.markers import marks
from pytest_mtp.judge.words.normal import canonical, excerpt, fold

_LABEL = r"(?P<label>[A-Za-zＡ-Ｚａ-ｚА-Яа-яΑ-ωⒶ-ⓩ㋐-㋾①-⑨أبجدهوアイウエオ가나다라마甲乙丙丁戊אבגדהו1-9１-９])"
_OPENING = r"[\s*_`$\"'“(（\[【{]*(?:\\(?:text|mathrm|textbf)\{)?[\s*(（]*"
_NAMED = r"(?:(?:[Oo]ption|[Cc]hoice|[Ll]etter|[Oo]pción|[Oo]pção|[Вв]ариант|选项|選項|選択肢|보기|الخيار|विकल्प)\s*)?"
_CLOSED = r"(?=[)\]）】.:,，。、;*_`\"'”$}]|\s*$|\s+[-–—(=]|\s*[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3])"
_LED = re.compile(rf"{_OPENING}{_NAMED}{_OPENING}{_LABEL}(?P<closed>{_CLOSED})?(?![\w'’])")
_LINE = re.compile(rf"^[ \t>*_#-]*[(\[（【]?{_LABEL}[)\]）】.:]?[ \t*_]*$", re.MULTILINE)
_LEADING = re.compile(
    rf"^[ \t>*_#-]*(?:[(\[（]{_LABEL.replace('label', 'l1')}[)\]）]|{_LABEL.replace('label', 'l2')}[)\].:、：．）])[ \t*_]*(?=\S)",
    re.MULTILINE,
)
_OPTION_WORD = re.compile(
    rf"(?:\b[Oo]ption|\b[Cc]hoice|\b[Oo]pción|\b[Oo]pção|[Вв]ариант|选项|選項|選択肢|[故应應]?[选選])\s*(?:是|为|:|：)?\s*[*_(（\[\"']*{_LABEL}(?![\w])"
)
_VERDICT = re.compile(
    rf"(?<![\w]){_LABEL}[)\]*_\"'’”.]*\s+(?:is|ist|es|est|é|è)\s+(?:the\s+)?(?:correct|right|best|richtig|correcta?|juste|corretta?)"
)
_TWO = re.compile(rf"\s*(?:,|/|&|、|\b(?:and|or|und|oder|y|o|et|ou|e|и|или)\b|和|或)\s*[(\[*]*{_LABEL}(?=[)\].,*]|\s*$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chosen:
    labels: tuple[str, ...]
    rule: str
    span: tuple[int, int]
    settled: bool = False


def read_spec(spec: Json, prompt: str) -> tuple[str, dict[str, str]]:
    """The accepted label, and label to text of the options: those of the case, else those of the prompt, else A to J."""
    value, options = spec, None
    if isinstance(spec, Mapping):
        for key in spec:
            if key not in {"value", "options"}:
                raise UsageError(f"choice: unknown key {key!r}{nearest(str(key), ('value', 'options'))}; known are value, options")
        value, options = spec.get("value"), spec.get("options")
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise UsageError(f"choice: expected a label such as B, got {value!r}")
    labels = _labels(options) if options is not None else options_in(prompt) or dict.fromkeys("ABCDEFGHIJ", "")
    wanted = same_label(str(value).strip(), labels) or next((label for label, text in labels.items() if text and text == value), None)
    if wanted is None and options is not None:
        raise UsageError(f"choice: {value!r} is none of the options {', '.join(labels)}")
    if wanted is None:  # what looked like options in the prompt was something else
        labels = {**dict.fromkeys("ABCDEFGHIJ", ""), str(value).strip(): ""}
        wanted = str(value).strip()
    return wanted, labels


def _labels(options: Json) -> dict[str, str]:
    if isinstance(options, Mapping) and options:
        return {str(label): str(text) for label, text in options.items()}
    if isinstance(options, Sequence) and not isinstance(options, str) and 0 < len(options) <= 26:
        return {chr(ord("A") + index): str(text) for index, text in enumerate(options)}
    raise UsageError(f"choice: options must be a list of texts or a mapping from label to text, not {options!r}")


def grade(view: View, expect: Expect, context: GradeContext) -> Judgement:
    """The grader of `choice`."""
    wanted, labels = read_spec(expect.spec, view.prompt)
    chosen = _choose(view.text, labels)
    if chosen is None:
        title = f"expected {wanted}; no option is named in a way that can be trusted: {excerpt(view.text[-80:])!r}"
        return conclude([context.finding("ANS.unextractable", title, evidence={"expected": wanted})])
    if len(chosen.labels) > 1:
        title = f"expected {wanted}, got {' and '.join(chosen.labels)} by the same rule ({chosen.rule})"
        return conclude([context.finding("ANS.ambiguous", title, evidence={"expected": wanted, "got": list(chosen.labels)})])
    got, (start, end) = chosen.labels[0], chosen.span
    extraction = Extraction(text=view.text[start:end], rule=chosen.rule, span=chosen.span, settled=chosen.settled)
    if got == wanted:
        return conclude(answer=got, extraction=extraction)
    title = f"expected {_named(wanted, labels)}, got {_named(got, labels)} (rule {chosen.rule}: {excerpt(view.text[start:end])!r})"
    return conclude([context.finding("ANS.wrong", title, evidence={"expected": wanted, "got": got})], answer=got, extraction=extraction)


def _named(label: str, labels: Mapping[str, str]) -> str:
    text = labels.get(label, "")
    return f"{label} ({excerpt(text, 30)})" if text else label


def _choose(text: str, labels: Mapping[str, str]) -> _Chosen | None:
    for mark in marks(text):
        segment = text[mark.start : mark.end]
        found = _led(segment, labels) or _by_text(segment, labels)
        if found:
            settled = mark.closed or len(text) - mark.end > 0
            return _Chosen(labels=found, rule=mark.rule, span=(mark.start, mark.end), settled=settled)
    for rule, pattern in (("line", _LINE), ("verdict", _VERDICT), ("option-word", _OPTION_WORD), ("leading", _LEADING)):
        hits = [(label, match) for match in pattern.finditer(text) if (label := _label_of(match, labels)) is not None]
        if hits:
            names = tuple(dict.fromkeys(label for label, _ in hits))
            return _Chosen(labels=names, rule=rule, span=hits[-1][1].span())
    found = _by_text(text, labels)
    return _Chosen(labels=found, rule="option-text", span=(0, len(text))) if found else None


def _label_of(match: re.Match[str], labels: Mapping[str, str]) -> str | None:
    groups = match.groupdict()
    return same_label(groups.get("label") or groups.get("l1") or groups.get("l2") or "", labels)


def _led(segment: str, labels: Mapping[str, str]) -> tuple[str, ...]:
    """The label that a segment begins with. A letter that is also a word must be closed by something: `A dog` is no choice."""
    match = _LED.match(segment)
    if match is None:
        return ()
    label = same_label(match["label"], labels)
    if label is None or (match["closed"] is None and (match["label"] in "AaIiOoYyEeÀàУуИиВвСсКкОоЯя" or match["label"].islower())):
        return ()
    second = _TWO.match(segment, match.end())
    other = same_label(second["label"], labels) if second else None
    return (label, other) if other and other != label else (label,)


def _by_text(text: str, labels: Mapping[str, str]) -> tuple[str, ...]:
    """The options whose whole text occurs; one that lies inside another that occurs does not count."""
    folded = fold(text[-4000:])
    wanted = {label: canonical(words) for label, words in labels.items() if words.strip()}
    hits = {label: words for label, words in wanted.items() if words and re.search(rf"(?<!\w){re.escape(words)}(?!\w)", folded)}
    return tuple(label for label, words in hits.items() if not any(words != other and words in other for other in hits.values()))
