"""Python programs of a model, run and judged."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any, cast

from pytest_mtp.judge.program import Program, ProgramOutcome, ProgramResult
from pytest_mtp.judge.sandbox.asserting import FailedAssertError, check
from pytest_mtp.judge.sandbox.process import LAYERS, Sandbox, SandboxEndedError

_TAMPERED = "the program interferes with its judge"


class _Inside:
    """The sandbox as an Oracle."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    def values(self, sources: Sequence[str]) -> list[Any]:
        answer = self._ask(op="values", sources=list(sources))
        values = answer.get("values")
        if not isinstance(values, list) or len(values) != len(sources):
            raise SandboxEndedError("exception", _TAMPERED)
        return values

    def truth(self, source: str) -> bool:
        return self._ask(op="truth", source=source).get("truth") is True

    def run(self, source: str) -> None:
        self._ask(op="run", source=source)

    def load(self, source: str) -> None:
        self._ask(op="load", source=source)

    def prove(self) -> None:
        """Questions whose answers are known here: an inside that answers them wrongly is not to be believed."""
        one, other = (secrets.randbelow(10**6) + 2 for _ in range(2))
        if self.values([f"{one} * {other}"]) != [["int", hex(one * other)]] or self.truth(f"{one} == {one + 1}"):
            raise SandboxEndedError("exception", _TAMPERED)
        if self._sandbox.ask(op="run", source=f"assert {one} == {one + 1}").get("error") != "assert":
            raise SandboxEndedError("exception", _TAMPERED)

    def _ask(self, **question: Any) -> dict[str, Any]:
        answer = self._sandbox.ask(**question)
        error = answer.get("error")
        if error == "assert" and question["op"] != "load":
            raise FailedAssertError(f"{question.get('source', '')[:100]}: {answer.get('message') or 'an assert in it does not hold'}")
        if error:
            line = f" (line {answer['line']} of the program)" if answer.get("line") else ""
            raise SandboxEndedError("exception" if error == "assert" else str(error), f"{answer.get('message', '')}{line}")
        return answer


def run_python(program: Program, *, layers: Sequence[str] = LAYERS) -> ProgramResult:
    """Load the program, then hold each assert against it, in order, until one fails."""
    passed = 0
    isolation: tuple[str, ...] = ()
    output = ""
    try:
        with Sandbox("evaluator", wall_s=program.wall_s, memory_mb=program.memory_mb, layers=layers) as sandbox:
            isolation = sandbox.isolation
            try:
                inside = _Inside(sandbox)
                inside.load(program.source)
                for statement in program.asserts:
                    check(statement, inside)
                    passed += 1
                inside.prove()
            finally:
                output = sandbox.output()
    except FailedAssertError as failed:
        return ProgramResult(outcome="wrong", message=str(failed), passed_asserts=passed, isolation=isolation, output=output)
    except SandboxEndedError as ended:
        outcome = cast("ProgramOutcome", ended.outcome)
        return ProgramResult(outcome=outcome, message=ended.message, passed_asserts=passed, isolation=isolation, output=output)
    except ValueError:  # a value that no honest sandbox sends
        return ProgramResult(outcome="exception", message=_TAMPERED, passed_asserts=passed, isolation=isolation, output=output)
    return ProgramResult(outcome="passed", passed_asserts=passed, isolation=isolation, output=output)
