"""The fake engine of the self-test."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.facts import Acceptance, Counters, Load, ProcessFacts, ServerFacts, SpecDecode
from pytest_mtp.core.protocols import Client
from pytest_mtp.core.reply import Reply
from pytest_mtp.servers.engines.base import Adapter
from pytest_mtp.servers.engines.document import count, fetch_json, mapping, owners, text
from pytest_mtp.servers.engines.exposition import draft_counts, samples, whole
from pytest_mtp.servers.engines.prefill import with_final_assistant
from pytest_mtp.servers.engines.timings import timings_acceptance


@dataclass(frozen=True, slots=True, kw_only=True)
class Fake(Adapter):
    """Speaks llama.cpp's dialect under a signature of its own; `speculates` as there."""

    name: str = "fake"
    speculates: bool | None = None

    def identify(self, client: Client, models: Mapping[str, object]) -> Sequence[str]:  # noqa: ARG002 (the signature says enough)
        """By its signature under `/v1/models`."""
        return ("/v1/models: owned_by is 'pytest-mtp-fake'",) if "pytest-mtp-fake" in owners(models) else ()

    def facts(self, client: Client, facts: ServerFacts) -> ServerFacts:
        """From `/fake/info`: what it was configured to do, which proves nothing."""
        told = mapping(fetch_json(client, "/fake/info"))
        speculation = mapping(told.get("speculation"))
        enabled = speculation.get("enabled")
        if not isinstance(enabled, bool):
            return facts
        configured = SpecDecode(
            state="unknown" if enabled else "inactive",
            method=text(speculation.get("method")),
            depth=count(speculation.get("depth")) if enabled else None,
            evidence=(f"/fake/info: speculation is {'configured, not yet proven' if enabled else 'off'}",),
        )
        return dataclasses.replace(
            facts,
            engine_version=text(told.get("version")),
            concurrency=count(told.get("concurrency")) or facts.concurrency,
            sequences=count(told.get("concurrency")),
            context_length=count(told.get("context_length")) or facts.context_length,
            speculation=configured,
            details={**facts.details, "speculative": enabled},
        )

    def bound(self, facts: ServerFacts) -> Fake:
        """With what `/fake/info` said of speculation."""
        speculative = facts.details.get("speculative")
        return dataclasses.replace(self, speculates=speculative) if isinstance(speculative, bool) else self

    def counters(self, client: Client) -> Counters | None:
        """Of the whole server since its start. Tokens are counted under vLLM's name."""
        got = client.fetch("/metrics")
        totals = samples(got.text, prefix="fake:") if got.ok else None
        if not totals:
            return None
        return Counters(
            acceptance=draft_counts(totals),
            generated_tokens=whole(totals, "generation_tokens_total"),
            prompt_tokens=whole(totals, "prompt_tokens_total"),
            cached_tokens=whole(totals, "prefix_cache_hits_total"),
            source="/metrics",
        )

    def load(self, client: Client) -> Load | None:
        """From `/metrics`."""
        got = client.fetch("/metrics")
        gauges = samples(got.text, prefix="fake:") if got.ok else None
        if not gauges:
            return None
        return Load(running=whole(gauges, "num_requests_running"), waiting=whole(gauges, "num_requests_waiting"), source="/metrics")

    def acceptance_of(self, reply: Reply) -> Acceptance | None:
        """From `timings`, as llama.cpp."""
        return timings_acceptance(reply, speculates=self.speculates)

    def continuation(self, ask: Ask, prefix: str) -> Ask | None:
        """A final assistant message is continued."""
        return with_final_assistant(ask, prefix)

    def read_command(self, command: Sequence[str], environ: Mapping[str, str]) -> ProcessFacts | None:  # noqa: ARG002 (all is in its flags)
        """Its main module with its flags; what is left out has the defaults of that module."""
        if "pytest_mtp.selftest.fake" not in command:
            return None
        flags = dict(pairwise(command))
        on = flags.get("--speculation", "on") == "on"
        depth = flags.get("--depth", "3")
        workers = flags.get("--workers", "")
        spec = SpecDecode(method="mtp", depth=int(depth) if depth.isdecimal() else None) if on else SpecDecode(state="inactive")
        return ProcessFacts(
            pid=0,
            started_at=0.0,
            command=(),
            served_names=(flags["--alias"],) if "--alias" in flags else (),
            speculation=dataclasses.replace(spec, evidence=(f"command line: --speculation {'on' if on else 'off'}",)),
            sequences=int(workers) if workers.isdecimal() else None,
        )
