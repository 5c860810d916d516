"""What holds for any text: nothing raises, order and white space do not matter, noise after a marked answer changes nothing."""

from __future__ import annotations

import itertools
import json
from decimal import Decimal
from fractions import Fraction
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import Expect
from pytest_mtp.core.exchange import Exchange, Timeline
from pytest_mtp.core.reply import Reply
from pytest_mtp.judge.judgement import GradeContext, Judgement
from pytest_mtp.judge.matching import maximum_matching
from pytest_mtp.judge.numbers.extract import Found, find_number
from pytest_mtp.judge.numbers.values import shown
from pytest_mtp.judge.pipeline import judge
from pytest_mtp.judge.structured.reading import canonical_json, exact, parse
from pytest_mtp.judge.words.difference import aligned, first_difference

SPECS: dict[str, Any] = {
    "number": {"value": 32, "unit": "km", "loose": True},
    "choice": {"value": "B", "options": {"A": "Paris", "B": "Rome"}},
    "text": {"value": "Paris", "fuzzy": 0.9},
    "contains": ["Paris", "32"],
    "not_contains": "Paris",
    "regex": "Par.s",
    "list": ["Paris", 32, {"date": "2024-05-05"}],
    "set": ["Paris", 32],
    "date": "2024-05-05T15:30:00Z",
    "json": {"value": {"a": [1, 2]}, "unordered": ["/a"], "rel": 0.1},
    "json_schema": {"type": "object", "properties": {"a": {"type": "integer"}}},
    "code": {"language": "python", "asserts": ["assert f(1) == 1"]},
    "math": "x^2",
    "language": "de",
    "length": {"max_words": 50, "min_sentences": 1, "max_chars": 500, "min_lines": 1, "max_paragraphs": 3},
    "all_of": [{"number": 32}, {"contains": "a"}],
    "any_of": [{"number": 32}, {"text": "x"}],
    "none_of": [{"number": 32}],
    "same_as": "control",
}
PIECES = st.sampled_from([
    "Answer: ", "The answer is ", "答案是", "الجواب: ", "\\boxed{", "}", "####", "32", "-5", "1,234.5", "½", "٣٢", "10^6", "3/4", "25%",
    "May 5, 2024", "15:30", "```", "```json\n", "\n", "- ", "1. ", "{", '"a"', ":", "[", "]", ",", "<think>", "</think>", "<|channel|>",
    "<|im_end|>", "\ufffd", "\x00", "\ud800", "Ã©", "B", "(B)", "option ", "Paris", "**", "`", "$", "\\frac{", "def f(x): return x",
    "I'm sorry, but I can't", "e", "é", "漢", "ก", "🎉", " ", ".", "and", "or", ";",
])  # fmt: skip
TEXTS = st.one_of(
    st.text(alphabet=st.characters(exclude_categories=()), max_size=200),
    st.lists(PIECES, max_size=40).map("".join),
    st.lists(PIECES, max_size=6).map("".join),
)
QUICK = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def judged(text: str | None, *expects: Expect, finish: str = "stop", reasoning: str | None = None) -> Judgement:
    reply = Reply(content=text, finish_reason=finish, reasoning=reasoning)
    exchange = Exchange(
        ask=Ask(messages=({"role": "user", "content": "q"},)), url="u", model="m", reply=reply, timeline=Timeline(sent_ns=0)
    )
    return judge(exchange, expects, context=GradeContext(references={"control": "x"}))


@given(text=TEXTS, finish=st.sampled_from(["stop", "length", "content_filter", "tool_calls"]), reasoning=st.none() | TEXTS)
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_text_makes_a_judge_raise_and_every_judgement_can_be_recorded(text: str, finish: str, reasoning: str | None) -> None:
    for kind, spec in SPECS.items():
        judgement = judged(text, Expect(kind=kind, spec=spec), finish=finish, reasoning=reasoning)
        assert judgement.outcome in {"PASS", "FAIL", "INCONCLUSIVE"}
        assert Judgement.from_dict(json.loads(json.dumps(judgement.to_dict()))) == judgement
        if judgement.extraction:
            start, end = judgement.extraction.span
            assert 0 <= start <= end <= len(text)


@given(text=TEXTS)
@QUICK
def test_a_pass_has_no_finding_above_a_note_and_a_fail_has_one(text: str) -> None:
    for kind, spec in SPECS.items():
        judgement = judged(text, Expect(kind=kind, spec=spec))
        worst = {finding.severity for finding in judgement.findings} - {"note"}
        assert (judgement.outcome == "FAIL") == bool(worst)


NOISE = st.text(alphabet=st.sampled_from("abcdefghij klmnopqrstuvwxyz 0123456789 ,.\n"), max_size=120)


@given(value=st.integers(-(10**9), 10**9), noise=NOISE)
@QUICK
def test_noise_on_later_lines_does_not_change_a_marked_number(value: int, noise: str) -> None:
    judgement = judged(f"Answer: {value}\n\nSome more words: {noise}", Expect(kind="number", spec=value))
    assert judgement.answer == str(value)


@given(label=st.sampled_from("ABCD"), noise=NOISE)
@QUICK
def test_noise_on_later_lines_does_not_change_a_marked_choice(label: str, noise: str) -> None:
    assert judged(f"Answer: {label}\n\nSome more words: {noise}", Expect(kind="choice", spec="A")).answer == label


@given(value=st.integers(-(10**15), 10**15), decimals=st.integers(0, 6))
@QUICK
def test_a_number_is_read_however_it_is_written(value: int, decimals: int) -> None:
    number = Decimal(value).scaleb(-decimals)
    english = f"{number:,.{decimals}f}"
    forms = [
        english,
        english.replace(",", "\u202f"),
        english.replace("-", "−"),
        f"{number:.{decimals}f}",
        f"${english}".replace("$-", "-$"),
    ]
    if decimals in {1, 2}:
        forms.append(english.translate(str.maketrans(",.", ".,")))
    for form in forms:
        found = find_number(f"Answer: {form}")
        assert isinstance(found, Found), form
        assert found.token.value == Fraction(number), form


@given(numerator=st.integers(-(10**12), 10**12), denominator=st.integers(1, 10**6))
@QUICK
def test_the_canonical_form_of_a_number_reads_back_as_itself(numerator: int, denominator: int) -> None:
    value = Fraction(numerator, denominator)
    assert Fraction(shown(value)) == value


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@given(value=JSON, indent=st.sampled_from([None, 1, 4]), shuffled=st.randoms(use_true_random=False))
@QUICK
def test_json_is_equal_whatever_its_key_order_and_white_space(value: Any, indent: int | None, shuffled: Any) -> None:
    def mixed(part: Any) -> Any:
        if isinstance(part, dict):
            keys = list(part)
            shuffled.shuffle(keys)
            return {key: mixed(part[key]) for key in keys}
        return [mixed(item) for item in part] if isinstance(part, list) else part

    text = json.dumps(mixed(value), indent=indent)
    judgement = judged(text, Expect(kind="json", spec={"value": value}))
    assert (judgement.outcome, judgement.answer) == ("PASS", canonical_json(exact(value)))


@given(text=st.text(alphabet='{}[]",:0123456789eE+-.trufals \\', max_size=60))
@QUICK
def test_the_json_reader_takes_what_the_standard_library_takes_apart_from_nan(text: str) -> None:
    try:
        json.loads(text)
    except ValueError:
        assert parse(text).error
        return
    assert not parse(text).error


@given(items=st.lists(st.sampled_from(["red", "green", "blue", "grey", "pink"]), min_size=2, max_size=5, unique=True), data=st.data())
@QUICK
def test_a_set_does_not_care_for_the_order_of_either_side(items: list[str], data: st.DataObject) -> None:
    gold, reply = data.draw(st.permutations(items)), data.draw(st.permutations(items))
    for text in (", ".join(reply), "\n".join(f"- {item}" for item in reply), json.dumps(reply)):
        assert judged(text, Expect(kind="set", spec=gold)).outcome == "PASS"


@given(edges=st.lists(st.lists(st.integers(0, 4), max_size=5, unique=True), max_size=5))
@QUICK
def test_a_matching_is_as_large_as_any(edges: list[list[int]]) -> None:
    partner = maximum_matching(edges, 5)
    taken = [column for column in partner if column >= 0]
    assert len(taken) == len(set(taken))
    assert all(column < 0 or column in edges[row] for row, column in enumerate(partner))
    best = max(
        (sum(a >= 0 for a in choice) for choice in itertools.product(*[[*row, -1] for row in edges]) if _distinct(choice)), default=0
    )
    assert len(taken) == best


def _distinct(choice: tuple[int, ...]) -> bool:
    used = [column for column in choice if column >= 0]
    return len(used) == len(set(used))


@given(one=st.text(alphabet="abé\n", max_size=30), other=st.text(alphabet="abé\n", max_size=30))
@QUICK
def test_the_first_difference_is_the_first(one: str, other: str) -> None:
    at = first_difference(one, other)
    assert (at < 0) == (one == other)
    assert one[: max(at, 0)] == other[: max(at, 0)]
    assert at < 0 or one[at : at + 1] != other[at : at + 1]
    if at >= 0:
        expected, got, caret = aligned(one, other).split("\n")
        column = caret.index("^")
        assert (expected[column : column + 1], got[column : column + 1]) == tuple(shown_char(text, at) for text in (one, other))


def shown_char(text: str, at: int) -> str:
    char = text[at : at + 1]
    return char if char.isprintable() else "\\"
