"""What a fault is, and when it strikes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pytest_mtp.selftest.brain import Answer
from pytest_mtp.selftest.dice import roll
from pytest_mtp.selftest.fault_doors import Door
from pytest_mtp.selftest.scene import Scene
from pytest_mtp.selftest.wire import Completion, Frame

Trait = Literal[
    "rejects-drafts", "weak-drafts", "breaks-verify", "miscounts", "overruns", "wavers", "slow",
    "drafts-greedy", "accepts-greedy", "drafts-toolless", "drafts-schemaless", "drafts-short", "fails-schema", "mutes-schema",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault; at most one of the changes is set, by where a real server would break.

    `answer` in the model, `completion` in the API layer, `frames` in its streaming, `door` before any of them. The
    middle two need nothing but a reply, so a proxy can apply them to a real one. `expected` holds the code that must be
    found first, then codes that may follow from it.
    """

    name: str
    imitates: str
    expected: tuple[str, ...]
    answer: Callable[[Answer, Scene], Answer] | None = None
    completion: Callable[[Completion, Scene], Completion] | None = None
    frames: Callable[[tuple[Frame, ...], Scene], tuple[Frame, ...]] | None = None
    door: Callable[[int, int], Door] | None = None
    trait: Trait | None = None
    number: int | None = None  # the default of NAME:NUMBER, where the fault takes one


@dataclass(frozen=True, slots=True, kw_only=True)
class Armed:
    """A fault with its rate, and its number where it takes one."""

    fault: Fault
    rate: float = 1.0
    number: int = 0

    def strikes(self, scene: Scene, seed: int) -> bool:
        """Whether it strikes this request. A fault in the model strikes a conversation always or never, as weights do."""
        if self.rate >= 1:
            return True
        turn = 0 if self.fault.answer or self.fault.trait else scene.turn
        return roll(seed, self.fault.name, scene.request.key, turn) < self.rate
