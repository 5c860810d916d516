"""What vLLM's `/server_info` tells of its configuration; it is there in development mode only."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_mtp.core.facts import SpecDecode
from pytest_mtp.core.record import Json
from pytest_mtp.servers.engines.document import count, mapping, text

_WRITTEN = re.compile(r"speculative_config=(None|SpeculativeConfig\(method='(\w+)', model='?([^',)]*)'?, num_spec_tokens=(\d+)\))")
"""The configuration as text, which is all that older releases send."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """`known` False: it told nothing. `sequences` is over all its engines; `request_metrics` whether replies tell their drafts."""

    known: bool = False
    speculation: SpecDecode | None = None
    sequences: int | None = None
    request_metrics: bool | None = None
    details: Mapping[str, Json] = field(default_factory=dict)


def told(document: object) -> Told:
    """Of the parsed page, None where it was not there."""
    config = mapping(document).get("vllm_config")
    if isinstance(config, str):
        return Told(known=True, speculation=_from_text(config))
    parts = mapping(config)
    if "model_config" not in parts:
        return Told()
    model, scheduler, parallel = (mapping(parts.get(f"{name}_config")) for name in ("model", "scheduler", "parallel"))
    observed = text(mapping(parts.get("observability_config")).get("per_request_spec_decode_metrics"))
    width, engines = count(scheduler.get("max_num_seqs")), count(parallel.get("data_parallel_size")) or 1
    draft = mapping(parts.get("speculative_config"))
    details: dict[str, Json] = {
        "dtype": (text(model.get("dtype")) or "").removeprefix("torch.") or None,
        "quantization": text(model.get("quantization")),
        "tensor_parallel_size": count(parallel.get("tensor_parallel_size")),
        "drafter_path": _drafter(draft, model),
    }
    return Told(
        known=True,
        speculation=speculation_of(draft, where="/server_info") if "speculative_config" in parts else None,
        sequences=width * engines if width else None,
        request_metrics=None if observed is None else observed != "none",
        details={key: value for key, value in details.items() if value is not None},
    )


def speculation_of(config: Mapping[str, object], *, where: str) -> SpecDecode:
    """What a speculative configuration says; `where` it stands. Empty: none is configured."""
    if not config:
        return SpecDecode(state="inactive", evidence=(f"{where}: no speculative_config",))
    method, depth = text(config.get("method")), count(config.get("num_speculative_tokens"))
    words = [f"{where}: speculative_config is {method or 'set'}{f', {depth} tokens' if depth else ''}: configured, not yet proven"]
    if config.get("rejection_sample_method") == "synthetic":
        words.append(f"{where}: acceptance is synthetic, so that drafts are taken which the model would not choose")
    if config.get("num_speculative_tokens_per_batch_size"):
        words.append(f"{where}: the depth follows the batch size")
    return SpecDecode(method=method, depth=depth, evidence=tuple(words))


def _drafter(draft: Mapping[str, object], model: Mapping[str, object]) -> str | None:
    """A drafter with files of its own: a head that comes with the model is told as the model's folder."""
    path = text(draft.get("model"))
    return None if path is None or path == text(model.get("model")) or path in ("ngram", "[ngram]", "suffix") else path


def _from_text(config: str) -> SpecDecode | None:
    found = _WRITTEN.search(config)
    if found is None:
        return None
    if found[1] == "None":
        return speculation_of({}, where="/server_info")
    return speculation_of({"method": found[2], "num_speculative_tokens": int(found[4])}, where="/server_info")
