"""Honest programs, right and wrong, told apart by class."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from pytest_mtp.judge.program import Program
from pytest_mtp.judge.sandbox.python import run_python

ADD = "def add(a, b):\n    return a + b\n"
MATRIX = [
    pytest.param(("namespaces", "landlock"), id="all-walls"),
    pytest.param(("landlock",), id="landlock"),
    pytest.param((), id="fence"),
]


def verdict(source: str, *asserts: str, wall_s: float = 10.0, layers: tuple[str, ...] = ("namespaces", "landlock")) -> tuple[str, str]:
    result = run_python(Program(language="python", source=source, asserts=asserts, wall_s=wall_s), layers=layers)
    return result.outcome, result.message


@pytest.mark.parametrize("layers", MATRIX)
def test_a_right_program_passes_whatever_holds_it(layers: tuple[str, ...]) -> None:
    assert verdict(ADD, "assert add(1, 2) == 3", "assert add('a', 'b') == 'ab'", layers=layers) == ("passed", "")


@pytest.mark.parametrize("layers", MATRIX)
def test_the_standard_library_is_there(layers: tuple[str, ...]) -> None:
    source = """
import asyncio, collections, dataclasses, datetime, decimal, functools, hashlib, itertools, json, math
import random, re, sqlite3, statistics, zoneinfo

@dataclasses.dataclass
class Point:
    x: int

async def later(x):
    await asyncio.sleep(0)
    return Point(x)

def now(x):
    with open("notes.txt", "w") as file:
        file.write(str(x))
    return asyncio.run(later(int(open("notes.txt").read())))
"""
    assert verdict(source, "assert now(3) == Point(3)", "assert now(3).x == 3", layers=layers) == ("passed", "")


@pytest.mark.parametrize(
    ("source", "asserts", "outcome", "words"),
    [
        ("def add(a, b):\n    return a - b\n", ("assert add(1, 2) == 3",), "wrong", "add(1, 2): expected 3, got -1"),
        ("def add(a, b:\n    return a\n", ("assert add(1, 2) == 3",), "syntax", "SyntaxError"),
        ("def add(a, b):\n    return a / 0\n", ("assert add(1, 2) == 3",), "exception", "ZeroDivisionError: division by zero (line 2"),
        ("def sub(a, b):\n    return a\n", ("assert add(1, 2) == 3",), "exception", "NameError: name 'add' is not defined"),
        ("import numpy\n", ("assert True",), "exception", "No module named 'numpy'"),
        ("while True: pass\n", ("assert True",), "timeout", "no end within 1 s"),
        ("x = [0] * 10**11\n", ("assert True",), "limit", "out of memory"),
        ("def f():\n    return {1, 2}\n", ("assert f() == {1, 3}",), "wrong", "f(): expected {1, 3}, got {1, 2}"),
        ("def f():\n    return True\n", ("assert not f()",), "wrong", "not f() does not hold"),
        ("assert 1 == 2\n", ("assert True",), "exception", ""),
    ],
    ids=["wrong", "syntax", "raises", "no-such-name", "no-such-module", "endless", "memory", "set", "truth", "its-own-assert"],
)
def test_the_class_of_a_failure_is_told(source: str, asserts: tuple[str, ...], outcome: str, words: str) -> None:
    got, message = verdict(source, *asserts, wall_s=1.0)
    assert got == outcome
    assert words in message


def test_asserts_are_counted_in_order() -> None:
    program = Program(language="python", source=ADD, asserts=("assert add(1, 2) == 3", "assert add(1, 1) == 3", "assert add(0, 3) == 3"))
    result = run_python(program)
    assert (result.outcome, result.passed_asserts) == ("wrong", 1)


def test_what_it_prints_is_kept_apart_from_the_verdict() -> None:
    result = run_python(Program(language="python", source="print('passed')\n", asserts=("assert False",)))
    assert (result.outcome, result.output.strip()) == ("wrong", "passed")


def test_the_main_guard_is_not_entered() -> None:
    assert verdict(ADD + "if __name__ == '__main__':\n    add(input(), 1)\n", "assert add(1, 2) == 3")[0] == "passed"


def test_the_room_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    verdict("open('x', 'w').write('y')\n", "assert open('x').read() == 'y'")
    assert list(tmp_path.iterdir()) == []


def test_the_platform_says_what_holds_a_program() -> None:
    held = run_python(Program(language="python", source="", asserts=("assert True",))).isolation
    assert "rlimits" in held
    assert {"audit-hook", "pid-namespace"} & set(held)
