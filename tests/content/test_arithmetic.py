"""Each arithmetic answer is worked out a second time, with fractions, from its own note or from a table that stands here."""

from __future__ import annotations

import ast
import datetime as dt
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
ANSWERS: dict[str, dict[str, Any]] = {
    f"{name}/{case}": answer
    for name in ("arithmetic", "facts")
    for case, answer in yaml.safe_load((ROOT / "golden_answers" / name / "any.yaml").read_text(encoding="utf-8"))["answers"].items()
}
WRITTEN = {case: answer["note"].removeprefix("= ") for case, answer in ANSWERS.items() if answer.get("note", "").startswith("= ")}
OPERATORS: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.Mod: lambda a, b: a % b,
    ast.Pow: lambda a, b: Fraction(a**b),
}
TABLE: dict[str, Any] = {
    "arithmetic/square-root": {"number": round(math.sqrt(2), 3)},
    "arithmetic/circle-area": {"number": round(math.pi * 9, 2)},
    "arithmetic/larger-decimal": {"choice": {"9.11": "A", "9.9": "B"}[str(max(9.11, 9.9))]},
    "arithmetic/arrival": {"date": f"{dt.datetime(2026, 1, 1, 22, 45, tzinfo=dt.UTC) + dt.timedelta(hours=3, minutes=40):%H:%M}"},
    "arithmetic/divisors": {"set": [n for n in range(1, 29) if 28 % n == 0]},
    "arithmetic/primes": {"list": [n for n in range(21, 40) if all(n % d for d in range(2, n))]},
}


def worked_out(expression: str) -> Fraction:
    """Exact, decimals included: 0.2 is 1/5 here."""

    def value(node: ast.expr) -> Fraction:
        if isinstance(node, ast.Constant):
            return Fraction(str(node.value))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -value(node.operand)
        assert isinstance(node, ast.BinOp), ast.dump(node)
        return OPERATORS[type(node.op)](value(node.left), value(node.right))

    return value(ast.parse(expression, mode="eval").body)


def gold_of(case: str) -> dict[str, Any]:
    """Kind to value, the long forms shortened."""
    return {kind: spec["value"] if isinstance(spec, dict) else spec for kind, spec in ANSWERS[case]["expect"].items()}


@pytest.mark.parametrize("case", WRITTEN)
def test_the_note_gives_the_answer(case: str) -> None:
    gold = Fraction(repr(gold_of(case)["number"]))
    result = worked_out(WRITTEN[case])
    assert gold == result or math.isclose(gold, result, rel_tol=1e-12)


@pytest.mark.parametrize("case", TABLE)
def test_the_table_gives_the_answer(case: str) -> None:
    assert gold_of(case) == TABLE[case]


def test_no_arithmetic_answer_goes_unchecked() -> None:
    assert {case for case in ANSWERS if case.startswith("arithmetic/")} <= {*WRITTEN, *TABLE}


def test_the_check_tells_a_wrong_expression() -> None:
    assert worked_out("8 + 2 * (15 - 6) / 3") == 14 != worked_out("(8 + 2) * (15 - 6) / 3")
