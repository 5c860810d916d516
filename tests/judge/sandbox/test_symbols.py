"""Symbolic equality in a confined process."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from pytest_mtp.judge.sandbox.symbols import EqualMath

pytest.importorskip("math_verify")


@pytest.fixture(scope="module")
def equal() -> Iterator[EqualMath]:
    judge = EqualMath(question_s=20.0)
    yield judge
    judge.close()


@pytest.mark.parametrize(
    ("gold", "given", "expected"),
    [
        (r"\frac{1}{2}", "0.5", True),
        ("x**2 + 1", "x^2+1", True),
        ("x^2+2*x+1", "(x+1)^2", True),
        (r"\sin^2 x+\cos^2 x", "1", True),
        (r"\{1,2\}", r"\{2,1\}", True),
        (r"\sqrt{8}", "2*sqrt(2)", True),
        (r"2\pi", "2*pi", True),
        ("3", "x=3", True),
        (r"\frac{x^2-1}{x-1}", "x+1", True),
        ("[0,1)", "[0,1]", False),
        ("(1,2)", "(2,1)", False),
        ("1/3", "0.333", False),
        ("x", "y", False),
        ("5", "-5", False),
        ("5", "I think seven", False),
    ],
)
def test_expressions_are_compared_by_value(equal: EqualMath, gold: str, given: str, expected: bool) -> None:
    assert equal(gold, given) is expected


def test_what_takes_too_long_is_undecided_and_the_next_question_is_answered() -> None:
    judge = EqualMath(question_s=1.0)
    try:
        assert judge("10^{10^{10}}", "10^{10^{10}}+1") is None
        assert judge(r"\frac{1}{2}", "0.5") is True
    finally:
        judge.close()


def test_a_question_from_another_thread_is_answered_after_the_first_thread_has_ended() -> None:
    judge = EqualMath(question_s=20.0)
    answers: list[bool | None] = []
    try:
        for _ in range(2):
            thread = threading.Thread(target=lambda: answers.append(judge(r"\frac{1}{2}", "0.5")))
            thread.start()
            thread.join()
    finally:
        judge.close()
    assert answers == [True, True]


def test_python_is_not_handed_to_the_parser(equal: EqualMath) -> None:
    assert equal("1", "__import__('os').system('true')") is None
