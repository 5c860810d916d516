"""Two small checkpoints, one of them with a head."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

TRUNK = {"model.embed_tokens.weight": (8, 4), "lm_head.weight": (8, 4)}
BLOCK = {"self_attn.q_proj.weight": (4, 4), "mlp.up_proj.weight": (4, 4)}
JOIN = {"enorm.weight": (4,), "hnorm.weight": (4,), "eh_proj.weight": (4, 8)}


def save(folder: Path, shapes: Mapping[str, tuple[int, ...]], **config: object) -> Path:
    """Written by the safetensors package; every weight is zero, which headers do not tell."""
    folder.mkdir(exist_ok=True)
    save_file({name: np.zeros(shape, np.float16) for name, shape in shapes.items()}, folder / "model.safetensors")
    plain = {"model_type": "deepseek_v3", "num_hidden_layers": 1, "hidden_size": 4, "vocab_size": 8}
    (folder / "config.json").write_text(json.dumps({**plain, **config}))
    return folder


@pytest.fixture
def plain(tmp_path: Path) -> str:
    return str(save(tmp_path / "plain", TRUNK | {f"model.layers.0.{name}": shape for name, shape in BLOCK.items()}))


@pytest.fixture
def holding(tmp_path: Path) -> str:
    blocks = {f"model.layers.{n}.{name}": shape for n in (0, 1) for name, shape in BLOCK.items()}
    join = {f"model.layers.1.{name}": shape for name, shape in JOIN.items()}
    return str(save(tmp_path / "holding", TRUNK | blocks | join, num_nextn_predict_layers=1))
