"""The answer of this room, as one record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pytest_mtp.checkpoint.advice import Advice
from pytest_mtp.checkpoint.head import Head
from pytest_mtp.checkpoint.looked import Looked
from pytest_mtp.checkpoint.model import ModelFacts
from pytest_mtp.checkpoint.pairing import Pairing
from pytest_mtp.checkpoint.values import ValuesRead
from pytest_mtp.core.record import Record
from pytest_mtp.core.verdict import Finding
from pytest_mtp.core.weights import Weights

Answer = Literal["present", "absent", "contradiction"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection(Record):
    """`verdict` is by the tensors; `reason` says it in one line.

    `header_bytes` is the size of all headers, `bytes_read` what was read in all, config and tokenizer included. `digest` names
    the structure, not the weights (see digest.py).
    """

    schema_version: int = 1
    path: str
    format: Literal["safetensors", "gguf"]
    verdict: Answer
    reason: str
    family: str | None
    model: ModelFacts
    heads: tuple[Head, ...]
    weights: Weights
    findings: tuple[Finding, ...]
    looked_for: tuple[Looked, ...]
    advice: tuple[Advice, ...]
    digest: str
    revision: str | None = None
    notes: tuple[str, ...] = ()
    files: int = 0
    tensors: int = 0
    header_bytes: int = 0
    bytes_read: int = 0
    values: ValuesRead | None = None
    pairing: Pairing | None = None

    @property
    def critical(self) -> bool:
        """Whether any finding is more than a remark."""
        return any(finding.severity == "critical" for finding in self.findings)
