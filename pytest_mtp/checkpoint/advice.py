"""What to set on each engine so that it uses this head, with the depths that it takes."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from typing import Literal

from pytest_mtp.checkpoint.family import Family
from pytest_mtp.checkpoint.head import Head
from pytest_mtp.checkpoint.model import ModelFacts
from pytest_mtp.core.record import Json, Record

Support = Literal["yes", "no", "unknown"]

_SGLANG = {"mtp": "NEXTN", "eagle": "EAGLE", "eagle3": "EAGLE3", "dflash": "DFLASH", "dspark": "DSPARK"}
_LLAMACPP = {"mtp": "draft-mtp", "eagle3": "draft-eagle3", "dflash": "draft-dflash"}
_MLX_KIND = {"mtp": "mtp", "eagle3": "eagle3", "dflash": "dflash", "dspark": "dflash"}
ENGINES = ("vllm", "sglang", "llama.cpp", "mlx-vlm", "mlx-lm", "transformers", "lmdeploy", "tensorrt-llm", "ollama", "lm-studio")


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice(Record):
    """`support` is what the engine's source says of this family: read, not run, unless the docs say otherwise."""

    engine: str
    support: Support
    flags: str = ""
    depth: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What advice depends on. `path` is how the user names the checkpoint; `writer` the `format` of the files' metadata."""

    head: Head
    family: Family | None
    facts: ModelFacts
    gguf: bool
    path: str
    writer: str = ""

    @property
    def depth(self) -> int:
        """Drafts a step to begin with: what the config promises, else the layers found."""
        return max(self.head.depth or self.head.layers, 1)

    @property
    def mlx(self) -> bool:
        """Written for MLX, so that other engines cannot be expected to read it; mlx-vlm's split drafters always are."""
        split = self.family is not None and not self.family.separate and self.facts.model_type == self.family.drafter
        return self.writer == "mlx" or (split and self.head.scope == "root")


def advise(case: Case) -> tuple[Advice, ...]:
    """One entry an engine, in a fixed order."""
    if case.family is None:
        note = "no known family: the engine may know it under a name of its own"
        return tuple(Advice(engine=engine, support="unknown", note=note) for engine in ENGINES)
    family = case.family
    return (
        _vllm(case, family),
        _sglang(case, family),
        _llamacpp(case, family),
        _mlx_vlm(case, family),
        Advice(engine="mlx-lm", support="no", note="heads are dropped while loading; only a whole model as --draft-model works"),
        _transformers(case, family),
        _lmdeploy(case, family),
        Advice(
            engine="tensorrt-llm",
            support="unknown",
            flags=f"speculative_config: {{decoding_type: MTP, num_nextn_predict_layers: {case.depth}}}" if case.head.kind == "mtp" else "",
            note="not checked for this family",
        ),
        Advice(engine="ollama", support="unknown" if family.name == "gemma4_assistant" else "no", note=_OLLAMA),
        Advice(engine="lm-studio", support="no", note="takes a whole model as draft_model, no heads"),
    )


_MLX = "these files were written for MLX: use the original checkpoint"
_OLLAMA = "drafts with Gemma 4's assistant on its MLX runner alone; it has no flag and no draft counters"


def _vllm(case: Case, family: Family) -> Advice:
    if case.gguf:
        return Advice(engine="vllm", support="unknown", note="its loaders were read for safetensors alone: use the original checkpoint")
    if case.mlx:
        return Advice(engine="vllm", support="no", note=_MLX)
    config: dict[str, Json] = {"method": family.vllm}
    if case.head.scope == "root":
        config["model"] = case.path
    config["num_speculative_tokens"] = case.depth
    flags = f"--speculative-config {shlex.quote(json.dumps(config))}"
    return Advice(engine="vllm", support="yes", flags=flags, depth=_vllm_depth(case, family), note=family.note)


def _vllm_depth(case: Case, family: Family) -> str:
    """`num_speculative_tokens` above n_predict must be a multiple of it; without n_predict it must be given."""
    n = case.head.depth
    if family.vllm == "dspark":
        return "the config's block size where num_speculative_tokens is not given"
    if family.vllm != "mtp":
        return "num_speculative_tokens must be given" if n is None else f"1 to {n}"
    if family.default is not None and not case.facts.declared and not family.forced and family.name == "qwen3_next":
        return "any number, and it must be given: the config names none"
    if n is None:
        return "any number, and it must be given"
    reuse = "the same layer runs again for each further token, and acceptance falls"
    if n == 1:
        return f"1, or any more: {reuse}"
    return f"1 to {n}, or a multiple of {n}: above {n} {reuse}"


def _sglang(case: Case, family: Family) -> Advice:
    if case.gguf:
        return Advice(engine="sglang", support="unknown", note="its loaders were read for safetensors alone: use the original checkpoint")
    if case.mlx:
        return Advice(engine="sglang", support="no", note=_MLX)
    if not family.sglang:
        return Advice(engine="sglang", support="no", note=f"no draft class for {family.name}")
    steps = case.depth
    flags = f"--speculative-algorithm {_SGLANG[case.head.kind if case.head.kind in _SGLANG else 'mtp']}"
    if case.head.scope == "root":
        flags += f" --speculative-draft-model-path {shlex.quote(case.path)}"
    if case.head.kind not in ("dflash", "dspark"):
        flags += f" --speculative-num-steps {steps} --speculative-eagle-topk 1 --speculative-num-draft-tokens {steps + 1}"
    return Advice(engine="sglang", support="yes", flags=flags, depth="with topk 1, draft tokens are steps + 1 whatever is set")


def _llamacpp(case: Case, family: Family) -> Advice:
    if not family.llamacpp:
        name = case.facts.model_type if case.gguf else family.name
        return Advice(engine="llama.cpp", support="no", note=f"no MTP graph for {name}: a head in the file is carried and never run")
    if case.mlx:
        return Advice(engine="llama.cpp", support="no", note=_MLX)
    if not case.gguf:
        note = f"after conversion to GGUF (architecture {family.llamacpp[0]}); check the result with inspect, converters may drop the head"
        return Advice(engine="llama.cpp", support="yes", flags=_llamacpp_flags(case, "FILE.gguf"), depth=_LLAMACPP_DEPTH, note=note)
    if case.facts.model_type not in family.llamacpp:
        return Advice(engine="llama.cpp", support="no", note=f"no MTP graph for {case.facts.model_type}")
    return Advice(engine="llama.cpp", support="yes", flags=_llamacpp_flags(case, case.path), depth=_LLAMACPP_DEPTH)


_LLAMACPP_DEPTH = "--spec-draft-n-max is 3 where it is not set; one layer runs again for each further token"


def _llamacpp_flags(case: Case, file: str) -> str:
    drafter = f"--spec-draft-model {shlex.quote(file)} " if case.head.scope == "root" else ""
    return f"{drafter}--spec-type {_LLAMACPP.get(case.head.kind, 'draft-mtp')} --spec-draft-n-max {case.depth}"


def _mlx_vlm(case: Case, family: Family) -> Advice:
    if case.gguf:
        return Advice(engine="mlx-vlm", support="no", note="reads no GGUF")
    if not family.drafter or case.head.kind not in _MLX_KIND:
        return Advice(engine="mlx-vlm", support="no", note=f"no drafter for {family.name}")
    block = case.facts.block_size if case.head.scope == "root" and case.facts.block_size else case.depth + family.drafter_extra
    return Advice(
        engine="mlx-vlm",
        support="yes",
        flags=f"--draft-model {shlex.quote(case.path)} --draft-kind {_MLX_KIND[case.head.kind]} --draft-block-size {block}",
        depth=f"a block of {block} drafts {block - 1} tokens; {case.depth + family.drafter_extra} is its own default",
        note="" if case.head.scope == "root" else "the same path as --model: the head is split off in memory",
    )


def _transformers(case: Case, family: Family) -> Advice:
    if not family.transformers or case.gguf or case.mlx or case.head.scope == "root":
        why = "reads no heads of GGUF or MLX files" if case.gguf or case.mlx else f"use_mtp does not know {family.name}"
        return Advice(engine="transformers", support="no", note=why)
    flags = 'generation_config: {"use_mtp": true} in the request'
    return Advice(engine="transformers", support="yes", flags=flags, note="loads the layers again for every request; depth is its own")


def _lmdeploy(case: Case, family: Family) -> Advice:
    if not family.lmdeploy or case.gguf or case.mlx:
        why = "reads no heads of GGUF or MLX files" if case.gguf or case.mlx else f"no proposer for {family.name}"
        return Advice(engine="lmdeploy", support="no", note=why)
    model = f" --speculative-draft-model {shlex.quote(case.path)}" if case.head.scope == "root" else ""
    flags = f"--speculative-algorithm {family.lmdeploy}{model} --speculative-num-draft-tokens {case.depth}"
    return Advice(engine="lmdeploy", support="yes", flags=flags, note="with the PyTorch engine alone: turbomind warns and ignores it")
