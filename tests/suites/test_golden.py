"""Golden answers lie beside the suite, by model, and belong to cases without an answer of their own."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_mtp.core.case import Expect, Provenance, Source, Suite
from pytest_mtp.core.errors import SuiteError

MakeSuite = Callable[[str], Suite]
Write = Callable[..., None]
SUITE = """
    tools: {f: {description: d}}
    cases:
      - {id: apples, ask: How many?}
      - {id: inline, ask: How many?, expect: {number: 1}}
"""


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a golden file; keyword arguments replace lines of its head."""

    def writer(answers: str, *, at: str = "golden_answers/small/any.yaml", suite: str = "small", model: str = "any") -> None:
        path = tmp_path / at
        path.parent.mkdir(parents=True, exist_ok=True)
        provenance = "{author: Ann, date: 2026-01-31, engine: e, grader_version: 1}"
        head = f"schema_version: 1\nsuite: {suite}\nmodel: {model}\nprovenance: {provenance}\n"
        path.write_text(head + textwrap.dedent(answers).lstrip("\n"), encoding="utf-8")

    return writer


@pytest.mark.parametrize("folder", ["golden_answers", "suites/golden_answers"], ids=["beside the suites", "beside the file"])
def test_the_answer_for_every_model_is_found(folder: str, load: MakeSuite, write: Write) -> None:
    write("answers:\n  apples: {expect: {number: 32}, note: 3 * 12 - 4}\n", at=f"{folder}/small/any.yaml")
    apples, inline = load(SUITE).cases
    assert apples.expect == ()
    assert apples.expected_of("some-model") == (Expect(kind="number", spec=32),)
    assert apples.goldens["any"].source == Source(path=f"{folder}/small/any.yaml", line=6)
    assert apples.goldens["any"].provenance == Provenance(author="Ann", date="2026-01-31", engine="e", grader_version=1)
    assert inline.goldens == {}


def test_the_folder_beside_the_file_is_the_only_one_read(load: MakeSuite, write: Write) -> None:
    write("answers: {apples: {expect: {number: 1}}}\n")
    write("answers: {apples: {expect: {number: 2}}}\n", at="suites/golden_answers/small/any.yaml")
    assert load(SUITE).cases[0].expected_of("m") == (Expect(kind="number", spec=2),)


def test_a_model_of_its_own_name_goes_first(load: MakeSuite, write: Write) -> None:
    write("answers: {apples: {expect: {number: 1}}}\n")
    write("answers: {apples: {expect: {number: 2}}}\n", at="golden_answers/small/qwen-qwen3-8b.yaml", model="Qwen/Qwen3-8B")
    apples = load(SUITE).cases[0]
    assert apples.expected_of("qwen-qwen3-8b") == (Expect(kind="number", spec=2),)
    assert apples.expected_of("another") == (Expect(kind="number", spec=1),)


def test_an_answer_of_one_model_alone_is_enough(load: MakeSuite, write: Write) -> None:
    write("answers: {apples: {expect: {number: 2}}}\n", at="golden_answers/small/m.yaml", model="M")
    assert load(SUITE).cases[0].expected_of("another") == ()


def test_the_answers_own_provenance_is_merged_over_the_files(load: MakeSuite, write: Write) -> None:
    write("answers: {apples: {expect: {number: 1}, provenance: {author: Bob, reason: worked out by hand}}}\n")
    assert load(SUITE).cases[0].goldens["any"].provenance == Provenance(
        author="Bob", date="2026-01-31", engine="e", grader_version=1, reason="worked out by hand"
    )


def test_cases_of_a_matrix_share_the_answer_of_their_base(load: MakeSuite, write: Write) -> None:
    write("answers: {apples: {expect: {number: 32}}}\n")
    cases = load("cases: [{id: apples, ask: How many?, matrix: {seed: [1, 2]}}]\n").cases
    assert [case.id for case in cases] == ["apples[seed1]", "apples[seed2]"]
    assert [case.goldens["any"].case_id for case in cases] == ["apples", "apples"]


@pytest.mark.parametrize("name", [".any.yaml.swp", "README.md", ".hidden.yaml"])
def test_other_files_of_the_folder_are_left_alone(name: str, load: MakeSuite, write: Write) -> None:
    write("answers: {apples: {expect: {number: 32}}}\n")
    write("nonsense", at=f"golden_answers/small/{name}")
    assert len(load(SUITE).cases) == 2


def refusal(load: MakeSuite, text: str = SUITE) -> str:
    with pytest.raises(SuiteError) as caught:
        load(text)
    return str(caught.value)


def test_a_case_without_any_answer_names_the_file_where_it_was_looked_for(load: MakeSuite, write: Write) -> None:
    assert refusal(load) == (
        "suites/small.mtp.yaml:6: no 'expect' here, and no golden answer of 'apples' in "
        "suites/golden_answers/small/any.yaml or golden_answers/small/any.yaml (at cases[0])"
    )
    write("answers: {inline: {expect: {number: 32}}}\n")
    assert "no golden answer of 'apples' in golden_answers/small/any.yaml (at cases[0])" in refusal(load)


BAD = {
    "unknown case": (
        "answers:\n  apples: {expect: {number: 1}}\n  aples: {expect: {number: 1}}\n",
        "7: the case 'aples' is not in the suite (did you mean 'apples'?) (at answers.aples)",
    ),
    "inline too": (
        "answers:\n  apples: {expect: {number: 1}}\n  inline: {expect: {number: 1}}\n",
        "7: the case 'inline' has its own 'expect' in the suite: keep one of the two (at answers.inline)",
    ),
    "unknown kind": (
        "answers: {apples: {expect: {numbr: 1}}}\n",
        "5: unknown key 'numbr' (did you mean 'number'?) (at answers.apples.expect.numbr)",
    ),
    "date": (
        "answers: {apples: {expect: {date: soon}}}\n",
        "5: 'soon' is no date or time of ISO 8601, such as 2026-01-31, 12:30 or 2026-01-31T12:30:00Z (at answers.apples.expect.date)",
    ),
    "tool not offered": (
        "answers: {apples: {expect: {calls: [{name: f}]}}}\n",
        "5: the case does not offer a tool 'f': it offers none (at answers.apples.expect.calls[0].name)",
    ),
    "no expect": ("answers: {apples: {note: none}}\n", "5: the key 'expect' is missing (at answers.apples)"),
    "empty": ("answers: {}\n", "5: the mapping is empty (at answers)"),
    "unknown key": ("answer: {}\n", "5: unknown key 'answer' (did you mean 'answers'?) (at answer)"),
    "broken": ("- a\n", "5: bad indentation: this line fits no level of the mapping begun in line 1"),
}


@pytest.mark.parametrize(("answers", "message"), BAD.values(), ids=BAD)
def test_bad_answers_are_refused_at_their_line(answers: str, message: str, load: MakeSuite, write: Write) -> None:
    write(answers)
    assert refusal(load) == f"golden_answers/small/any.yaml:{message}"


def test_a_check_has_no_answer(load: MakeSuite, write: Write) -> None:
    write("answers: {speed: {expect: {number: 1}}}\n")
    message = refusal(load, "cases: [{id: speed, check: throughput, with: {prompts: {code: [Write f.]}}}]\n")
    assert message == "golden_answers/small/any.yaml:5: the case 'speed' is a check, and a check has no answer (at answers.speed)"


def test_the_file_belongs_to_the_suite_that_its_folder_names(load: MakeSuite, write: Write) -> None:
    write("answers: {apples: {expect: {number: 1}}}\n", suite="large")
    assert (
        refusal(load) == "golden_answers/small/any.yaml:2: expected 'small', the suite that this folder is named by, got 'large' (at suite)"
    )


@pytest.mark.parametrize(
    ("name", "model", "right"),
    [("qwen", "Qwen/Qwen3-8B", "qwen-qwen3-8b"), ("any", "M", "m"), ("m", "any", "any")],
    ids=["other name", "any", "m"],
)
def test_the_file_is_named_by_its_model(name: str, model: str, right: str, load: MakeSuite, write: Write) -> None:
    write("answers: {apples: {expect: {number: 1}}}\n", at=f"golden_answers/small/{name}.yaml", model=model)
    assert refusal(load) == f"golden_answers/small/{name}.yaml:3: answers of the model {model!r} belong into {right}.yaml (at model)"


def test_a_file_that_ends_in_yml_is_not_passed_over(load: MakeSuite, write: Write) -> None:
    write("answers: {apples: {expect: {number: 1}}}\n", at="golden_answers/small/any.yml")
    assert refusal(load) == "golden_answers/small/any.yml:1: golden answers end in .yaml: rename it to any.yaml"


def test_provenance_needs_an_author_and_a_date(load: MakeSuite, tmp_path: Path) -> None:
    path = tmp_path / "golden_answers/small/any.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("schema_version: 1\nsuite: small\nmodel: any\nprovenance: {author: Ann}\nanswers: {apples: {expect: {number: 1}}}\n")
    assert refusal(load) == "golden_answers/small/any.yaml:4: the key 'date' is missing (at provenance)"
