"""A checkpoint opened: its config, its tensors, and what reading them showed. No weight has been read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_mtp.checkpoint.errors import CheckpointError
from pytest_mtp.checkpoint.findings import contradiction, remark
from pytest_mtp.checkpoint.gguf_header import GgufHeader, read_gguf
from pytest_mtp.checkpoint.json_bytes import MAX_SMALL_FILE, parse_object
from pytest_mtp.checkpoint.model import ModelFacts, from_config, from_gguf, quantisation_of
from pytest_mtp.checkpoint.place import Place, find
from pytest_mtp.checkpoint.shards import read_shards
from pytest_mtp.checkpoint.tensor import MAX_TENSORS, Tensor
from pytest_mtp.core.verdict import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """`tensors` holds those of unreadable shards too, with an empty dtype: their names are known from the index.

    `unlisted` are names that no index lists though there is one. `vocabulary` is GGUF's own (digest, size).
    """

    place: Place
    facts: ModelFacts
    recipe: Mapping[str, Any]
    tensors: Mapping[str, Tensor]
    unlisted: frozenset[str]
    findings: tuple[Finding, ...]
    files: int
    header_bytes: int
    vocabulary: tuple[str, int] | None = None
    writer: str = ""

    @property
    def gguf(self) -> bool:
        """Which of the two formats."""
        return self.place.format == "gguf"


def open_checkpoint(path: str) -> Opened:
    """Raises CheckpointError (or InfraError for a web address) when nothing can be said about what is there."""
    place = find(path)
    return _open_gguf(place) if place.format == "gguf" else _open_safetensors(place)


def _open_safetensors(place: Place) -> Opened:
    findings: list[Finding] = []
    config: dict[str, Any] = {}
    if place.config:
        size = place.source.size(place.config)
        shown = place.source.shown(place.config)
        if size > MAX_SMALL_FILE:
            raise CheckpointError(f"has {size} bytes; no model's config has more than {MAX_SMALL_FILE}", path=shown)
        config = parse_object(place.source.read(place.config, 0, size), path=shown)
    else:
        findings.append(remark("config", "there is no config.json: what the config declares is not known"))
    shards = read_shards(place)
    unread = {name: Tensor(name, "", (), 0, file, 0) for name, file in shards.unread.items() if name not in shards.tensors}
    return Opened(
        place=place,
        facts=from_config(config),
        recipe=quantisation_of(config),
        tensors={**shards.tensors, **unread} if unread else shards.tensors,
        unlisted=shards.unlisted,
        findings=(*findings, *shards.findings),
        files=shards.files,
        header_bytes=shards.header_bytes,
        writer=shards.writer,
    )


def _open_gguf(place: Place) -> Opened:
    headers: dict[str, GgufHeader] = {}
    findings: list[Finding] = []
    for file in place.files:
        try:
            headers[file] = read_gguf(place.source, file)
        except CheckpointError as error:
            if len(place.files) == 1:
                raise
            findings.append(contradiction("shard", f"a piece of the split file cannot be read: {file} {error.problem}", file=file))
    if not headers:
        raise CheckpointError(f"none of its {len(place.files)} pieces can be read", path=place.source.shown(place.files[0]))
    first = next(iter(headers.values()))
    findings += [] if findings else _split_findings(first, headers)
    tensors: dict[str, Tensor] = {}
    for file, header in headers.items():
        for tensor in header.tensors:
            if tensor.name in tensors:
                findings.append(contradiction("shard", f"the tensor {tensor.name[:80]!r} stands in two pieces, {file} is the second"))
                break
            tensors[tensor.name] = tensor
        if len(tensors) > MAX_TENSORS:
            raise CheckpointError(f"more than {MAX_TENSORS} tensors", path=place.source.shown())
    return Opened(
        place=place,
        facts=from_gguf(first.values, first.counts),
        recipe={},
        tensors=tensors,
        unlisted=frozenset(),
        findings=tuple(findings),
        files=len(headers),
        header_bytes=sum(header.length for header in headers.values()),
        vocabulary=first.vocabulary,
    )


def _split_findings(first: GgufHeader, headers: Mapping[str, GgufHeader]) -> list[Finding]:
    promised, pieces = first.values.get("split.tensors.count"), first.values.get("split.count")
    held = sum(len(header.tensors) for header in headers.values())
    findings = []
    if isinstance(pieces, int) and pieces > 1 and pieces != len(headers):
        findings.append(
            contradiction("shard", f"the file says that it is split in {pieces} pieces; {len(headers)} are here", pieces=pieces)
        )
    elif isinstance(promised, int) and promised and promised != held:
        findings.append(contradiction("shard", f"the split file promises {promised} tensors and its pieces hold {held}", promised=promised))
    return findings
