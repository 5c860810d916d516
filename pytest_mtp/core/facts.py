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

    `drafted` T = draft tokens verified, `accepted` A, `rounds` D = verify steps with at least one draft, `per_position[i]` =
    rounds whose draft i was accepted. None where not offered. `batch_wide`: counts of one reply that cover every request of
    its batch, and so mean something only when nothing else ran. `tree`: drafts are the nodes of a tree, of which one path can
    be accepted at most, so that A / T is not comparable with that of a chain.
    """

    drafted: int
    accepted: int
    rounds: int | None = None
    per_position: tuple[int, ...] = ()
    source: str = ""
    batch_wide: bool = False
    tree: bool = False

    @property
    def rate(self) -> float | None:
        """A / T."""
        return self.accepted / self.drafted if self.drafted else None

    @property
    def mean_length(self) -> float | None:
        """1 + A / D: tokens emitted a verify step, the step's own token included."""
        return 1 + self.accepted / self.rounds if self.rounds else None

    def effective_length(self, emitted: int) -> float | None:
        """N / (N - A), tokens emitted a forward pass: each emitted token is an accepted draft or comes from a pass of its own.

        Needs no rounds, only `emitted` N tokens. None where no pass is left over, which no server can do.
        """
        passes = emitted - self.accepted
        return emitted / passes if passes > 0 else None

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
            batch_wide=self.batch_wide,
            tree=self.tree,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters(Record):
    """Cumulative counters of a whole server since its start, each None where it has none.

    `generated_tokens` are tokens emitted to clients: a delta beyond the usage of our own requests is foreign traffic.
    `verify_steps` F are forward passes that emitted tokens under speculation, with or without drafts; where it is the only
    word on speculation, generated_tokens / verify_steps is the mean length.
    """

    acceptance: Acceptance | None = None
    generated_tokens: int | None = None
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    verify_steps: int | None = None
    source: str = ""

    def since(self, before: Counters) -> Counters:
        """The delta of two readings of the same server."""
        both = self.acceptance is not None and before.acceptance is not None
        return Counters(
            acceptance=self.acceptance.since(before.acceptance) if both and self.acceptance and before.acceptance else None,
            generated_tokens=_less(self.generated_tokens, before.generated_tokens),
            prompt_tokens=_less(self.prompt_tokens, before.prompt_tokens),
            cached_tokens=_less(self.cached_tokens, before.cached_tokens),
            verify_steps=_less(self.verify_steps, before.verify_steps),
            source=self.source,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Load(Record):
    """How busy a server says it is, at one moment: requests that run, that wait, and the share of its cache in use (0 to 1)."""

    running: int | None = None
    waiting: int | None = None
    cache_used: float | None = None
    source: str = ""


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
class ProcessFacts(Record):
    """The server's own process, read from the operating system of this machine.

    `command` is its command line with secrets masked. What its engine's adapter reads from it: `model_path` and
    `drafter_path` as given there (made absolute against the process's folder where they exist on disk), `speculation` as
    configured, `served_names` under which the model is offered, `sequences` how many requests it runs at once.
    `parents` are the ids of the processes above it, nearest first. Of the files, where we see the same ones as the process:
    `real_paths` maps each path that it or its server names to where that leads now, and `newest_file` of model and drafter
    was last written, or last linked, at `newest_at`, Unix time in seconds.
    """

    pid: int
    started_at: float
    command: tuple[str, ...]
    model_path: str | None = None
    drafter_path: str | None = None
    served_names: tuple[str, ...] = ()
    speculation: SpecDecode | None = None
    sequences: int | None = None
    parents: tuple[int, ...] = ()
    real_paths: Mapping[str, str] = field(default_factory=dict)
    newest_file: str | None = None
    newest_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities(Record):
    """What the server was seen to offer; False means seen not to, None not tried.

    `cache_proof`: it tells how many prompt tokens came from its cache. `switch_off`: speculation can be left out of a single
    request.
    """

    logprobs: bool | None = None
    token_ids: bool | None = None
    tools: bool | None = None
    metrics: bool | None = None
    prefill: bool | None = None  # continues a final assistant message
    request_acceptance: bool | None = None
    usage_in_stream: bool | None = None
    structured: bool | None = None
    cache_proof: bool | None = None
    switch_off: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFacts(Record):
    """The identity card of a server. `evidence` is one line a reason for the engine's name.

    `not_offered` names what this server cannot be asked or does not tell, one line each with the reason: checks that need
    it say so instead of guessing. `sequences` is how many requests the engine runs at once as it tells itself, None where it
    does not; `concurrency` is how many we send. `process` is known where the server runs on this machine.
    """

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
    not_offered: tuple[str, ...] = ()
    sequences: int | None = None
    launched: bool = False
    pid: int | None = None
    process: ProcessFacts | None = None
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


def _less(now: int | None, before: int | None) -> int | None:
    return None if now is None or before is None else now - before
