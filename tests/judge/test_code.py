"""Which block of a reply is the program, and what becomes of each class of result."""

from __future__ import annotations

import pytest

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import Expect
from pytest_mtp.core.errors import UsageError
from pytest_mtp.core.reply import Reply
from pytest_mtp.judge.judgement import GradeContext, Judgement, View
from pytest_mtp.judge.program import Program, ProgramResult
from pytest_mtp.judge.registry import grader_for

PYTHON = {"language": "python", "asserts": ["assert add(1, 2) == 3"]}


class Runner:
    """Remembers the program and says what it is told to say."""

    def __init__(self, result: ProgramResult | None = None) -> None:
        self.result = result or ProgramResult(outcome="passed")
        self.program: Program | None = None

    def __call__(self, program: Program) -> ProgramResult:
        self.program = program
        return self.result


def graded(text: str, runner: Runner | None, spec: dict[str, object] | None = None) -> Judgement:
    view = View(text=text, reply=Reply(content=text, finish_reason="stop"), ask=Ask(messages=({"role": "user", "content": "q"},)))
    return grader_for("code")(view, Expect(kind="code", spec=spec or PYTHON), GradeContext(run_code=runner))


@pytest.mark.parametrize(
    ("text", "source", "rule"),
    [
        ("```python\ndef add(a, b): return a + b\n```", "def add(a, b): return a + b\n", "fence-defining"),
        ("First:\n```py\nx = 1\n```\nBetter:\n```py\ny = 2\n```", "y = 2\n", "fence"),
        (
            "```python\ndef add(a, b): return a + b\n```\nUse it:\n```python\nprint(add(1, 2))\n```",
            "def add(a, b): return a + b\n",
            "fence-defining",
        ),
        (
            "```python\ndef add(a, b): return 0\n```\nNo:\n```python\ndef add(a, b): return a + b\n```",
            "def add(a, b): return a + b\n",
            "fence-defining",
        ),
        ("```bash\npip install x\n```\n```\ndef add(a, b): return a + b\n```", "def add(a, b): return a + b\n", "fence-defining"),
        ("def add(a, b): return a + b", "def add(a, b): return a + b", "whole"),
        ("```python\ndef add(a, b):\n    return '```'\n```", "def add(a, b):\n    return '```'\n", "fence-defining"),
        ("~~~python\nadd = lambda a, b: a + b\n~~~", "add = lambda a, b: a + b\n", "fence-defining"),
    ],
    ids=["one", "last", "usage-after", "corrected", "unnamed", "no-fence", "ticks-in-a-string", "tildes"],
)
def test_the_program_is_the_block_that_defines_what_is_asserted(text: str, source: str, rule: str) -> None:
    runner = Runner()
    judgement = graded(text, runner)
    assert runner.program is not None
    assert (runner.program.source, judgement.extraction and judgement.extraction.rule) == (source, rule)


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        ("wrong", "it runs, and the result is wrong: 1 of 1 asserts held; m"),
        ("syntax", "it has a syntax error"),
        ("exception", "it raises"),
        ("timeout", "it does not end in time"),
        ("limit", "it goes beyond a limit of the sandbox"),
    ],
)
def test_each_class_is_told_in_words(outcome: str, words: str) -> None:
    judgement = graded("```python\nx\n```", Runner(ProgramResult(outcome=outcome, message="m", passed_asserts=1)))
    assert (judgement.outcome, judgement.code, judgement.answer) == ("FAIL", "ANS.code", outcome)
    assert judgement.findings[0].title.startswith(words)


def test_prose_without_a_block_is_no_program() -> None:
    assert graded("I would add them.", Runner(ProgramResult(outcome="syntax"))).code == "ANS.unextractable"


@pytest.mark.parametrize(
    "runner", [None, Runner(ProgramResult(outcome="unavailable", message="no sandbox"))], ids=["not-lent", "unavailable"]
)
def test_a_program_that_was_not_run_is_not_wrong(runner: Runner | None) -> None:
    judgement = graded("```python\nx\n```", runner)
    assert (judgement.outcome, judgement.code) == ("INCONCLUSIVE", "ANS.ungraded")


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("x", "expected a mapping"),
        ({"language": "pyton", "asserts": ["assert 1"]}, "did you mean 'python'"),
        ({"language": "python"}, "python needs asserts"),
        ({"language": "python", "asserts": ["assert ("]}, "is no Python statement"),
        ({"language": "sql", "setup": "x"}, "sql needs rows"),
        ({"language": "python", "assert": []}, "did you mean 'asserts'"),
    ],
    ids=["no-mapping", "language", "no-asserts", "broken-assert", "no-rows", "key"],
)
def test_a_spec_that_cannot_be_read_is_the_users_to_mend(spec: object, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        graded("x", Runner(), spec)
