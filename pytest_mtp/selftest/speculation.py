"""Draft and verify, simulated: how a reply's tokens fall into steps, and the counters that follow from it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from pytest_mtp.selftest.brain import Stratum
from pytest_mtp.selftest.dice import roll

_ACCEPTANCE: dict[Stratum, float] = {"prose": 0.62, "code": 0.82, "structured": 0.9}
_DECAY = 0.93  # each further position of a draft is a little harder
_SAMPLED = 0.85  # sampling makes the target less predictable


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """`sizes` sums to the number of tokens; the first step is the prefill's own token and has no draft.

    tokens = 1 + accepted + rounds + plain steps, where a plain step is one with no room for a draft.
    """

    sizes: tuple[int, ...] = ()
    drafted: int = 0
    accepted: int = 0
    rounds: int = 0
    per_position: tuple[int, ...] = ()


def judge_of_drafts(key: str, stratum: Stratum, *, sampled: bool, scale: float = 1.0) -> Callable[[int, int], bool]:
    """Whether the draft for the token at an absolute position is accepted as the `rank`-th of its round."""
    chance = _ACCEPTANCE[stratum] * (_SAMPLED if sampled else 1) * scale
    return lambda position, rank: roll(key, "draft", position) < chance * _DECAY**rank


def steps(tokens: int, *, budget: int, depth: int, start: int, accepts: Callable[[int, int], bool]) -> Steps:
    """The steps of `tokens` tokens whose first stands at absolute position `start`. No draft reaches beyond `budget`."""
    if tokens == 0:
        return Steps(per_position=(0,) * depth)
    sizes, per_position, drafted, rounds = [1], [0] * depth, 0, 0
    done = 1
    while done < tokens:
        room = min(depth, budget - done - 1)
        if room <= 0:
            sizes.append(1)
            done += 1
            continue
        drafted, rounds = drafted + room, rounds + 1
        reach = min(room, tokens - done - 1)  # the step's own token comes after the accepted ones
        taken = next((rank for rank in range(reach) if not accepts(start + done + rank, rank)), reach)
        for rank in range(taken):
            per_position[rank] += 1
        sizes.append(taken + 1)
        done += taken + 1
    return Steps(sizes=tuple(sizes), drafted=drafted, accepted=sum(per_position), rounds=rounds, per_position=tuple(per_position))


@dataclass(slots=True)
class Counters:
    """Of the whole server, since its start. Thread-safe."""

    depth: int
    prompt_tokens: int = 0
    cached_tokens: int = 0
    generated_tokens: int = 0
    requests: dict[str, int] = field(default_factory=dict)
    drafts: int = 0
    drafted: int = 0
    accepted: int = 0
    per_position: list[int] = field(default_factory=list)
    running: int = 0
    waiting: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        """All positions exist from the start."""
        self.per_position = [0] * self.depth

    def add(self, made: Steps) -> None:
        """Count the drafts of one reply."""
        with self.lock:
            self.drafts += made.rounds
            self.drafted += made.drafted
            self.accepted += made.accepted
            for position, count in enumerate(made.per_position):
                self.per_position[position] += count

    def served(self, prompt_tokens: int, generated_tokens: int, finishes: tuple[str, ...], *, cached: int = 0) -> None:
        """Count one finished request."""
        with self.lock:
            self.prompt_tokens += prompt_tokens
            self.cached_tokens += cached
            self.generated_tokens += generated_tokens
            for finish in finishes:
                self.requests[finish] = self.requests.get(finish, 0) + 1
