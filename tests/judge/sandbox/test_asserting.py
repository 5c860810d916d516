"""Asserts decided outside: the meaning of Python is kept, and accepted values are never sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pytest_mtp.judge.sandbox.asserting import FailedAssertError, check
from pytest_mtp.judge.sandbox.inner.evaluator import packed
from pytest_mtp.judge.sandbox.values import Opaque, unpacked


class Inside:
    """An oracle in this process that records what it is told."""

    def __init__(self, source: str) -> None:
        self.names: dict[str, Any] = {}
        exec(source, self.names)
        self.told: list[str] = []

    def values(self, sources: Sequence[str]) -> list[Any]:
        self.told += sources
        return [packed(eval(source, self.names)) for source in sources]

    def truth(self, source: str) -> bool:
        self.told.append(source)
        return bool(eval(source, self.names))

    def run(self, source: str) -> None:
        self.told.append(source)
        exec(source, self.names)


SOURCE = """
from collections import Counter, OrderedDict, namedtuple
from decimal import Decimal
from fractions import Fraction
Point = namedtuple("Point", "x y")
class Own:
    def __init__(self, x): self.x = x
    def __eq__(self, other): return isinstance(other, Own) and self.x == other.x
class Liar:
    def __eq__(self, other): return True
def f(x): return x
"""

HOLD = [
    "assert f(3) == 3",
    "assert f(3.0) == 3",
    "assert f(True) == 1",
    "assert f([1, (2, 3)]) == [1, (2, 3)]",
    "assert f({1, 2}) == {2, 1}",
    "assert f({'a': [1]}) == {'a': [1]}",
    "assert f(Counter('aab')) == {'a': 2, 'b': 1}",
    "assert f(Point(1, 2)) == (1, 2)",
    "assert f(OrderedDict(a=1)) == dict(a=1)",
    "assert f(None) is None",
    "assert f(3) is not None",
    "assert f(3) != 4",
    "assert 2 < f(3) < 4",
    "assert f(3) in [1, 2, 3]",
    "assert 3 in f([3])",
    "assert f('x') not in 'abc'",
    "assert f(3) == 3 and f(4) == 4",
    "assert f(0) or f(1)",
    "assert not f(0)",
    "assert abs(f(0.1) + 0.2 - 0.3) < 1e-9",
    "assert f(b'a') == b'a'",
    "assert f('é\\ud800') == 'é\\ud800'",
    "assert f(10**400) == 10**400",
    "assert f(Decimal('1.5')) == 1.5",
    "assert f(Fraction(1, 2)) == 0.5",
    "assert f(1j) == 1j",
    "assert f(float('inf')) == float('inf')",
    "assert f(Own(1)) == Own(1)",
    "assert f(Own(1)) != 3",
    "assert f(range(3)) == range(3)",
    "assert isinstance(f(3), int)",
    "assert f(set()) == set()",
    "x = f(3)\nassert x == 3",
    "for i in range(3):\n    assert f(i) == i",
    "assert f(3) == 1 + 2",
    "assert f([0, 0]) == [0] * 2",
    "assert sorted(f([2, 1])) == [1, 2]",
]
FAIL = [
    "assert f(3) == 4",
    "assert f('3') == 3",
    "assert f([1, 2]) == (1, 2)",
    "assert f((1, 2)) == [1, 2]",
    "assert f(None) == 0",
    "assert f(0) is None",
    "assert f(3) != 3",
    "assert f(3) in [1, 2]",
    "assert f(3) == 3 and f(4) == 5",
    "assert not f(1)",
    "assert f('A') == 'a'",
    "assert f(float('nan')) == float('nan')",
    "assert Liar() == 3",
    "assert f(Liar()) in [3]",
    "assert f([Liar()]) == [3]",
    "assert f(Own(1)) == Own(2)",
    "assert f(Own(1)) == 1",
    "assert f(True) is None",
    "assert f(3) < 'x'",
    "assert f({1: 2}) == {1: 3}",
    "assert f([]) == [[]]",
]


@pytest.mark.parametrize("statement", HOLD)
def test_what_holds_in_python_holds(statement: str) -> None:
    assert check(statement, Inside(SOURCE)) is None


@pytest.mark.parametrize("statement", FAIL)
def test_what_fails_in_python_fails_and_so_does_an_object_that_equals_everything(statement: str) -> None:
    with pytest.raises(FailedAssertError):
        check(statement, Inside(SOURCE))


def test_the_accepted_value_is_not_sent() -> None:
    inside = Inside(SOURCE)
    check("assert f(30 + 2) == 32", inside)
    assert inside.told == ["f(30 + 2)"]


def test_the_message_says_both_values() -> None:
    with pytest.raises(FailedAssertError, match=r"f\(2\): expected 3, got 2"):
        check("assert f(2) == 3", Inside(SOURCE))


@pytest.mark.parametrize(
    "lie",
    [
        ["int", "zz"], ["int"], [], None, 3, ["const", 5], ["str", [1.5]],
        ["set", [["list", []]]], ["dict", [[["list", []], ["int", "0x1"]]]],
        ["fractions", "1e999999999"], ["decimal", "x"], ["range", "0x1", "0x2", "0x0"], ["nonsense", 1], ["float", "pi"],
    ],
    ids=str,
)  # fmt: skip
def test_a_value_that_no_honest_sandbox_sends_is_refused(lie: Any) -> None:
    with pytest.raises(ValueError, match=r"value|hexadecimal|literal|zero"):
        unpacked(lie)


def test_an_object_of_the_program_stays_opaque() -> None:
    value = unpacked(packed(Inside(SOURCE).names["Liar"]()))
    assert isinstance(value, Opaque)
    assert value != 3
