"""llama.cpp's own server."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.facts import Acceptance, Capabilities, Counters, Load, ProcessFacts, ServerFacts, SpecDecode
from pytest_mtp.core.protocols import Client
from pytest_mtp.core.record import Json
from pytest_mtp.core.reply import Reply
from pytest_mtp.servers.engines.base import Adapter
from pytest_mtp.servers.engines.document import count, fetch_json, items, mapping, owners, text
from pytest_mtp.servers.engines.exposition import draft_counts, samples, whole
from pytest_mtp.servers.engines.prefill import with_final_assistant
from pytest_mtp.servers.engines.timings import timings_acceptance
from pytest_mtp.servers.llamacpp.command import read


@dataclass(frozen=True, slots=True, kw_only=True)
class LlamaCpp(Adapter):
    """`speculates` is what `/slots` says of the configuration, None where it is not known."""

    name: str = "llamacpp"
    speculates: bool | None = None

    def identify(self, client: Client, models: Mapping[str, object]) -> Sequence[str]:
        """By its signature under `/v1/models`, else by the shape of `/props`."""
        if "llamacpp" in owners(models):
            return ("/v1/models: owned_by is 'llamacpp'",)
        props = mapping(fetch_json(client, "/props"))
        if "default_generation_settings" in props and "total_slots" in props:
            return ("/props has llama.cpp's default_generation_settings and total_slots",)
        return ()

    def facts(self, client: Client, facts: ServerFacts) -> ServerFacts:
        """Model file, slots, context and configuration of speculation. `/props` says `none` of it even with MTP on."""
        props = mapping(fetch_json(client, "/props"))
        slots = items(fetch_json(client, "/slots"))
        sizes = [size for slot in slots if (size := count(slot.get("n_ctx")))]
        context = min(sizes) if sizes else count(mapping(props.get("default_generation_settings")).get("n_ctx"))
        total = count(props.get("total_slots")) or len(slots) or None
        build = text(props.get("build_info"))
        told: dict[str, Json] = {
            **{key: text(props.get(key)) for key in ("model_path", "model_alias", "model_ftype", "build_info")},
            "slots": total,
            "speculative": _speculates(slots),
        }
        told["meta"] = _meta(fetch_json(client, "/v1/models"), facts.model)
        details: dict[str, Json] = {key: value for key, value in told.items() if value is not None}
        if template := text(props.get("chat_template")):
            details["template_fingerprint"] = hashlib.sha256(template.encode()).hexdigest()
        return dataclasses.replace(
            facts,
            engine_version=facts.engine_version or (None if build is None or build.startswith("b0-") else build),
            concurrency=total or facts.concurrency,
            sequences=total,
            context_length=context or facts.context_length,
            capabilities=_capabilities(facts.capabilities, props),
            speculation=_configuration(slots),
            not_offered=(*facts.not_offered, *_not_offered(client, slots)),
            details={**facts.details, **details},
        )

    def bound(self, facts: ServerFacts) -> LlamaCpp:
        """With what `/slots` said of speculation."""
        speculative = facts.details.get("speculative")
        return dataclasses.replace(self, speculates=speculative) if isinstance(speculative, bool) else self

    def counters(self, client: Client) -> Counters | None:
        """Of the whole server since its start; None where it runs without `--metrics`."""
        return llama_counters(client, prefix="llamacpp:")

    def load(self, client: Client) -> Load | None:
        """From `/metrics`, else the slots that are at work."""
        slots = () if (told := llama_load(client, prefix="llamacpp:")) else items(fetch_json(client, "/slots"))
        return Load(running=sum(slot.get("is_processing") is True for slot in slots), source="/slots") if slots else told

    def acceptance_of(self, reply: Reply) -> Acceptance | None:
        """From `timings`, streamed or not."""
        return timings_acceptance(reply, speculates=self.speculates)

    def continuation(self, ask: Ask, prefix: str) -> Ask | None:
        """A final assistant message is continued. Its reply repeats the prefix in `content`, though not in logprobs."""
        return with_final_assistant(ask, prefix)

    def read_command(self, command: Sequence[str], environ: Mapping[str, str]) -> ProcessFacts | None:
        """Of `llama-server`, and of the program that serves llama.cpp here."""
        return read(command, environ)


def llama_counters(client: Client, *, prefix: str) -> Counters | None:
    """The counters of llama.cpp's `/metrics`, under whatever prefix."""
    got = client.fetch("/metrics")
    totals = samples(got.text, prefix=prefix) if got.ok else None
    if not totals:
        return None
    return Counters(
        acceptance=draft_counts(totals),
        generated_tokens=whole(totals, "tokens_predicted_total"),
        prompt_tokens=whole(totals, "prompt_tokens_total"),
        source="/metrics",
    )


def llama_load(client: Client, *, prefix: str) -> Load | None:
    """The gauges of llama.cpp's `/metrics`."""
    got = client.fetch("/metrics")
    totals = samples(got.text, prefix=prefix) if got.ok else None
    if not totals or "requests_processing" not in totals:
        return None
    return Load(running=whole(totals, "requests_processing"), waiting=whole(totals, "requests_deferred"), source="/metrics")


def _capabilities(seen: Capabilities, props: Mapping[str, object]) -> Capabilities:
    """Grammars force a schema, `timings.cache_n` counts cached tokens; fields of a request do not reach the drafter."""
    tools = mapping(props.get("chat_template_caps")).get("supports_tools")
    return dataclasses.replace(
        seen, tools=tools if isinstance(tools, bool) else seen.tools, structured=True, cache_proof=True, switch_off=False
    )


def _not_offered(client: Client, slots: Sequence[Mapping[str, object]]) -> Sequence[str]:
    lines = []
    if not client.fetch("/metrics").ok:
        lines.append("counters of the whole server: /metrics is off; start it with --metrics")
    if not slots:
        lines.append("configuration of speculation: /slots is off; start it with --slots")
    if _speculates(slots) is False:
        return lines
    return (
        *lines,
        "draft rounds of one reply: timings count drafted and accepted tokens and no verify steps",
        "logprobs under speculation: tokens of a verify step come with 0.0 and no alternatives",
        "speculation off for one request: no field reaches the drafter; restart without --spec-type",
    )


def _meta(models: object, model: str) -> dict[str, Json] | None:
    """Sizes of the loaded model: hidden size, vocabulary, parameters."""
    entries = items(mapping(models).get("data"))
    entry = next((entry for entry in entries if entry.get("id") == model), entries[0] if entries else {})
    sizes: dict[str, Json] = {key: size for key, value in mapping(entry.get("meta")).items() if (size := count(value)) is not None}
    return sizes or None


def _speculates(slots: Sequence[Mapping[str, object]]) -> bool | None:
    flags = [flag for slot in slots if isinstance(flag := slot.get("speculative"), bool)]
    return any(flags) if flags else None


def _configuration(slots: Sequence[Mapping[str, object]]) -> SpecDecode:
    """What is configured, which never proves that drafts are made: the state is `inactive` or `unknown`."""
    speculates = _speculates(slots)
    if speculates is None:
        return SpecDecode(evidence=("/slots does not tell whether the server speculates",))
    if not speculates:
        return SpecDecode(state="inactive", evidence=(f"/slots: speculative is false for all {len(slots)} slots",))
    kinds = {kind for slot in slots if (kind := text(mapping(slot.get("params")).get("speculative.types"))) and kind != "none"}
    evidence = ["/slots: speculative is true: configured, not yet proven"]
    if kinds:
        evidence.append(f"/slots: speculative.types is {', '.join(sorted(kinds))}")
    return SpecDecode(method=",".join(sorted(kinds)) or None, evidence=tuple(evidence))
