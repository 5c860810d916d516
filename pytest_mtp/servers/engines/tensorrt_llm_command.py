"""What the command line of `trtllm-serve` and its file of options say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath

import yaml

from pytest_mtp.core.facts import ProcessFacts, SpecDecode
from pytest_mtp.servers.engines.document import count, mapping, text
from pytest_mtp.servers.engines.flags import flag, flags, number

_LARGEST_FILE = 1 << 20
_OTHER_COMMANDS = frozenset({"disaggregated", "disaggregated_mpi_worker", "mm_embedding_serve"})
_SWITCHES = frozenset({"--trust_remote_code", "--disable_kv_cache_reuse", "--enable_chunked_prefill", "--grpc", "--enable_attention_dp"})


def process_of(command: Sequence[str]) -> ProcessFacts | None:
    """None where this is another program, or one of its commands that serves no model itself."""
    at = next((at for at, word in enumerate(command) if _is_program(word)), None)
    words = () if at is None else command[at + 1 :]
    if at is None or _OTHER_COMMANDS & set(words[:1]):
        return None
    given, model = flags(words), _positional(words)
    path = flag(given, "config", "extra_llm_api_options")
    options = _options(path)
    name = flag(given, "served_model_name") or (PurePath(model).name if model and model.startswith(("/", ".")) else model)
    speculative = mapping(options.get("speculative_config")) if options is not None else {}
    return ProcessFacts(
        pid=0,
        started_at=0.0,
        command=(),
        model_path=model,
        drafter_path=text(speculative.get("speculative_model")) or text(speculative.get("speculative_model_dir")),
        served_names=(name,) if name else (),
        speculation=_speculation(path, options, speculative),
        sequences=number(given, "max_batch_size") or (count(options.get("max_batch_size")) if options else None),
    )


def _is_program(word: str) -> bool:
    return word == "tensorrt_llm.commands.serve" or PurePath(word).name == "trtllm-serve"


def _positional(words: Sequence[str]) -> str | None:
    """The first word that is neither an option nor the value of one, behind the command `serve` where it is written."""
    skip = False
    for at, word in enumerate(words):
        if skip or (at == 0 and word == "serve"):
            skip = False
        elif word.startswith("-"):
            skip = "=" not in word and word not in _SWITCHES
        else:
            return word
    return None


def _options(path: str | None) -> Mapping[str, object] | None:
    """The file of options; None where it cannot be read, or where its path is relative to a folder that we do not know."""
    if path is None:
        return {}
    try:
        file = Path(path)
        if not file.is_absolute() or not file.is_file() or file.stat().st_size > _LARGEST_FILE:
            return None
        return mapping(yaml.safe_load(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError, yaml.YAMLError):
        return None


def _speculation(path: str | None, options: Mapping[str, object] | None, said: Mapping[str, object]) -> SpecDecode | None:
    if options is None:
        return SpecDecode(evidence=(f"the file of options {path!r} cannot be read",))
    if not said:
        where = f"{path}: no speculative_config" if path else "command line: no file of options, and so no speculative_config"
        return SpecDecode(state="inactive", evidence=(where,))
    method = text(said.get("decoding_type"))
    depth = count(said.get("max_draft_len")) or count(said.get("num_nextn_predict_layers"))
    evidence = [f"{path}: speculative_config is {method or 'without decoding_type'}, depth {depth or 'not written'}: not yet proven"]
    if said.get("use_relaxed_acceptance_for_thinking"):
        evidence.append(f"{path}: use_relaxed_acceptance_for_thinking: not lossless by design while the model thinks")
    window, least = said.get("acceptance_rate_window_size"), said.get("acceptance_rate_threshold")
    if window and least:
        evidence.append(f"{path}: acceptance_rate_threshold: below {least} over a window of {window} speculation ends until a restart")
    if said.get("draft_len_schedule"):
        evidence.append(f"{path}: draft_len_schedule changes the depth with the batch")
    return SpecDecode(method=method.lower() if method else None, depth=depth, evidence=tuple(evidence))
