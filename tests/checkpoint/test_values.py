"""`--deep`: weights that were never filled in."""

from __future__ import annotations

import math
import struct

import pytest

from pytest_mtp.checkpoint.verdict import inspect_checkpoint

ONE = {"num_nextn_predict_layers": 1}
WIDTH = {"F32": 4, "BF16": 2, "F16": 2}


def with_head(make, change, *, dtype: str = "BF16", trunk=None):
    """A model whose head's tensors are what `change(name, nbytes)` returns; None keeps them."""
    head = {}
    for name, (kind, shape, *_) in make.nextn(dtype=dtype).items():
        nbytes = math.prod(shape) * WIDTH[kind]
        data = change(name, nbytes)
        head[name] = (kind, shape, make.filled(nbytes) if data is None else data)
    return make.folder((trunk or make.trunk()) | head, make.config(**ONE))


def wrong(inspection) -> list[str]:
    return [finding.title for finding in inspection.findings if finding.severity == "critical"]


@pytest.mark.parametrize("dtype", ["BF16", "F16", "F32"])
def test_a_filled_head_is_no_alarm(make, dtype: str) -> None:
    inspection = inspect_checkpoint(str(with_head(make, lambda *_: None, dtype=dtype)), deep=True)
    assert (inspection.verdict, inspection.values.zero, inspection.values.tensors) == ("present", (), 13)
    assert inspection.values.nbytes == inspection.heads[0].nbytes


def test_a_zero_filled_head_is_a_contradiction_only_when_it_is_read(make) -> None:
    folder = with_head(make, lambda _, nbytes: bytes(nbytes))
    assert inspect_checkpoint(str(folder)).verdict == "present"
    inspection = inspect_checkpoint(str(folder), deep=True)
    assert wrong(inspection) == ["every matrix of the head at model.layers.3 is zero-filled"]


def test_a_constant_head_is_a_contradiction(make) -> None:
    inspection = inspect_checkpoint(str(with_head(make, lambda _, nbytes: b"\x80\x3f" * (nbytes // 2))), deep=True)
    assert wrong(inspection) == ["every matrix of the head at model.layers.3 is constant"]


def test_constant_norms_are_normal(make) -> None:
    inspection = inspect_checkpoint(
        str(with_head(make, lambda name, nbytes: b"\x80\x3f" * (nbytes // 2) if "norm" in name else None)), deep=True
    )
    assert (inspection.verdict, inspection.values.constant) == ("present", ())


def test_a_dead_projection_is_a_contradiction(make) -> None:
    inspection = inspect_checkpoint(str(with_head(make, lambda name, nbytes: bytes(nbytes) if "eh_proj" in name else None)), deep=True)
    assert "the projection that joins embedding and hidden state is zero-filled" in wrong(inspection)[0]


def test_silent_residual_blocks_are_a_remark(make) -> None:
    """A head whose attention and feed-forward outputs are zero still drafts: by its projection alone."""
    inspection = inspect_checkpoint(
        str(with_head(make, lambda name, nbytes: bytes(nbytes) if "o_proj" in name or "down_proj" in name else None)), deep=True
    )
    assert (inspection.verdict, [finding.where for finding in inspection.findings]) == ("present", ["values"])


@pytest.mark.parametrize(
    ("dtype", "number"),
    [("BF16", b"\xc0\x7f"), ("F16", b"\x00\x7e"), ("F32", struct.pack("<f", math.inf))],
    ids=["BF16 NaN", "F16 NaN", "F32 inf"],
)
def test_one_number_that_is_none_is_found(make, dtype: str, number: bytes) -> None:
    def change(name: str, nbytes: int) -> bytes | None:
        return make.filled(nbytes)[: -len(number)] + number if "q_proj" in name else None

    inspection = inspect_checkpoint(str(with_head(make, change, dtype=dtype)), deep=True)
    assert wrong(inspection) == ["1 tensors of the head hold NaN or infinity: model.layers.3.self_attn.q_proj.weight"]


def test_packed_weights_with_zero_scales_are_zero(make) -> None:
    config = {"model_type": "qwen3_5_mtp", "quantization": {"group_size": 32, "bits": 4}, "text_config": {}}
    tensors = make.named("pre_fc_norm_embedding.weight", "pre_fc_norm_hidden.weight")
    for module in ("fc", *(name.removesuffix(".weight") for name in make.block("layers.0.") if "norm" not in name)):
        tensors[f"{module}.weight"] = ("U32", (16, 8))
        tensors |= {f"{module}.{word}": ("F16", (16, 2), bytes(64)) for word in ("scales", "biases")}
    inspection = inspect_checkpoint(str(make.folder(tensors, config)), deep=True)
    assert wrong(inspection) == ["every matrix of the head at (whole file) is zero-filled"]


def test_a_gguf_head_is_read_by_its_blocks(make) -> None:
    np = pytest.importorskip("numpy")
    gguf = pytest.importorskip("gguf")
    writer = gguf.GGUFWriter(make.base / "m.gguf", "glm4moe")
    writer.add_block_count(2)
    writer.add_embedding_length(32)
    writer.add_uint32("glm4moe.nextn_predict_layers", 1)
    for name in (*make.gguf_trunk(1), *make.gguf_block(1, nextn=True)):
        if "norm" in name:
            writer.add_tensor(name, np.ones(32, dtype=np.float32))
        else:
            shape = (32, 64) if "eh_proj" in name else (32, 32)
            rows = (
                np.zeros(shape, dtype=np.float32)
                if name.startswith("blk.1")
                else np.random.default_rng(1).normal(size=shape).astype(np.float32)
            )
            writer.add_tensor(name, gguf.quants.quantize(rows, gguf.GGMLQuantizationType.Q8_0), raw_dtype=gguf.GGMLQuantizationType.Q8_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    inspection = inspect_checkpoint(str(make.base / "m.gguf"), deep=True)
    assert wrong(inspection) == ["every matrix of the head at blk.1 is zero-filled"]


def test_tensors_of_more_than_64_mb_are_sampled(make) -> None:
    """A sparse file: 80 MB that take no room on the disk."""
    folder = make.folder(make.trunk() | make.nextn(), make.config(**ONE), shards=2)
    name = "model.layers.3.mlp.huge.weight"
    raw = f'{{"{name}":{{"dtype":"BF16","shape":[4,{10 << 20}],"data_offsets":[0,{80 << 20}]}}}}'.encode()
    with (folder / "model-huge.safetensors").open("wb") as file:
        file.write(len(raw).to_bytes(8, "little") + raw)
        file.truncate(8 + len(raw) + (80 << 20))
    make.write_index(folder, make.read_index(folder) | {name: "model-huge.safetensors"})
    inspection = inspect_checkpoint(str(folder), deep=True)
    assert (inspection.values.sampled, inspection.values.zero) == (1, ("model.layers.3.mlp.huge",))
