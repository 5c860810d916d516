"""A lawful speculating server without any model: chain drafts, a prefill token, tokens cut at the end, and other clients."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

from pytest_mtp.core.ask import Ask, Sampling
from pytest_mtp.core.exchange import Exchange, Timeline
from pytest_mtp.core.facts import Acceptance, Counters, SpecDecode
from pytest_mtp.core.reply import Reply, Usage
from tests.checks.conftest import MemoryServer


@dataclass
class Tally:
    """What one request, or a whole server, did."""

    depth: int
    tokens: int = 0
    drafted: int = 0
    accepted: int = 0
    rounds: int = 0
    passes: int = 0
    positions: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.positions = self.positions or [0] * self.depth

    def add(self, other: Tally) -> None:
        for name in ("tokens", "drafted", "accepted", "rounds", "passes"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.positions = [one + two for one, two in zip(self.positions, other.positions, strict=True)]

    def acceptance(self, source: str, **more: bool) -> Acceptance:
        return Acceptance(
            drafted=self.drafted,
            accepted=self.accepted,
            rounds=self.rounds,
            per_position=tuple(self.positions),
            source=source,
            **more,
        )


def decode(dice: random.Random, *, length: int, depth: int, rate: float, undrafted: float = 0.0) -> Tally:
    """One request of `length` tokens: the first from prefill, then steps with up to `depth` drafts, the last one cut."""
    made = Tally(depth=depth, tokens=min(1, length))
    while made.tokens < length:
        drafts = 0 if depth == 0 or dice.random() < undrafted else dice.randint(1, depth)
        taken = next((place for place in range(drafts) if dice.random() >= rate), drafts)
        made.passes += 1
        made.rounds += drafts > 0
        made.drafted += drafts
        made.accepted += taken
        for place in range(taken):
            made.positions[place] += 1
        made.tokens += min(taken + 1, length - made.tokens)
    return made


class Simulated(MemoryServer):
    """`tells` of drafts, tokens, steps (counters) and replies; `others` are clients that ask in between each of our asks."""

    def __init__(
        self,
        *,
        seed: int = 0,
        depth: int = 3,
        rate: float = 0.6,
        undrafted: float = 0.0,
        tells: frozenset[str] = frozenset({"drafts", "tokens", "replies"}),
        others: int = 0,
        speculation: SpecDecode | None = None,
    ) -> None:
        super().__init__(self._answer, speculation=speculation or SpecDecode(method="mtp", depth=depth))
        self.dice, self.depth, self.rate, self.undrafted = random.Random(seed), depth, rate, undrafted
        self.tells, self.others = tells, others
        self.whole, self.own, self.foreign = Tally(depth=depth), Tally(depth=depth), Tally(depth=depth)
        self.clock = 0
        self.batch_wide = False
        self.lag = 0  # tokens that the counters will show at a later reading

    def ask(self, ask: Ask) -> Exchange:
        self.asked.append(ask)
        start, self.clock = self.clock, self.clock + 10**9
        timeline = Timeline(sent_ns=start, done_ns=self.clock - 1)
        return Exchange(ask=ask, url="http://memory/v1", model="m", reply=self._answer(ask), timeline=timeline)

    ask_alone = ask

    def _answer(self, ask: Ask) -> Reply:
        made = self._decode(ask)
        batch = replace(made, positions=list(made.positions))
        for _ in range(self.others):
            other = self._decode(Ask(messages=(), sampling=Sampling(max_tokens=self.dice.randint(1, 40))))
            self.foreign.add(other)
            self.whole.add(other)
            if self.batch_wide:
                batch.add(other)
        self.own.add(made)
        self.whole.add(made)
        usage = Usage(prompt_tokens=5, completion_tokens=made.tokens, total_tokens=5 + made.tokens)
        told = batch.acceptance("reply", batch_wide=self.batch_wide).to_dict() if "replies" in self.tells else None
        words = "".join(f"w{number} " for number in range(made.tokens))
        return Reply(content=words, finish_reason="length", usage=usage, extras={"drafts": told} if told else {})

    def _decode(self, ask: Ask) -> Tally:
        length = min(ask.sampling.max_tokens or 20, self.dice.randint(1, 60))
        return decode(self.dice, length=length, depth=self.depth, rate=self.rate, undrafted=self.undrafted)

    def counters(self, client: object) -> Counters | None:
        assert client is self
        if not self.tells & {"drafts", "tokens", "steps"}:
            return None
        late, self.lag = self.lag, 0
        return Counters(
            acceptance=self.whole.acceptance("/metrics") if "drafts" in self.tells else None,
            generated_tokens=self.whole.tokens - late if "tokens" in self.tells else None,
            verify_steps=self.whole.passes if "steps" in self.tells else None,
            source="/metrics",
        )

    def acceptance_of(self, reply: Reply) -> Acceptance | None:
        told = reply.extras.get("drafts")
        return Acceptance.from_dict(told) if isinstance(told, dict) else None

    def instrumented(self, ask: Ask) -> Ask:
        return ask

    def unspeculated(self, ask: Ask) -> Ask | None:
        assert ask.messages is not None
        return None
