"""mlx-vlm's server."""

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
from pytest_mtp.servers.engines.flags import flag, flags, number

_SIGNATURE = "mlx_vlm/"
_PROGRAMS = ("mlx_vlm.server", "mlx_vlm")

_ALWAYS = (
    "draft counts of the whole server: /metrics counts tokens and no drafts",
    "draft depth: no page tells it; --draft-block-size is one more",
    "speculation off for one request: the drafter belongs to the server (PATCH /v1/settings loads the model anew, for everybody)",
    "continuing an assistant message: every chat opens a new turn",
)
_WITH_DRAFTER = (
    "logprobs under speculation: each is sent as 0.0 with no alternatives, and no error",
    "response_format under speculation: refused with status 500",
    "draft counts of one reply among others: they cover the whole batch, so only a request that runs alone has its own",
)
_REFUSED = "its logprobs have alternatives, which no drafter at work leaves them: was it refused while loading? The log says why"
_WITHOUT_ALTERNATIVES = "alternatives to a token: top_logprobs stay empty unless the server is started with --top-logprobs-k"


@dataclass(frozen=True, slots=True, kw_only=True)
class MlxVlm(Adapter):
    """Its replies tell of drafts; its pages name the drafter."""

    name: str = "mlx-vlm"

    def recognise(self, reply: Reply) -> Sequence[str]:
        """By the header `Server`."""
        signed = _header(reply.headers)
        return (f"header Server is {signed!r}",) if signed.startswith(_SIGNATURE) else ()

    def identify(self, client: Client, models: Mapping[str, object]) -> Sequence[str]:
        """Behind a proxy that writes its own header: by the shape of `/health`. Models that somebody signed are not its."""
        if owners(models):
            return ()
        health = mapping(fetch_json(client, "/health"))
        if {"continuous_batching_enabled", "apc_enabled", "loaded_tool_parser"} <= set(health):
            return ("/health has mlx-vlm's continuous_batching_enabled, apc_enabled and loaded_tool_parser",)
        return ()

    def facts(self, client: Client, facts: ServerFacts) -> ServerFacts:
        """Model, context and tools from `/health`, the drafter from `/v1/settings`."""
        version = _header(client.fetch("/health").headers or {}).removeprefix(_SIGNATURE)
        health, settings = mapping(fetch_json(client, "/health")), mapping(mapping(fetch_json(client, "/v1/settings")).get("current"))
        speculation = _configuration(settings)
        drafts = speculation.state != "inactive"
        told: dict[str, Json] = {
            "model_path": text(health.get("loaded_model")),
            "adapter_path": text(health.get("loaded_adapter")),
            "tool_parser": text(health.get("loaded_tool_parser")),
            "draft_model": text(settings.get("draft_model")),
            "kv_bits": count(settings.get("kv_bits")),
            "prefix_cache": settings.get("apc_enabled") is True,
        }
        seen = facts.capabilities
        if text(settings.get("draft_model")) and seen.logprobs:
            speculation = dataclasses.replace(speculation, evidence=(*speculation.evidence, _REFUSED))
        lines = (*_ALWAYS, *(_WITH_DRAFTER if drafts else () if seen.logprobs else (_WITHOUT_ALTERNATIVES,)))
        context = count(health.get("effective_context_limit")) or count(health.get("loaded_context_size"))
        return dataclasses.replace(
            facts,
            engine_version=version or facts.engine_version,
            context_length=context or facts.context_length,
            capabilities=dataclasses.replace(
                seen,
                tools=told["tool_parser"] is not None if health else seen.tools,
                structured=False if drafts else seen.structured,
                cache_proof=True,
                switch_off=False,
            ),
            speculation=speculation,
            not_offered=(*facts.not_offered, *lines),
            details={**facts.details, **{key: value for key, value in told.items() if value is not None}},
        )

    def counters(self, client: Client) -> Counters | None:
        """Tokens of completed requests, from `/metrics` (JSON): no drafts among them."""
        summary = mapping(mapping(fetch_json(client, "/metrics")).get("summary"))
        generated = count(summary.get("generated_tokens_total"))
        if generated is None:
            return None
        return Counters(generated_tokens=generated, prompt_tokens=count(summary.get("prompt_tokens_total")), source="/metrics")

    def load(self, client: Client) -> Load | None:
        """Requests in flight, those that wait among them, from `/metrics`."""
        metrics = mapping(fetch_json(client, "/metrics"))
        flying = count(mapping(metrics.get("summary")).get("in_flight"))
        waiting = count(mapping(metrics.get("server")).get("request_queue_depth"))
        if flying is None:
            return None
        return Load(running=max(0, flying - (waiting or 0)), waiting=waiting, source="/metrics")

    def acceptance_of(self, reply: Reply) -> Acceptance | None:
        """From `timings`, in streams in their last event. The fields are null in a reply for which nothing was drafted.

        That is so for a single token, without a drafter, and with one that was refused while loading, which is said in the log
        alone.
        """
        timings = mapping(reply.extras.get("timings"))
        drafted, rounds = count(timings.get("draft_n")), count(timings.get("draft_rounds"))
        if drafted is not None:
            accepted = count(timings.get("draft_n_accepted")) or 0
            return Acceptance(drafted=drafted, accepted=accepted, rounds=rounds, source="timings.draft_n", batch_wide=True)
        if "draft_n" in timings and timings["draft_n"] is None:
            return Acceptance(drafted=0, accepted=0, rounds=0, source="timings.draft_n is null: nothing was drafted", batch_wide=True)
        return None

    def read_command(self, command: Sequence[str], environ: Mapping[str, str]) -> ProcessFacts | None:
        """Of `python -m mlx_vlm.server` or `mlx_vlm.server`; what is not on the command line may be in the environment."""
        if not runs(command, _PROGRAMS):
            return None
        found = flags(command)
        model = flag(found, "model")
        drafter = flag(found, "draft_model") or environ.get("MLX_VLM_DRAFT_MODEL") or None
        block = number(found, "draft_block_size")
        limit = number(found, "max_num_seqs")
        lines = [f"command line: draft model {drafter}" if drafter else "command line: no draft model"]
        if drafter and block:
            lines.append(f"command line: blocks of {block}, so {block - 1} drafts a step")
        return ProcessFacts(
            pid=0,
            started_at=0.0,
            command=(),
            model_path=model,
            drafter_path=drafter,
            served_names=(model,) if model else (),
            speculation=SpecDecode(
                state="unknown" if drafter else "inactive",
                method=flag(found, "draft_kind") or environ.get("MLX_VLM_DRAFT_KIND") or None if drafter else None,
                depth=block - 1 if drafter and block else None,
                evidence=tuple(lines),
            ),
            sequences=limit or None,
        )


def runs(command: Sequence[str], programs: Sequence[str]) -> bool:
    """Whether a Python program of one of these names is run: as a module, or as a script in a folder of programs."""
    head = command[:4]  # an interpreter and its own options may come before the program
    return any(word in programs or word.rpartition("/")[2] in programs for word in head)


def _header(headers: Mapping[str, str]) -> str:
    return next((value for name, value in headers.items() if name.lower() == "server"), "")


def _configuration(settings: Mapping[str, object]) -> SpecDecode:
    """A drafter that does not fit the model is left out with a line in the log, and is still named here."""
    if "draft_model" not in settings:
        return SpecDecode(evidence=("/v1/settings does not tell whether there is a drafter",))
    drafter, kind = text(settings.get("draft_model")), text(settings.get("draft_kind"))
    if drafter is None:
        return SpecDecode(state="inactive", evidence=("/v1/settings: draft_model is null",))
    return SpecDecode(method=kind, evidence=(f"/v1/settings: draft_model is {drafter!r}: configured, not yet proven",))
