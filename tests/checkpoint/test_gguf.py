"""GGUF files, written by the gguf package or by hand where they must lie."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import given

from pytest_mtp.checkpoint.gguf_header import read_gguf
from pytest_mtp.checkpoint.source import LocalSource
from pytest_mtp.checkpoint.tensor import GGML_TYPES
from pytest_mtp.checkpoint.verdict import inspect_checkpoint
from tests.checkpoint.lies import answer_or_clear_error, damage, fuzzed, one_clear_error


def text(word: bytes, order: str = "<") -> bytes:
    return struct.pack(order + "Q", len(word)) + word


def raw_gguf(
    *,
    version: int = 3,
    order: str = "<",
    tensors: list[bytes] | None = None,
    pairs: list[bytes] | None = None,
    counts: tuple[int, int] | None = None,
    data: int = 4096,
) -> bytes:
    tensors, pairs = tensors or [], pairs or []
    how_many = counts or (len(tensors), len(pairs))
    head = b"GGUF" + struct.pack(order + "IQQ", version, *how_many) + b"".join(pairs) + b"".join(tensors)
    return head + b"\0" * (-len(head) % 32) + b"\1" * data


def described(name: bytes, shape: tuple[int, ...] = (4,), kind: int = 0, offset: int = 0, order: str = "<") -> bytes:
    return text(name, order) + struct.pack(f"{order}I{len(shape)}QIQ", len(shape), *shape, kind, offset)


def pair(key: bytes, kind: int, value: bytes, order: str = "<") -> bytes:
    return text(key, order) + struct.pack(order + "I", kind) + value


def array(item: int, count: int, body: bytes = b"") -> bytes:
    return struct.pack("<IQ", item, count) + body


@pytest.mark.parametrize("nextn", [1, 2])
def test_a_head_in_a_gguf_file_is_found_by_its_blocks(make, nextn: int) -> None:
    names = [*make.gguf_trunk(3), *(name for n in range(nextn) for name in make.gguf_block(3 + n, nextn=True))]
    inspection = inspect_checkpoint(str(make.gguf(names, nextn=nextn)))
    head = inspection.heads[0]
    assert (inspection.verdict, head.layers, head.where, head.join, inspection.model.layers) == ("present", nextn, "blk.3", "nextn", 3)
    assert head.parameters == nextn * (7 * 16 * 16 + 2 * 16 + 16 * 32 + 2 * 16)


@pytest.mark.parametrize("arch", ["llama", "qwen2"])
def test_a_plain_gguf_model_has_no_head(make, arch: str) -> None:
    inspection = inspect_checkpoint(str(make.gguf(make.gguf_trunk(3), arch=arch, nextn=None)))
    assert (inspection.verdict, inspection.heads) == ("absent", ())


def test_a_key_without_blocks_is_a_contradiction(make) -> None:
    inspection = inspect_checkpoint(str(make.gguf(make.gguf_trunk(3), nextn=1)))
    assert inspection.verdict == "contradiction"
    assert "glm4moe.nextn_predict_layers" in inspection.reason


@pytest.mark.parametrize("nextn", [None, 0], ids=["no key", "zero"])
def test_blocks_without_a_key_are_a_contradiction(make, nextn: int | None) -> None:
    names = [*make.gguf_trunk(3), *make.gguf_block(3, nextn=True)]
    inspection = inspect_checkpoint(str(make.gguf(names, nextn=nextn, blocks=4)))
    assert (inspection.verdict, inspection.heads[0].layers) == ("contradiction", 1)


def test_a_gguf_block_without_its_feed_forward_part_is_torn(make) -> None:
    names = [name for name in (*make.gguf_trunk(3), *make.gguf_block(3, nextn=True)) if not name.startswith("blk.3.ffn_down")]
    assert inspect_checkpoint(str(make.gguf(names))).heads[0].missing == ("blk.3.ffn_down",)


def test_an_architecture_without_an_mtp_graph_is_said(make) -> None:
    names = [*make.gguf_trunk(3), *make.gguf_block(3, nextn=True)]
    inspection = inspect_checkpoint(str(make.gguf(names, arch="glm-dsa")))
    advice = next(advice for advice in inspection.advice if advice.engine == "llama.cpp")
    assert (advice.support, "no MTP graph" in advice.note) == ("no", True)


def split(make) -> list[Path]:
    gguf = pytest.importorskip("gguf")
    np = pytest.importorskip("numpy")
    names = [*make.gguf_trunk(3), *make.gguf_block(3, nextn=True)]
    writer = gguf.GGUFWriter(make.base / "big.gguf", "glm4moe", split_max_tensors=15)
    writer.add_block_count(4)
    writer.add_embedding_length(16)
    writer.add_uint32("glm4moe.nextn_predict_layers", 1)
    for name in names:
        writer.add_tensor(name, np.ones(make.gguf_shape(name), dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return sorted(make.base.glob("big-*.gguf"))


@pytest.mark.parametrize("named", [0, 1, -1], ids=["first piece", "second piece", "folder"])
def test_a_split_file_is_read_whole(make, named: int) -> None:
    pieces = split(make)
    inspection = inspect_checkpoint(str(pieces[named] if named >= 0 else make.base))
    assert (inspection.verdict, inspection.files, len(pieces)) == ("present", 3, 3)


def test_a_missing_piece_is_a_contradiction(make) -> None:
    pieces = split(make)
    pieces[1].unlink()
    inspection = inspect_checkpoint(str(pieces[0]))
    assert inspection.verdict == "contradiction"
    assert pieces[1].name in inspection.reason


@pytest.mark.parametrize(("version", "order"), [(2, "<"), (3, "<"), (3, ">")], ids=["v2", "v3", "v3 big-endian"])
def test_both_versions_and_both_byte_orders_are_read(tmp_path: Path, version: int, order: str) -> None:
    pairs = [
        pair(b"general.architecture", 8, text(b"llama", order), order),
        pair(b"llama.block_count", 4, struct.pack(order + "I", 7), order),
    ]
    path = tmp_path / "m.gguf"
    path.write_bytes(raw_gguf(version=version, order=order, tensors=[described(b"a", (4, 2), 0, 0, order)], pairs=pairs))
    header = read_gguf(LocalSource(tmp_path), path.name)
    assert (header.version, header.values["llama.block_count"], header.tensors[0].shape) == (version, 7, (2, 4))


def test_the_table_of_types_is_that_of_the_gguf_package() -> None:
    constants = pytest.importorskip("gguf.constants")
    real = {int(kind): (kind.name, *constants.GGML_QUANT_SIZES[kind]) for kind in constants.GGML_QUANT_SIZES}
    assert {kind: GGML_TYPES.get(kind) for kind in real} == real


LIES = {
    "empty": (b"", "is empty"),
    "three bytes": (b"GGU", "does not begin with GGUF"),
    "other magic": (b"GGML" + b"\0" * 60, "does not begin with GGUF"),
    "git lfs pointer": (b"version https://git-lfs.github.com/spec/v1", "git lfs pull"),
    "version 1": (raw_gguf(version=1), "version 1; versions 2 and 3"),
    "version 99": (raw_gguf(version=99), "version 99"),
    "cut after the counts": (raw_gguf()[:20], "cut short"),
    "a billion tensors": (raw_gguf(counts=(1 << 60, 0)), "claims 1152921504606846976 tensors"),
    "a billion keys": (raw_gguf(counts=(0, 1 << 40)), "1099511627776 keys"),
    "more keys than bytes": (raw_gguf(counts=(0, 90_000), data=0), "cut short"),
    "key of 2^60 bytes": (raw_gguf(pairs=[struct.pack("<Q", 1 << 60)]), "a key claims"),
    "key not UTF-8": (raw_gguf(pairs=[pair(b"\xff\xfe", 4, b"\0" * 4)]), "not UTF-8"),
    "key twice": (raw_gguf(pairs=[pair(b"a", 4, b"\0" * 4)] * 2), "stands there twice"),
    "unknown value type": (raw_gguf(pairs=[pair(b"a", 77, b"")]), "unknown type 77"),
    "string beyond the file": (raw_gguf(pairs=[pair(b"a", 8, struct.pack("<Q", 1 << 50))]), "cut short"),
    "array of 2^60 strings": (raw_gguf(pairs=[pair(b"a", 9, array(8, 1 << 60))]), "claims 1152921504606846976 strings"),
    "array of 2^61 numbers": (raw_gguf(pairs=[pair(b"a", 9, array(10, 1 << 61))]), "cut short"),
    "array of arrays": (raw_gguf(pairs=[pair(b"a", 9, array(9, 4))]), "items of type 9"),
    "array of an unknown type": (raw_gguf(pairs=[pair(b"a", 9, array(50, 4))]), "items of type 50"),
    "tensor name of 2^40 bytes": (raw_gguf(tensors=[struct.pack("<Q", 1 << 40)]), "a tensor name claims"),
    "ninety dimensions": (raw_gguf(tensors=[text(b"a") + struct.pack("<I", 90)]), "90 dimensions"),
    "impossible shape": (raw_gguf(tensors=[described(b"a", (1 << 40, 1 << 40))]), "impossible shape"),
    "tensor twice": (raw_gguf(tensors=[described(b"a"), described(b"a", offset=32)]), "twice"),
    "offset not aligned": (raw_gguf(tensors=[described(b"a", offset=5)]), "not at a multiple of 32"),
    "overlap": (raw_gguf(tensors=[described(b"a", (64,)), described(b"b", offset=32)]), "overlap"),
    "data beyond the file": (raw_gguf(tensors=[described(b"a", (1 << 20,))]), "cut short"),
    "rows that no block fits": (raw_gguf(tensors=[described(b"a", (33,), 8)]), "cannot hold in blocks of 32"),
    "alignment of 7": (raw_gguf(pairs=[pair(b"general.alignment", 4, struct.pack("<I", 7))]), "not a power of two"),
}


@pytest.mark.parametrize(("raw", "words"), LIES.values(), ids=LIES)
def test_a_lying_file_is_one_clear_error(tmp_path: Path, raw: bytes, words: str) -> None:
    one_clear_error(tmp_path / "model.gguf", raw, words)


def test_an_unknown_tensor_type_is_measured_by_the_next_offset(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(raw_gguf(tensors=[described(b"a", (64,), 99), described(b"b", offset=64)]))
    first = read_gguf(LocalSource(tmp_path), path.name).tensors[0]
    assert (first.dtype, first.nbytes) == ("TYPE_99", 64)


GOOD = raw_gguf(
    tensors=[described(b"token_embd.weight", (16, 8)), described(b"blk.0.attn_q.weight", (16, 16), offset=512)],
    pairs=[
        pair(b"general.architecture", 8, text(b"llama")),
        pair(b"llama.block_count", 4, struct.pack("<I", 1)),
        pair(b"tokenizer.ggml.tokens", 9, array(8, 2, text(b"a") + text(b"b"))),
        pair(b"x", 9, array(6, 2, b"\0" * 8)),
    ],
)


def test_a_file_without_tensors_holds_no_head(tmp_path: Path) -> None:
    """Files that hold a vocabulary alone exist."""
    (tmp_path / "vocabulary.gguf").write_bytes(raw_gguf(pairs=[pair(b"general.architecture", 8, text(b"llama"))]))
    assert inspect_checkpoint(str(tmp_path)).verdict == "absent"


@fuzzed
@given(raw=damage(GOOD))
def test_any_byte_changed_and_any_cut_gives_an_answer_or_a_clear_error(tmp_path: Path, raw: bytes) -> None:
    answer_or_clear_error(tmp_path / "model.gguf", raw)
