"""Sums written in a prompt, worked out exactly."""

from __future__ import annotations

import ast
import re
from fractions import Fraction

_SUM = re.compile(r"(?<![\w.])[-(]{0,9}\d[\d\s.,()]{0,40}(?:[-+*/×÷^−–]\s?[-(]{0,9}\d[\d\s.,()]{0,40})+")  # bounded: prompts may be long
_SIGNS = str.maketrans({"×": "*", "÷": "/", "−": "-", "–": "-", ",": None, " ": None})
_LARGEST_POWER = 64


def solve(prompt: str) -> str | None:
    """The value of the last sum in the prompt as a decimal, or None where there is none."""
    found = _SUM.findall(prompt)
    for text in reversed(found):
        value = evaluate(text.rstrip(" .,(").translate(_SIGNS).replace("^", "**"))
        if value is not None:
            return written(value)
    return None


def evaluate(expression: str) -> Fraction | None:
    """Numbers, brackets, + - * / and whole powers; None for anything else."""
    try:
        return _value(ast.parse(expression.strip(), mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
        return None


def _value(node: ast.expr) -> Fraction:
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return Fraction(str(node.value))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    if not isinstance(node, ast.BinOp):
        raise ValueError("not a sum")
    left, right = _value(node.left), _value(node.right)
    if isinstance(node.op, ast.Add):
        return left + right
    if isinstance(node.op, ast.Sub):
        return left - right
    if isinstance(node.op, ast.Mult):
        return left * right
    if isinstance(node.op, ast.Div):
        return left / right
    if isinstance(node.op, ast.Pow) and right.denominator == 1 and abs(right) <= _LARGEST_POWER and abs(left) < 10**6:
        return Fraction(left ** int(right))
    raise ValueError("not a sum")


def written(value: Fraction) -> str:
    """Whole where it is whole, else up to six decimals."""
    if value.denominator == 1:
        return str(value.numerator)
    return f"{float(value):.6f}".rstrip("0").rstrip(".")


_UNITS = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen",
    "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def in_words(number: int) -> str:
    """Whole numbers from 0 to 100 in English."""
    if number < len(_UNITS):
        return _UNITS[number]
    if number == 100:
        return "one hundred"
    tens, unit = divmod(number, 10)
    return _TENS[tens - 2] + (f"-{_UNITS[unit]}" if unit else "")
