"""How fast this checkpoint can decode where memory is the limit: bandwidth over the bytes that a token reads."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_mtp.core.record import Record
from pytest_mtp.core.weights import Weights


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling(Record):
    """One stream, one device, nothing but reading: no server is faster, real ones reach 50 to 90 % of it.

    `tokens_s` is without speculation, `speculating_tokens_s` with it (None without an acceptance length). `step_bytes` is what
    one token reads, `verify_bytes` what one verify step with its drafts reads.
    """

    bandwidth_gb_s: float
    tokens_s: float
    step_bytes: int
    acceptance_length: float | None = None
    depth: int | None = None
    speculating_tokens_s: float | None = None
    verify_bytes: int | None = None


def ceiling(
    weights: Weights, *, bandwidth_gb_s: float, acceptance_length: float | None = None, depth: int = 1, context: int = 0
) -> Ceiling | None:
    """None where the checkpoint has no weights to read.

    `bandwidth_gb_s` is in 1e9 bytes a second; `acceptance_length` is the mean number of tokens emitted a verify step, its own
    included; `depth` the drafts a step; `context` the tokens in the cache, whose keys and values are read too.

    A verify step of `depth` drafts routes depth + 1 tokens. Taking their choices for independent and even, they need
    1 - (1 - k/E)^(depth + 1) of the experts.
    """
    cached = (weights.kv_bytes_per_token or 0) * context
    step = weights.active_bytes + cached
    if step <= 0 or bandwidth_gb_s <= 0:
        return None
    bandwidth = bandwidth_gb_s * 1e9
    if acceptance_length is None:
        return Ceiling(bandwidth_gb_s=bandwidth_gb_s, tokens_s=bandwidth / step, step_bytes=step)
    routed = weights.routed_bytes
    if weights.experts and weights.experts_per_token:
        used = 1 - (1 - min(weights.experts_per_token / weights.experts, 1)) ** (depth + 1)
        routed = round(weights.expert_bytes * used)
    verify = step - weights.routed_bytes + routed + depth * weights.draft_bytes
    return Ceiling(
        bandwidth_gb_s=bandwidth_gb_s,
        tokens_s=bandwidth / step,
        step_bytes=step,
        acceptance_length=acceptance_length,
        depth=depth,
        speculating_tokens_s=acceptance_length * bandwidth / verify,
        verify_bytes=verify,
    )
