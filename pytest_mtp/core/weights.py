"""The bytes of a checkpoint by what they are for: read by the checkpoint room, used by checks to know a server's limit."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_mtp.core.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights(Record):
    """Bytes as stored.

    `active_bytes` is what decoding one token reads: every dense weight, `experts_per_token` of `experts`, the output matrix
    (the embedding where it is tied); the one row of the embedding is left out.

    `draft_bytes` is what one draft reads: the head's active weights and the output matrix that it uses. `kv_bytes_per_token`
    is at 16 bits; None where the config does not say enough. `bits_per_weight` is over the matrices of the trunk's blocks.
    """

    total_bytes: int
    trunk_bytes: int
    expert_bytes: int
    embedding_bytes: int
    output_bytes: int
    head_bytes: int
    other_bytes: int
    parameters: int
    active_bytes: int
    draft_bytes: int
    routed_bytes: int
    experts: int | None
    experts_per_token: int | None
    kv_bytes_per_token: int | None
    bits_per_weight: float
