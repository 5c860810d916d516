"""What a fault is, and when it strikes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pytest_mtp.selftest.brain import Answer
from pytest_mtp.selftest.condition import ALWAYS, Condition, condition
from pytest_mtp.selftest.dice import roll
from pytest_mtp.selftest.fault_doors import Door
from pytest_mtp.selftest.request import BadRequest
from pytest_mtp.selftest.scene import Scene
from pytest_mtp.selftest.wire import Completion, Frame

Trait = Literal[
    "rejects-drafts", "weak-drafts", "breaks-verify", "miscounts", "overruns", "wavers", "slow",
    "drafts-greedy", "accepts-greedy", "drafts-toolless", "drafts-schemaless", "drafts-short", "fails-schema", "mutes-schema",
    "accepts-schemaless", "never-drafts", "counts-steps", "hides-drafts",
    "no-hits", "reads-little", "ignores-hang-up", "leaks-slots", "buffers", "beyond-window",
]  # fmt: skip

Body = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault; as a rule one of the changes is set, by where a real server would break.

    `ask` in what the API layer hands on of a request, `refuse` in its reading, `answer` in the model, `completion` in the API
    layer, `frames` in its streaming, `error` in how it says no, `door` before any of them. `ask`, `completion`, `frames`, `error`
    and `door` need nothing but a request and a reply, so a proxy can apply them to a real server.

    `expected` holds the code that must be found first, then codes that may follow from it. `when` is part of the fault itself.
    `setting` is how the fake has to be launched to have what the fault breaks, such as a dialect that reasons. `shown_by` is the
    kind of check that looks for it; empty: the golden answers and tool calls of the standard plan. `unseen`, where no built-in
    suite can see it on a server of its own, says what could.
    """

    name: str
    imitates: str
    expected: tuple[str, ...]
    ask: Callable[[Body], Body] | None = None
    refuse: Callable[[Scene], BadRequest | None] | None = None
    answer: Callable[[Answer, Scene], Answer] | None = None
    completion: Callable[[Completion, Scene], Completion] | None = None
    frames: Callable[[Iterable[Frame], Scene], Iterable[Frame]] | None = None
    error: Callable[[int, str], Door] | None = None
    door: Callable[[int, int], Door] | None = None
    trait: Trait | None = None
    number: int | None = None  # the default of NAME:NUMBER, where the fault takes one
    when: str = ""
    setting: Mapping[str, str | int] = field(default_factory=dict)
    shown_by: str = ""
    unseen: str = ""
    kind: str = ""
    reports: tuple[str, ...] = ()

    @property
    def proxied(self) -> bool:
        """Whether a proxy can show it on a server that does not know of it."""
        return any((self.ask, self.refuse, self.completion, self.frames, self.error, self.door)) or self.trait == "buffers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Armed:
    """A fault with its rate, its number where it takes one, and the condition under which it strikes."""

    fault: Fault
    rate: float = 1.0
    number: int = 0
    condition: Condition = ALWAYS

    def strikes(self, scene: Scene, seed: int) -> bool:
        """Whether it strikes this request. A fault in the model strikes a conversation always or never, as weights do."""
        if not self.condition.holds(scene):
            return False
        if self.rate >= 1:
            return True
        turn = 0 if self.fault.answer or self.fault.trait else scene.turn
        return roll(seed, self.fault.name, scene.request.key, turn) < self.rate


def armed_with(fault: Fault, *, rate: float, number: int | None, extra: Condition) -> Armed:
    """With the fault's own condition, and a further one."""
    own = condition(fault.when) if fault.when else ALWAYS
    return Armed(fault=fault, rate=rate, number=number if number is not None else fault.number or 0, condition=own.joined(extra))
