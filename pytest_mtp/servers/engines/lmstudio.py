"""LM Studio. Written from its documentation and from replies that others published (0.3.10 to 0.4.24); not run here."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.facts import Acceptance, ServerFacts, SpecDecode
from pytest_mtp.core.protocols import Client
from pytest_mtp.core.record import Json
from pytest_mtp.core.reply import Reply
from pytest_mtp.servers.engines.base import Adapter
from pytest_mtp.servers.engines.document import count, fetch_json, items, mapping, text

_SHAPE_OF_V0 = ("compatibility_type", "state", "max_context_length")
_SHAPE_OF_V1 = ("key", "loaded_instances", "max_context_length")
_NOT_OFFERED = (
    "server counters: there is no page of metrics",
    "verify steps: replies count draft tokens only, so that neither mean length nor positions are known",
    "configured speculation: no page tells which draft model the application pairs with this one",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LMStudio(Adapter):
    """Its server answers 200 with an error to a GET that it does not know, so that only shapes tell."""

    name: str = "lmstudio"

    def identify(self, client: Client, models: Mapping[str, object]) -> Sequence[str]:
        """By the shape of its own lists of models. `organization_owner`, its signature under `/v1/models`, is no name."""
        if _has(models.get("data"), _SHAPE_OF_V0):
            return ("the list of models has LM Studio's compatibility_type and state",)
        if _has(mapping(fetch_json(client, "/api/v0/models")).get("data"), _SHAPE_OF_V0):
            return ("/api/v0/models has LM Studio's compatibility_type and state",)
        if _has(mapping(fetch_json(client, "/api/v1/models")).get("models"), _SHAPE_OF_V1):
            return ("/api/v1/models has LM Studio's loaded_instances",)
        return ()

    def facts(self, client: Client, facts: ServerFacts) -> ServerFacts:
        """Width and context of the loaded instance, format and quantization of the model."""
        entry, instance = _loaded(items(mapping(fetch_json(client, "/api/v1/models")).get("models")), facts.model)
        listed = items(mapping(fetch_json(client, "/api/v0/models")).get("data"))
        older = next((one for one in listed if one.get("id") == facts.model), {})
        quantization = entry.get("quantization", older.get("quantization"))
        told: dict[str, Json] = {
            "format": text(entry.get("format")) or text(older.get("compatibility_type")),
            "quantization": text(mapping(quantization).get("name")) or text(quantization),
            "architecture": text(entry.get("architecture")) or text(older.get("arch")),
            "publisher": text(entry.get("publisher")) or text(older.get("publisher")),
            "variant": text(entry.get("selected_variant")),
        }
        # the longest context of a model is not that of the loaded instance
        context = count(instance.get("context_length")) or count(older.get("loaded_context_length"))
        tools = mapping(entry.get("capabilities")).get("trained_for_tool_use")
        return dataclasses.replace(
            facts,
            context_length=context or facts.context_length,
            sequences=count(instance.get("parallel")),
            capabilities=dataclasses.replace(facts.capabilities, tools=True if tools is True else facts.capabilities.tools),
            speculation=SpecDecode(evidence=("no page tells whether a draft model is used; replies do, in stats",)),
            not_offered=(*facts.not_offered, *_NOT_OFFERED),
            details={**facts.details, **{key: value for key, value in told.items() if value is not None}},
        )

    def acceptance_of(self, reply: Reply) -> Acceptance | None:
        """From `stats`, or from `usage` where newer releases put the counts.

        Drafts that were ignored never reached the model and do not count as drafted. The share that its interface shows,
        accepted over predicted tokens, is a share of the output and no acceptance rate.
        """
        for place in ("stats", "usage"):
            told = mapping(reply.extras.get(place))
            total, accepted, rejected, ignored = (
                count(told.get(f"{kind}_draft_tokens_count")) for kind in ("total", "accepted", "rejected", "ignored")
            )
            if accepted is None:
                continue
            drafted = accepted + rejected if rejected is not None else None if total is None else max(total - (ignored or 0), 0)
            if drafted is not None:
                return Acceptance(drafted=drafted, accepted=accepted, source=f"{place}.accepted_draft_tokens_count")
        return None

    def unspeculated(self, ask: Ask) -> Ask | None:
        """Without the `draft_model` that the ask names; None where it names none, for then the application decides."""
        if "draft_model" not in ask.extra_body:
            return None
        return dataclasses.replace(ask, extra_body={name: value for name, value in ask.extra_body.items() if name != "draft_model"})


def _has(entries: object, shape: tuple[str, ...]) -> bool:
    return any(all(name in entry for name in shape) for entry in items(entries))


def _loaded(entries: Sequence[Mapping[str, object]], model: str) -> tuple[Mapping[str, object], Mapping[str, object]]:
    """The entry of a model, by its key or the id of an instance, and the configuration of its loaded instance."""
    for entry in entries:
        instances = items(entry.get("loaded_instances"))
        named = next((one for one in instances if one.get("id") == model), None)
        if named is not None or entry.get("key") == model:
            only = instances[0] if len(instances) == 1 else {}
            return entry, mapping((named or only).get("config"))
    return {}, {}
