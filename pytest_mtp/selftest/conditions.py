"""Faults that strike under a condition alone: what a drafter, or the server around it, cannot do beside drafting."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_mtp.selftest.fault import Fault, Trait
from pytest_mtp.selftest.request import BadRequest, ChatRequest
from pytest_mtp.selftest.sampler import is_steered

Traits = Mapping[Trait | None, int]
"""The traits of the faults that strike a request, each with its number."""


def depth_under(traits: Traits, request: ChatRequest, *, prompt_tokens: int, depth: int) -> int:
    """Draft tokens a step for this request: the depth of the server, or 0 where its drafter stops."""
    stops = (
        "never-drafts" in traits
        or ("drafts-greedy" in traits and is_steered(request))
        or ("drafts-toolless" in traits and bool(request.tools))
        or ("drafts-schemaless" in traits and request.response_format is not None)
        or ("drafts-short" in traits and prompt_tokens > traits["drafts-short"])
    )
    return 0 if stops else depth


def acceptance_under(traits: Traits, request: ChatRequest) -> float:
    """What scales the acceptance of a good drafter."""
    if "rejects-drafts" in traits or ("accepts-greedy" in traits and is_steered(request)):
        return 0.0
    if "accepts-schemaless" in traits and request.response_format is not None:
        return 0.0
    return traits.get("weak-drafts", 100) / 100


def refuse_under(traits: Traits, request: ChatRequest, *, depth: int) -> None:
    """Raise what a server answers that cannot hold a grammar while it drafts. Without drafts it can."""
    if "fails-schema" in traits and request.response_format is not None and depth:
        raise BadRequest("Structured output is not supported with speculative decoding.", status=500, kind="internal_error")


def mute_under(traits: Traits, request: ChatRequest, *, depth: int) -> bool:
    """Whether nothing at all is said: a grammar that accepts no draft and ends the reply."""
    return "mutes-schema" in traits and request.response_format is not None and depth > 0


CONDITION_FAULTS = (
    Fault(
        name="drafts-only-greedy",
        imitates="A drafter that is left out as soon as tokens are sampled",
        expected=("SPEC.condition",),
        trait="drafts-greedy",
    ),
    Fault(
        name="accepts-only-greedy",
        imitates="An acceptance rule for greedy decoding alone: sampled drafts are made, and each is refused",
        expected=("SPEC.condition",),
        trait="accepts-greedy",
    ),
    Fault(
        name="no-drafts-with-tools",
        imitates="A drafter that is left out of requests that offer tools",
        expected=("SPEC.condition",),
        trait="drafts-toolless",
    ),
    Fault(
        name="no-drafts-with-schema",
        imitates="A grammar that switches drafting off",
        expected=("SPEC.condition",),
        trait="drafts-schemaless",
    ),
    Fault(
        name="no-drafts-after-long-prompt",
        imitates="A drafter with a short context: after more prompt tokens than the number says it drafts nothing",
        expected=("SPEC.condition",),
        trait="drafts-short",
        number=300,
    ),
    Fault(
        name="schema-fails",
        imitates="A server that answers 500 for structured output, since it speculates",
        expected=("SPEC.condition", "INFRA.5xx"),
        trait="fails-schema",
    ),
    Fault(
        name="schema-says-nothing",
        imitates="Structured output beside drafts ends at once, with nothing said and no error",
        expected=("SPEC.condition", "GEN.empty", "ANS.json_forced", "ANS.json", "ANS.schema"),
        trait="mutes-schema",
    ),
)
