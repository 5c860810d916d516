"""`choice`: the chosen option is the accepted one. A bare letter in prose is never searched for: "A" is an article."""

from __future__ import annotations

import dataclasses
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
_OPENING = r"[\s*_`$\"'“(（\[【{]{0,16}+(?:\\(?:text|mathrm|textbf)\{)?+[\s*(（]{0,4}+"
_NAMED = (
    r"(?:(?:the|la|le|el|die|das)\s{1,4})?"
    r"(?:(?:[Oo]ption|[Cc]hoice|[Ll]etter|[Oo]pción|[Oo]pção|[Вв]ариант|选项|選項|選択肢|보기|الخيار|विकल्प)\s{0,4})?"
)
_CLOSED = (
    r"(?=[)\]）】.:,，。、;*_`\"'”$}]|\s{0,4}$"
    r"|\s{1,4}[-–—(=]|\s{1,4}(?:and|or|und|oder|y|o|et|ou|e|и|или)\b|\s{0,4}[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3])"
)
_LED = re.compile(rf"{_OPENING}{_NAMED}{_OPENING}{_LABEL}(?P<closed>{_CLOSED})?(?![A-Za-z0-9À-ɏЀ-ӿ'’])")
_LINE = re.compile(rf"^[ \t>*_#-]*[(\[（【]?{_LABEL}[)\]）】.:]?[ \t*_]*$", re.MULTILINE)
_LEADING = re.compile(
    rf"^[ \t>*_#-]*(?:[(\[（]{_LABEL.replace('label', 'l1')}[)\]）]|{_LABEL.replace('label', 'l2')}[)\].:、：．）])[ \t*_]*(?=\S)",
    re.MULTILINE,
)
_PICK = r"(?:\b(?:choose|pick|select|chose|picked|go with|wähle|choisis|elijo|escolho|scelgo)|выбираю)"
_BECAUSE = "(?:because|since|as|weil|da|parce|car|porque|perché|так|потому)"
_PICKED = re.compile(
    rf"{_PICK}\s{{1,4}}{_OPENING}{_NAMED}{_OPENING}{_LABEL}(?![\w'’])"
    rf"|\A\s{{0,8}}[*_(]{{0,4}}{_LABEL.replace('label', 'l1')}[)*_]{{0,4}},\s{{1,4}}{_BECAUSE}"
)
_OPTION_WORD = re.compile(
    rf"(?:\b[Oo]ption|\b[Cc]hoice|\b[Oo]pción|\b[Oo]pção|[Вв]ариант|选项|選項|選択肢|[故应應]?[选選])\s{{0,4}}(?:是|为|:|：)?\s{{0,4}}[*_(（\[\"']{{0,4}}{_LABEL}(?![\w])"
)
_VERDICT = re.compile(
    rf"(?<![\w]){_LABEL}[)\]*_\"'’”.]{{0,4}}\s{{1,4}}(?:is|ist|es|est|é|è)\s{{1,4}}(?:the\s)?(?:correct|right|best|richtig|correcta?|juste|corretta?)"
)
_CORRECT_IS = re.compile(
    rf"\b(?:[Cc]orrect|[Rr]ight|[Bb]est|[Rr]ichtige|[Cc]orrecta|[Cc]orreta|[Bb]onne|[Gg]iusta)\s{{1,4}}(?:\w{{1,12}}\s{{1,4}})?(?:is|ist|est|es|é|è)\s{{0,4}}:?\s{{0,4}}"
    rf"{_OPENING}{_NAMED}{_OPENING}{_LABEL}(?![\w'’])"
)
_TWO = re.compile(rf"\s{{0,4}}(?:,|/|&|、|\b(?:and|or|und|oder|y|o|et|ou|e|и|или)\b|和|或)\s*[(\[*]*{_LABEL}(?=[)\].,*]|\s{{0,4}}$)")

_TAIL = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chosen:
    labels: tuple[str, ...]
    rule: str
    span: tuple[int, int]
    settled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedChoice:
    """The accepted label and all options, label to text. `by_name`: the case names its options and not their letters."""

    label: str
    options: Mapping[str, str]
    by_name: bool = False

    def answer(self, label: str) -> str:
        """The canonical answer: the label, or the name where the case goes by names."""
        return self.options[label] if self.by_name else label

    def shown(self, label: str) -> str:
        """For a title."""
        text = self.options.get(label, "")
        return f"{label} ({excerpt(text, 30)})" if text and not self.by_name else self.answer(label)


def read_spec(spec: Json, prompt: str) -> AcceptedChoice:
    """The options are those of the case, else those of the prompt, else A to J. Raises UsageError."""
    value, options = spec, None
    if isinstance(spec, Mapping):
        for key in spec:
            if key not in {"value", "options"}:
                raise UsageError(f"choice: unknown key {key!r}{nearest(str(key), ('value', 'options'))}; known are value, options")
        value, options = spec.get("value"), spec.get("options")
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise UsageError(f"choice: expected a label such as B, got {value!r}")
    given = str(value).strip()
    labels = _labels(options) if options is not None else options_in(prompt) or dict.fromkeys("ABCDEFGHIJ", "")
    wanted = same_label(given, labels)
    if wanted is not None:
        return AcceptedChoice(label=wanted, options=labels)
    named = next((label for label, text in labels.items() if text and text == given), None)
    if named is not None:
        return AcceptedChoice(label=named, options=labels, by_name=True)
    if options is not None:
        raise UsageError(f"choice: {value!r} is none of the options {', '.join(labels)}")
    # what looked like options in the prompt was something else
    return AcceptedChoice(label=given, options={**dict.fromkeys("ABCDEFGHIJ", ""), given: ""})


def _labels(options: Json) -> dict[str, str]:
    if isinstance(options, Mapping) and options:
        return {str(label): str(text) for label, text in options.items()}
    if isinstance(options, Sequence) and not isinstance(options, str) and 0 < len(options) <= 26:
        names = [str(option) for option in options]
        if all(len(name) == 1 for name in names):
            return dict.fromkeys(names, "")
        return {chr(ord("A") + index): name for index, name in enumerate(names)}
    raise UsageError(f"choice: options must be a list of texts or a mapping from label to text, not {options!r}")


def grade(view: View, expect: Expect, context: GradeContext) -> Judgement:
    """The grader of `choice`."""
    accepted = read_spec(expect.spec, view.prompt)
    wanted = accepted.answer(accepted.label)
    chosen = _choose(view.text, accepted.options)
    if chosen is None:
        title = f"expected {wanted}; no option is named in a way that can be trusted: {excerpt(view.text[-80:])!r}"
        return conclude([context.finding("ANS.unextractable", title, evidence={"expected": wanted})])
    named = [accepted.answer(label) for label in chosen.labels]
    if len(named) > 1:
        title = f"expected {wanted}, got {' and '.join(named)} by the same rule ({chosen.rule})"
        return conclude([context.finding("ANS.ambiguous", title, evidence={"expected": wanted, "got": [*named]})])
    start, end = chosen.span
    extraction = Extraction(text=view.text[start:end], rule=chosen.rule, span=chosen.span, settled=chosen.settled)
    if chosen.labels[0] == accepted.label:
        return conclude(answer=wanted, extraction=extraction)
    got = accepted.shown(chosen.labels[0])
    title = f"expected {accepted.shown(accepted.label)}, got {got} (rule {chosen.rule}: {excerpt(view.text[start:end])!r})"
    finding = context.finding("ANS.wrong", title, evidence={"expected": wanted, "got": named[0]})
    return conclude([finding], answer=named[0], extraction=extraction)


def _choose(whole: str, labels: Mapping[str, str]) -> _Chosen | None:
    """By the first rule that names an option, in the last characters of a long reply."""
    text = whole[-_TAIL:]
    chosen = _by_rules(text, labels)
    offset = len(whole) - len(text)
    return dataclasses.replace(chosen, span=(chosen.span[0] + offset, chosen.span[1] + offset)) if chosen and offset else chosen


def _by_rules(text: str, labels: Mapping[str, str]) -> _Chosen | None:
    for mark in marks(text):
        segment = text[mark.start : mark.end]
        found = _led(segment, labels) or _by_text(segment, labels)
        if found:
            settled = mark.closed or len(text) - mark.end > 0
            return _Chosen(labels=found, rule=mark.rule, span=(mark.start, mark.end), settled=settled)
    for rule, pattern in (
        ("line", _LINE),
        ("correct-is", _CORRECT_IS),
        ("verdict", _VERDICT),
        ("option-word", _OPTION_WORD),
        ("leading", _LEADING),
        ("picked", _PICKED),
    ):
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
