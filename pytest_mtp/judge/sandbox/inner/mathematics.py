"""Symbolic equality by math-verify, one process a question: its parser evaluates text, and text is a stranger's."""

from __future__ import annotations

import os
import random
import re
import select
import signal
import sys
from typing import Any

_SAMPLES, _DIGITS = 8, 30
_DELIMITERS = re.compile(r"\$|\\[()\[\]]")
_SQUARE_ROOT = re.compile(r"(?<!\\)\bsqrt\(([^()]*)\)")
_WORDS = re.compile(r"(?<![\\A-Za-z])(pi|infty|sin|cos|tan|log|ln|exp)(?![A-Za-z])")


def latex(text: str) -> str:
    """LaTeX in dollars, the one form that the parser reads without guessing; plain notation is rewritten: ** sqrt(2) pi."""
    text = _DELIMITERS.sub(" ", text).replace("**", "^")
    text = _WORDS.sub(r"\\\1", _SQUARE_ROOT.sub(r"\\sqrt{\1}", text)).replace("*", r" \cdot ")
    return f"${text.strip()}$"


class Server:
    """Answers `equal` with True, False, or None for what was not decided in time."""

    def __init__(self, orders: dict[str, Any]) -> None:
        """Imports before the walls stand: the packages lie outside of them."""
        sys.path[:0] = orders["packages"]
        import math_verify  # noqa: PLC0415  # the path is known now
        import sympy  # type: ignore[import-untyped]  # noqa: PLC0415  # loaded once, shared by every fork; it has no types
        from math_verify.parser import ExprExtractionConfig, LatexExtractionConfig  # noqa: PLC0415  # as above

        self._math_verify, self._sympy = math_verify, sympy
        self._configs = (LatexExtractionConfig(), ExprExtractionConfig())
        self._one_question_s: float = orders["question_s"]
        self._equal("x+1", "1+x")  # what is loaded lazily is loaded before the walls

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """In a fork that is killed when its time is over."""
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            result = b"?"
            try:
                equal = self._equal(question["gold"], question["given"])
                result = b"?" if equal is None else b"1" if equal else b"0"
            finally:
                os.write(writer, result)
                os._exit(0)
        os.close(writer)
        ready = select.select([reader], [], [], self._one_question_s)[0]
        result = os.read(reader, 1) if ready else b"?"
        os.close(reader)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return {"equal": {b"1": True, b"0": False}.get(result)}

    def _equal(self, gold: str, given: str) -> bool | None:
        """The accepted expression first: the comparison of math-verify is not symmetric."""
        parse, verify = self._math_verify.parse, self._math_verify.verify
        golds, answers = (parse(latex(text), extraction_config=self._configs, parsing_timeout=None) for text in (gold, given))
        if not golds:
            return None
        if not answers:
            return False
        if verify(golds, answers, timeout_seconds=None):
            return True
        return self._same_everywhere(golds[0], answers[0])

    def _same_everywhere(self, gold: Any, given: Any) -> bool:
        """Expand, then sample: two expressions that agree to 25 digits at points drawn from a fixed seed are equal."""
        expression = self._sympy.Expr
        if not isinstance(gold, expression) or not isinstance(given, expression):
            return False
        difference = (gold - given).doit()
        symbols = sorted(difference.free_symbols, key=str)
        if len(symbols) > len(gold.free_symbols | given.free_symbols):
            return False
        if difference.expand() == 0:
            return True
        points = random.Random(20)  # noqa: S311  # sample points, not secrets
        agreed = 0
        for _ in range(_SAMPLES):
            point = {symbol: self._sympy.Rational(points.randint(11, 97), points.randint(11, 97)) for symbol in symbols}
            here, there = (side.doit().subs(point).evalf(_DIGITS) for side in (gold, given))
            if not here.is_number or not there.is_number or here.has(self._sympy.nan, self._sympy.zoo):
                continue
            if abs(here - there) > abs(here) * self._sympy.Float(10) ** (6 - _DIGITS) + self._sympy.Float(10) ** (6 - _DIGITS):
                return False
            agreed += 1
        return agreed >= _SAMPLES // 2
