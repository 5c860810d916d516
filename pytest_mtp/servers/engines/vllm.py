"""vLLM, by the replies of 0.32; older and newer releases where they answer alike.

Its counters are the same for every method of speculation, and they exist only where speculation is configured. Of one reply
it tells its drafts with `--per-request-spec-decode-metrics`, of its configuration with VLLM_SERVER_DEV_MODE=1.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.facts import Acceptance, Counters, Load, ProcessFacts, ServerFacts, SpecDecode
from pytest_mtp.core.protocols import Client
from pytest_mtp.core.record import Json
from pytest_mtp.core.reply import Reply
from pytest_mtp.servers.engines.base import Adapter
from pytest_mtp.servers.engines.document import count, fetch_json, items, mapping, owners, text
from pytest_mtp.servers.engines.exposition import draft_counts, samples, whole
from pytest_mtp.servers.engines.prefill import with_final_assistant
from pytest_mtp.servers.engines.vllm_command import read_vllm_command
from pytest_mtp.servers.engines.vllm_config import Told, told

PREFIX = "vllm:"
_READ = ("spec_decode_", "generation_tokens", "prompt_tokens", "prefix_cache_", "num_requests_", "kv_cache_usage", "gpu_cache_usage")
_CACHE_USED = ("kv_cache_usage_perc", "gpu_cache_usage_perc")  # its name, and an older one

_NO_SWITCH = "answers without speculation: no field of a request says so; restart without --speculative-config"
_NO_COUNTERS = "counters: /metrics has no vllm: series (started with --disable-log-stats, or hidden by a proxy)"
_NO_DRAFTS = "drafts of a single reply: start with --per-request-spec-decode-metrics summary (0.32 and later)"
_NO_INFO = "method of speculation and requests at once: /server_info answers only with VLLM_SERVER_DEV_MODE=1"
_REFUSED = "min_p and logit_bias: refused (400) while speculation is configured"


@dataclass(frozen=True, slots=True, kw_only=True)
class Vllm(Adapter):
    """Needs to know nothing of the server it speaks to."""

    name: str = "vllm"

    def recognise(self, reply: Reply) -> Sequence[str]:
        """By its fingerprint, which names the version."""
        signed = reply.system_fingerprint or ""
        return (f"the first reply is signed {signed!r}",) if signed.startswith("vllm-") else ()

    def identify(self, client: Client, models: Mapping[str, object]) -> Sequence[str]:
        """By its signature under `/v1/models`; where somebody else has signed, or nobody, by the names of its series."""
        if "vllm" in owners(models):
            return ("/v1/models: owned_by is 'vllm'",)
        got = client.fetch("/metrics")
        if got.ok and f"\n{PREFIX}num_requests_running{{" in got.text:
            return (f"/metrics has {PREFIX}num_requests_running",)
        return ()

    def facts(self, client: Client, facts: ServerFacts) -> ServerFacts:
        """Version, model folder, configuration. Counters that exist prove a configuration, never that drafts are made."""
        entries = items(mapping(fetch_json(client, "/v1/models")).get("data"))
        entry = next((entry for entry in entries if entry.get("id") == facts.model), {})
        info = told(fetch_json(client, "/server_info?config_format=json"))
        totals = _totals(client)
        speculation = info.speculation or _by_counters(totals)
        named: dict[str, Json] = {"model_path": text(entry.get("root")), "adapter_of": text(entry.get("parent"))}
        details = {key: value for key, value in {**named, **info.details}.items() if value is not None}
        caches = None if totals is None else any(name.startswith("prefix_cache_queries") for name in totals)
        return dataclasses.replace(
            facts,
            engine_version=text(mapping(fetch_json(client, "/version")).get("version")) or facts.engine_version,
            context_length=count(entry.get("max_model_len")) or facts.context_length,
            sequences=info.sequences,
            capabilities=dataclasses.replace(facts.capabilities, cache_proof=caches, switch_off=False),
            speculation=speculation,
            not_offered=(*facts.not_offered, *_not_offered(facts, info, totals, speculation)),
            details={**facts.details, **details},
        )

    def counters(self, client: Client) -> Counters | None:
        """Of all its engines together since their start; None where it runs with `--disable-log-stats`.

        Without speculation the series of drafts are absent, and nothing was drafted.
        """
        totals = _totals(client)
        if not totals or "generation_tokens_total" not in totals:
            return None
        cached = whole(totals, "prompt_tokens_cached_total")
        return Counters(
            acceptance=draft_counts(totals) or Acceptance(drafted=0, accepted=0, rounds=0, source="/metrics without series of drafts"),
            generated_tokens=whole(totals, "generation_tokens_total"),
            prompt_tokens=whole(totals, "prompt_tokens_total"),
            cached_tokens=whole(totals, "prefix_cache_hits_total") if cached is None else cached,
            source="/metrics",
        )

    def load(self, client: Client) -> Load | None:
        """From `/metrics`; the share of the cache is the mean over its engines. `/load` counts only where it is told to."""
        got = client.fetch("/metrics")
        lines = list(_lines(got.text)) if got.ok else []
        totals = samples("\n".join(lines), prefix=PREFIX)
        if not totals or "num_requests_running" not in totals:
            return None
        used = next((name for name in _CACHE_USED if name in totals), None)
        engines = sum(line.startswith(f"{PREFIX}{used}{{") for line in lines) or 1
        return Load(
            running=whole(totals, "num_requests_running"),
            waiting=whole(totals, "num_requests_waiting"),
            cache_used=totals[used] / engines if used else None,
            source="/metrics",
        )

    def acceptance_of(self, reply: Reply) -> Acceptance | None:
        """From `metrics.speculative_decoding`, whose histogram counts steps by how many drafts they accepted."""
        counted = mapping(mapping(reply.extras.get("metrics")).get("speculative_decoding"))
        drafted, accepted = count(counted.get("num_draft_tokens")), count(counted.get("num_accepted_draft_tokens"))
        if drafted is None or accepted is None:
            return None
        histogram = counted.get("acceptance_histogram")
        steps = [count(entry) or 0 for entry in histogram] if isinstance(histogram, list) else []
        return Acceptance(
            drafted=drafted,
            accepted=accepted,
            rounds=count(counted.get("num_spec_steps")),
            per_position=tuple(sum(steps[position:]) for position in range(1, len(steps))),
            source="metrics.speculative_decoding",
        )

    def instrumented(self, ask: Ask) -> Ask:
        """With token ids, the last end-of-text included."""
        return dataclasses.replace(ask, extra_body={"return_token_ids": True, **ask.extra_body})

    def continuation(self, ask: Ask, prefix: str) -> Ask | None:
        """A final assistant message is continued; the reply holds what follows alone."""
        return with_final_assistant(ask, prefix, {"continue_final_message": True, "add_generation_prompt": False})

    def read_command(self, command: Sequence[str], environ: Mapping[str, str]) -> ProcessFacts | None:  # noqa: ARG002 (words alone tell)
        """Of `vllm serve` and of its module."""
        return read_vllm_command(command)


def _lines(exposition: str) -> Iterator[str]:
    """The lines that we read: an exposition has a thousand, most of them buckets."""
    wanted = tuple(f"{PREFIX}{name}" for name in _READ)
    return (line for line in exposition.splitlines() if line.startswith(wanted))


def _totals(client: Client) -> Mapping[str, float] | None:
    got = client.fetch("/metrics")
    return samples("\n".join(_lines(got.text)), prefix=PREFIX) or None if got.ok else None


def _by_counters(totals: Mapping[str, float] | None) -> SpecDecode:
    """Without `/server_info`: the series of drafts exist from the start, one for each position, where speculation is configured."""
    if totals is None:
        return SpecDecode(evidence=("neither /server_info nor /metrics tells whether it speculates",))
    counted = draft_counts(totals)
    if counted is None:
        return SpecDecode(state="inactive", evidence=("/metrics has no series of drafts: speculation is not configured",))
    return SpecDecode(
        depth=len(counted.per_position) or None, evidence=("/metrics has series of drafts: speculation is configured, not yet proven",)
    )


def _not_offered(facts: ServerFacts, info: Told, totals: Mapping[str, float] | None, speculation: SpecDecode) -> Iterator[str]:
    if totals is None:
        yield _NO_COUNTERS
    if not info.known:
        yield _NO_INFO
    if speculation.state == "inactive":
        return
    yield _NO_SWITCH
    yield _REFUSED
    if info.request_metrics is False or not (info.request_metrics or facts.capabilities.request_acceptance):
        yield _NO_DRAFTS
