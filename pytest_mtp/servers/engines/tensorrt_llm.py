"""TensorRT-LLM's `trtllm-serve`. Written from its documentation and source of 2026; not run here."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_mtp.core.facts import Acceptance, Counters, Load, ProcessFacts, ServerFacts, SpecDecode
from pytest_mtp.core.protocols import Client
from pytest_mtp.core.record import Json
from pytest_mtp.core.reply import Reply
from pytest_mtp.servers.engines.base import Adapter
from pytest_mtp.servers.engines.document import count, fetch_json, mapping, owners, text
from pytest_mtp.servers.engines.exposition import draft_counts, labelled, samples, whole
from pytest_mtp.servers.engines.tensorrt_llm_command import process_of

_PAGE = "/prometheus/metrics"
_PREFIX = "trtllm_"
_DRAFTED = f"{_PREFIX}spec_decode_drafted_tokens_total"
_ACCEPTED = f"{_PREFIX}spec_decode_accepted_tokens_total"
_NOT_OFFERED = (
    "speculation off for a single request: no field does it, only a restart without speculative_config",
    "continuing an assistant message: no field does it",
    "losslessness: no page tells of relaxed acceptance, only the file of options of a server on this machine",
)
_NO_COUNTERS = "server counters: they need return_perf_metrics: true in the file of options; /metrics is emptied by whoever reads it"


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorRtLlm(Adapter):
    """Its API refuses fields that it does not know.

    `depth` is how many draft tokens a step has, None where it is not known or where counters of drafts, which are better than
    what follows from a reply, were there.
    """

    name: str = "tensorrt-llm"
    depth: int | None = None

    def identify(self, client: Client, models: Mapping[str, object]) -> Sequence[str]:
        """By its signature under `/v1/models`, else by `/server_info` or the names of its counters.

        `/version` has the shape of others, and reading `/metrics` would take its contents away from whoever watches them.
        """
        if "tensorrt_llm" in owners(models):
            return ("/v1/models: owned_by is 'tensorrt_llm'",)
        if "disaggregated_params" in mapping(fetch_json(client, "/server_info")):
            return ("/server_info has TensorRT-LLM's disaggregated_params",)
        got = client.fetch(_PAGE)
        return (f"{_PAGE} has counters named {_PREFIX}*",) if got.ok and samples(got.text, prefix=_PREFIX) else ()

    def bound(self, facts: ServerFacts) -> TensorRtLlm:
        """With the configured depth, where replies are all that tells of drafts."""
        return dataclasses.replace(self, depth=count(facts.details.get("depth_for_replies")))

    def facts(self, client: Client, facts: ServerFacts) -> ServerFacts:
        """Version; configuration and width from the labels and gauges of its counters."""
        version = text(mapping(fetch_json(client, "/version")).get("version"))
        got = client.fetch(_PAGE)
        page = got.text if got.ok else ""
        totals = samples(page, prefix=_PREFIX) or {}
        model, speculative = (_labels(page, f"{_PREFIX}{kind}_config_info") for kind in ("model", "speculative"))
        speculation, depth = _configured(speculative)
        told: dict[str, Json] = {key: model[key] for key in ("model", "dtype", "quantization", "gpu_type") if model.get(key)}
        told |= {key: speculative[key] for key in ("spec_draft_model",) if speculative.get(key)}
        if depth and _drafts(page, totals) is None:
            told["depth_for_replies"] = depth
        return dataclasses.replace(
            facts,
            engine_version=version or facts.engine_version,
            context_length=_number(model.get("max_model_len")) or facts.context_length,
            sequences=whole(totals, "max_num_active_requests") or whole(totals, "max_batch_size_static") or facts.sequences,
            capabilities=dataclasses.replace(facts.capabilities, switch_off=False, prefill=False),
            speculation=speculation,
            not_offered=(*facts.not_offered, *(() if totals else (_NO_COUNTERS,)), *_NOT_OFFERED),
            details={**facts.details, **told},
        )

    def counters(self, client: Client) -> Counters | None:
        """Of the requests that have ended; None without `return_perf_metrics`. A counter is absent until it first counts."""
        got = client.fetch(_PAGE)
        totals = samples(got.text, prefix=_PREFIX) if got.ok else None
        if not totals:
            return None
        return Counters(
            acceptance=_drafts(got.text, totals),
            generated_tokens=whole(totals, "generation_tokens_total") or 0,
            prompt_tokens=whole(totals, "prompt_tokens_total") or 0,
            cached_tokens=whole(totals, "prompt_cached_tokens_total"),
            source=_PAGE,
        )

    def load(self, client: Client) -> Load | None:
        """Gauges of the last iteration, which stand still once nothing runs."""
        got = client.fetch(_PAGE)
        totals = samples(got.text, prefix=_PREFIX) if got.ok else None
        if not totals or "num_requests_running" not in totals:
            return None
        used = totals.get("kv_cache_utilization")
        return Load(
            running=whole(totals, "num_requests_running"),
            waiting=whole(totals, "num_requests_waiting"),
            cache_used=used if used is not None and 0 <= used <= 1 else None,
            source=f"{_PAGE}, as of the last iteration",
        )

    def acceptance_of(self, reply: Reply) -> Acceptance | None:
        """From `choices[].avg_decoded_tokens_per_iter`, tokens over forward passes, where the depth is configured.

        The prefill is one of these passes and verifies nothing. Drafts are taken as the full depth in each other pass, which
        a schedule by batch size or an acceptance window can make too many.
        """
        average = mapping(reply.extras.get("choice")).get("avg_decoded_tokens_per_iter")
        tokens = reply.usage.completion_tokens if reply.usage else None
        if self.depth is None or not tokens or not isinstance(average, (int, float)) or not 1 <= average <= self.depth + 1:
            return None
        passes = round(tokens / average)
        if abs(tokens / average - passes) > 0.05:  # tokens of a stop sequence were taken away: the passes cannot be told
            return None
        steps = max(passes - 1, 0)
        source = "avg_decoded_tokens_per_iter, with the configured depth in every step"
        return Acceptance(drafted=steps * self.depth, accepted=tokens - passes, rounds=steps, source=source)

    def read_command(self, command: Sequence[str], environ: Mapping[str, str]) -> ProcessFacts | None:  # noqa: ARG002 (variables tell nothing)
        """`trtllm-serve`, with the file of options that it names."""
        return process_of(command)


def _labels(page: str, name: str) -> Mapping[str, str]:
    return next((labels for labels, _ in labelled(page, name)), {})


def _number(label: str | None) -> int | None:
    return int(label) if label and label.isascii() and label.isdecimal() and len(label) < 12 else None


def _configured(labels: Mapping[str, str]) -> tuple[SpecDecode, int | None]:
    enabled = labels.get("spec_enabled", "").lower()
    if enabled in ("false", "0"):
        return SpecDecode(state="inactive", evidence=(f"{_PAGE}: spec_enabled is {labels['spec_enabled']}",)), None
    if enabled not in ("true", "1"):
        return SpecDecode(evidence=("no page tells whether the server speculates",)), None
    method, depth = labels.get("spec_method") or None, _number(labels.get("spec_num_tokens")) or None
    evidence = f"{_PAGE}: spec_enabled is {labels['spec_enabled']} ({method or 'no method'}, {depth or 'unknown'} draft tokens)"
    return SpecDecode(method=method, depth=depth, evidence=(f"{evidence}: configured, not yet proven",)), depth


def _drafts(page: str, totals: Mapping[str, float]) -> Acceptance | None:
    return _by_position(page) or draft_counts(totals, source=f"{_PAGE}, counted by iteration")


def _by_position(page: str) -> Acceptance | None:
    """Counters of requests that ended, by position in the draft; every step with a draft drafts its first position."""
    drafted, accepted = ({}, {})  # type: tuple[dict[int, int], dict[int, int]]
    for found, name in ((drafted, _DRAFTED), (accepted, _ACCEPTED)):
        for labels, value in labelled(page, name):
            place = _number(labels.get("token_position"))
            if place is not None and place < 1000:
                found[place] = found.get(place, 0) + int(value)
    if not drafted:
        return None
    return Acceptance(
        drafted=sum(drafted.values()),
        accepted=sum(accepted.values()),
        rounds=drafted.get(0),
        per_position=tuple(accepted.get(place, 0) for place in range(max(drafted) + 1)),
        source=f"{_PAGE}, counted by ended request",
    )
