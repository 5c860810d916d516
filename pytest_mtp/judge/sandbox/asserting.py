"""Asserts of a case, decided outside the sandbox: it is asked for the values of the program's side and never told the other.

`assert add(1, 2) == 3` asks for the value of `add(1, 2)`; the 3 stays here. So a program passes by being right, not by
patching, catching, exiting or printing. Statements whose truth only the inside can tell (loops, objects with an `__eq__` of
their own) are run there, and questions with known answers among them show whether it still tells the truth.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from pytest_mtp.judge.sandbox.values import Opaque, unpacked

_OPERATORS: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.In: lambda one, other: one in other, ast.NotIn: lambda one, other: one not in other,
    ast.Is: operator.is_, ast.IsNot: operator.is_not,
}  # fmt: skip
_TRUSTED: Mapping[str, Any] = {
    word.__name__: word for word in (bool, bytes, complex, dict, float, frozenset, int, list, range, round, set, sorted, str, tuple)
}
_PLAIN_NODES = (
    ast.Expression, ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.BinOp, ast.operator, ast.unaryop,
    ast.expr_context, ast.Call, ast.Name, ast.Starred, ast.keyword,
)  # fmt: skip
_TOO_LARGE = 10_000


class FailedAssertError(Exception):
    """The program is wrong; the message says what was expected and what came."""


class Oracle(Protocol):
    """The sandbox as an assert sees it. Both raise FailedAssertError or what ends the program."""

    def values(self, sources: Sequence[str]) -> list[Any]:
        """Packed values of expressions."""

    def truth(self, source: str) -> bool:
        """The truth of an expression as the inside tells it."""

    def run(self, source: str) -> None:
        """Run statements."""


def check(statements: str, oracle: Oracle) -> None:
    """Run one entry of `asserts`. Raises FailedAssertError."""
    for node in ast.parse(statements).body:
        if isinstance(node, ast.Assert):
            source = ast.unparse(node.test)
            if not _holds(node.test, oracle):
                raise FailedAssertError(f"{source} does not hold")
        else:
            oracle.run(ast.unparse(node))


def _holds(test: ast.expr, oracle: Oracle) -> bool:
    if isinstance(test, ast.BoolOp):
        quantifier = all if isinstance(test.op, ast.And) else any
        return quantifier(_holds(part, oracle) for part in test.values)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return not _holds(test.operand, oracle)
    if isinstance(test, ast.Compare):
        return _compared(test, oracle)
    return bool(unpacked(oracle.values([ast.unparse(test)])[0]))


def _compared(test: ast.Compare, oracle: Oracle) -> bool:
    operands = [test.left, *test.comparators]
    known = [_known(operand) for operand in operands]
    asked = [ast.unparse(operand) for operand, (is_known, _) in zip(operands, known, strict=True) if not is_known]
    answers = iter([unpacked(value) for value in oracle.values(asked)]) if asked else iter(())
    values = [value if is_known else next(answers) for is_known, value in known]
    only_inside = any(isinstance(value, Opaque) for value in values) or any(isinstance(op, ast.Is | ast.IsNot) for op in test.ops)
    if only_inside and not _against_constant(test, known):
        return oracle.truth(ast.unparse(test))
    for op, one, other in zip(test.ops, values, values[1:], strict=False):
        try:
            holds = bool(_OPERATORS[type(op)](one, other))
        except TypeError as error:
            raise FailedAssertError(f"{ast.unparse(test)}: {error}") from error
        if not holds:
            raise_if_telling(test, known, values)
            return False
    return True


def _against_constant(test: ast.Compare, known: Sequence[tuple[bool, Any]]) -> bool:
    """`==`, `in` and `is` against a value of ours: an object that is not built in is never equal to it, whatever its `__eq__` says."""
    one_known = len(test.ops) == 1 and known[1][0]
    if not one_known:
        return False
    if isinstance(test.ops[0], ast.Is | ast.IsNot):
        return known[1][1] is None or isinstance(known[1][1], bool)
    return isinstance(test.ops[0], ast.Eq | ast.NotEq | ast.In | ast.NotIn)


def raise_if_telling(test: ast.Compare, known: Sequence[tuple[bool, Any]], values: Sequence[Any]) -> None:
    """The plain case `program == accepted` says both values."""
    if len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq) and known[1][0] and not known[0][0]:
        got = values[0].shown if isinstance(values[0], Opaque) else _shown(values[0])
        raise FailedAssertError(f"{ast.unparse(test.left)}: expected {_shown(values[1])}, got {got}")


def _shown(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**100:
        return f"an integer of {value.bit_length()} bits"
    try:
        text = repr(set(value)) if isinstance(value, frozenset) and value else repr(value)
    except ValueError:  # integers beyond Python's limit of digits
        return f"a {type(value).__name__} with very long integers"
    return text if len(text) <= 120 else text[:119] + "…"


def _known(node: ast.expr) -> tuple[bool, Any]:
    """Whether an expression has no name of the program in it, and its value: those are ours to evaluate."""
    for part in ast.walk(node):
        if not isinstance(part, _PLAIN_NODES):
            return False, None
        if isinstance(part, ast.Name) and part.id not in _TRUSTED:
            return False, None
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Pow | ast.LShift | ast.Mult) and _large(part):
            return False, None
    code = compile(ast.Expression(body=node), "<accepted>", "eval")
    try:
        return True, eval(code, {"__builtins__": dict(_TRUSTED)})  # noqa: S307  # literals of the suite's author, checked above
    except Exception:  # noqa: BLE001  # an expression that cannot be evaluated here is the inside's to evaluate
        return False, None


def _large(node: ast.BinOp) -> bool:
    return any(
        isinstance(part, ast.Constant) and isinstance(part.value, int) and abs(part.value) > _TOO_LARGE for part in ast.walk(node.right)
    )
