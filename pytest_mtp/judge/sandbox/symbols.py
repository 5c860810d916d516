"""Symbolic equality, lent to the judge of `math`: one confined process for the run, a fork of it for each question."""

from __future__ import annotations

import atexit
import importlib.util
import threading
from collections.abc import Sequence
from pathlib import Path

from pytest_mtp.core.record import Json
from pytest_mtp.judge.sandbox.process import LAYERS, Sandbox, SandboxEndedError

QUESTION_S = 8.0
_FOR_EVER = 10.0**6
_LONGEST = 5000


class EqualMath:
    """Call with (accepted, given): True, False, or None when it was not decided. Thread-safe; `close` ends its process."""

    def __init__(self, *, question_s: float = QUESTION_S, layers: Sequence[str] = LAYERS) -> None:
        """Nothing starts before the first question."""
        self._question_s = question_s
        self._layers = layers
        self._sandbox: Sandbox | None = None
        self._lock = threading.Lock()
        atexit.register(self.close)

    def __call__(self, gold: str, given: str) -> bool | None:
        """Dunder names and very long texts are not handed to a parser that evaluates."""
        if len(given) > _LONGEST or "__" in given or not installed():
            return None
        with self._lock:
            equal = self._asked(gold, given, tries=2)
        return equal if isinstance(equal, bool) else None

    def _asked(self, gold: str, given: str, *, tries: int) -> object:
        """Once more in a new process where the old one has ended, as it does with the thread that started it."""
        try:
            return self._started().ask(op="equal", gold=gold, given=given).get("equal")
        except SandboxEndedError:
            self._end()
            return self._asked(gold, given, tries=tries - 1) if tries > 1 else None

    def close(self) -> None:
        """End the process; a later question starts another."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        if self._sandbox is not None:
            self._sandbox.close()
            self._sandbox = None

    def _started(self) -> Sandbox:
        if self._sandbox is None:
            packages: list[Json] = [*_packages()]
            orders: dict[str, Json] = {"packages": packages, "readable": packages, "question_s": self._question_s}
            sandbox = Sandbox("mathematics", wall_s=_FOR_EVER, memory_mb=2048, layers=self._layers, orders=orders)
            sandbox.__enter__()
            self._sandbox = sandbox
        return self._sandbox


def _packages() -> list[str]:
    """The folders that hold math-verify and what it imports."""
    found: dict[str, None] = {}
    for name in ("math_verify", "latex2sympy2_extended", "sympy", "mpmath", "antlr4"):
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None:
            found[str(Path(spec.origin).parents[1])] = None
    return list(found)


def installed() -> bool:
    """Whether the extra `[math]` is there."""
    return importlib.util.find_spec("math_verify") is not None
