"""What the tiny checkpoints share: SmolLM2's tokenizer, written anew in Hugging Face's files, and tensors as safetensors.

The models themselves are random or trivial by construction, so that they are made in seconds and need no training. Only the
tokenizer must be a real one; it comes out of the base model of the demo, which is downloaded once into the user's cache.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

from pytest_mtp.servers.demo.base import base_model
from pytest_mtp.servers.demo.cache import cache_dir, locked
from pytest_mtp.servers.demo.hf_documents import tokenizer

VOCABULARY = 49152
BOS, EOS = 1, 2
CONTEXT = 4096

Tensor = NDArray[np.float32]
Tensors = dict[str, Tensor]

_WORD = re.compile("\u0120[A-Za-z]{2,}")  # byte-level BPE writes a space as this letter
_TEMPLATE = Path(__file__).with_name("chat.jinja")


def normal(rng: np.random.Generator, *shape: int, scale: float) -> Tensor:
    """Gaussian noise of that standard deviation."""
    return (rng.standard_normal(shape) * scale).astype(np.float32)


def only_words(output: Tensor) -> Tensor:
    """The output matrix with the rows of every other token zeroed, in place: at temperature 0 it says English words alone.

    Its text is then without halves of characters, markup and ends of sequence, which judges would rightly complain of, and
    runs to every budget.
    """
    words = np.fromiter((_WORD.fullmatch(token) is not None for token in _fields()["tokenizer.ggml.tokens"].contents()), bool, VOCABULARY)
    output[~words] = 0
    return output


def write_checkpoint(folder: Path, *, config: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
    """A folder as the hub would have it: configuration, one file of float32 weights, tokenizer and chat template.

    The bytes depend on the arguments and on the base model alone. Files that are there are replaced.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _write_json(folder / "config.json", config)
    _write_json(folder / "generation_config.json", {"bos_token_id": BOS, "eos_token_id": EOS, "pad_token_id": EOS})
    plain = {name: np.ascontiguousarray(values, np.float32) for name, values in sorted(tensors.items())}
    save_file(plain, folder / "model.safetensors", metadata={"format": "pt"})
    write_tokenizer(folder)


def write_tokenizer(folder: Path) -> None:
    """SmolLM2's byte-level BPE: 49152 tokens, digits one by one, and the chat template that lies beside this file."""
    fields = _fields()
    tokens = fields["tokenizer.ggml.tokens"].contents()
    assert len(tokens) == VOCABULARY
    assert [fields[f"tokenizer.ggml.{name}_token_id"].contents() for name in ("bos", "eos")] == [BOS, EOS]
    _write_json(folder / "tokenizer.json", tokenizer(fields))
    names = {"bos_token": tokens[BOS], "eos_token": tokens[EOS], "pad_token": tokens[EOS], "unk_token": tokens[0]}
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": CONTEXT, "clean_up_tokenization_spaces": False}
    template = _TEMPLATE.read_text(encoding="utf-8").strip()
    (folder / "chat_template.jinja").write_text(template, encoding="utf-8")
    _write_json(folder / "tokenizer_config.json", {**names, **settings, "chat_template": template})


@functools.cache
def _fields() -> Mapping[str, Any]:
    """What the base model's file says of itself, by GGUF's names."""
    kept = cache_dir() / "demo"
    kept.mkdir(exist_ok=True)
    with locked(kept):
        fields: Mapping[str, Any] = gguf.GGUFReader(base_model(kept)).fields
    return fields


def _write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False), encoding="utf-8")
