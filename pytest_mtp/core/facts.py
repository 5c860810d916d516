"""What is known of a server, and by what evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pytest_mtp.core.record import Json, Record
from pytest_mtp.core.verdict import Finding

SpecState = Literal["active", "inactive", "dead", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint(Record):
    """Where a server is. `api_root` ends without a slash and includes `/v1` where the server has one.

    `api_key_env` is the *name* of the variable that holds the key; the key itself is never in a record.
    """

    root: str
    api_root: str
    model: str
    api_key_env: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance(Record):
    """Counts of draft tokens, defined alike over all engines.

    `drafted` T = draft tokens verified, `accepted` A, `rounds` D = verify
    steps with at least one draft, `per_position[i]` = rounds whose draft i was accepted. None where not offered.
    """

    drafted: int
    accepted: int
    rounds: int | None = None
    per_position: tuple[int, ...] = ()
    source: str = ""

    @property
    def rate(self) -> float | None:
        """A / T."""
        return self.accepted / self.drafted if self.drafted else None

    @property
    def mean_length(self) -> float | None:
        """1 + A / D: tokens emitted a verify step, the step's own token included."""
        return 1 + self.accepted / self.rounds if self.rounds else None

    def since(self, before: Acceptance) -> Acceptance:
        """The delta of two readings of the same counters."""
        width = max(len(self.per_position), len(before.per_position))
        now = (*self.per_position, *(0,) * (width - len(self.per_position)))
        then = (*before.per_position, *(0,) * (width - len(before.per_position)))
        rounds = None if self.rounds is None or before.rounds is None else self.rounds - before.rounds
        return Acceptance(
            drafted=self.drafted - before.drafted,
            accepted=self.accepted - before.accepted,
            rounds=rounds,
            per_position=tuple(a - b for a, b in zip(now, then, strict=True)),
            source=self.source,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecDecode(Record):
    """Whether this server speculates. `active` needs drafts that moved with our own requests, never a flag.

    `dead`: configured or drafting, but nothing is ever accepted or drafted. `evidence` is one line a reason.
    """

    state: SpecState = "unknown"
    method: str | None = None
    depth: int | None = None
    evidence: tuple[str, ...] = ()
    acceptance: Acceptance | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities(Record):
    """What the server was seen to offer; False means seen not to, None not tried."""

    logprobs: bool | None = None
    token_ids: bool | None = None
    tools: bool | None = None
    metrics: bool | None = None
    prefill: bool | None = None  # continues a final assistant message
    request_acceptance: bool | None = None
    usage_in_stream: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFacts(Record):
    """The identity card of a server. `evidence` is one line a reason for the engine's name."""

    endpoint: Endpoint
    engine: str
    engine_version: str | None = None
    model: str
    models: tuple[str, ...] = ()
    concurrency: int | None = None
    context_length: int | None = None
    capabilities: Capabilities = field(default_factory=Capabilities)
    speculation: SpecDecode = field(default_factory=SpecDecode)
    evidence: tuple[str, ...] = ()
    launched: bool = False
    pid: int | None = None
    details: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Control(Record):
    """The measured temperature-0 self-agreement of a server: what a later difference must exceed.

    The unit is the prompt: `prompts` were each asked `repeats` times. Counts are prompts whose repeats disagree at that
    level; `tokens` is None where the server offers neither token ids nor logprobs. `upper` is the exact 95 % upper
    bound on the rate of prompts that disagree as text. `usable` False ends the run early.
    """

    prompts: int
    repeats: int
    disagree_text: int
    disagree_graded: int
    disagree_tokens: int | None = None
    upper: float = 1.0
    usable: bool = True
    reason: str = ""
    findings: tuple[Finding, ...] = ()
    answers: Mapping[str, str] = field(default_factory=dict)
    speculation: SpecDecode = field(default_factory=SpecDecode)
    step_checked: int = 0
    step_material: int = 0
    step_neartie: int = 0
