"""Safetensors files and indices that lie: one clear error, never a crash, never a hang, never much memory."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given

from pytest_mtp.checkpoint import shards
from pytest_mtp.checkpoint.errors import CheckpointError
from pytest_mtp.checkpoint.safetensors_header import read_header
from pytest_mtp.checkpoint.source import LocalSource
from pytest_mtp.checkpoint.verdict import inspect_checkpoint
from tests.checkpoint.lies import answer_or_clear_error, damage, fuzzed, one_clear_error


def header(entries: object, data: int = 0, *, length: int | None = None) -> bytes:
    raw = entries if isinstance(entries, bytes) else json.dumps(entries).encode()
    return struct.pack("<Q", len(raw) if length is None else length) + raw + b"\1" * data


def entry(begin: int = 0, end: int = 4, *, dtype: str = "F32", shape: object = (1,)) -> dict[str, object]:
    return {"dtype": dtype, "shape": shape if isinstance(shape, str) else list(shape), "data_offsets": [begin, end]}  # type: ignore[call-overload]


LIES = {
    "empty": (b"", "is empty"),
    "seven bytes": (b"\0" * 7, "has 7 bytes"),
    "length of 2^63": (struct.pack("<Q", 1 << 63) + b"{}", "claims 9223372036854775808 bytes"),
    "length beyond the file": (header({}, length=500), "claims 500 bytes"),
    "git lfs pointer": (b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
    "not JSON": (header(b"hello, world"), "expected '{'"),
    "a list": (header([]), "expected '{'"),
    "cut JSON": (header(b'{"a":{"dtype":"F32","sh'), "broken JSON"),
    "text after it": (header(b"{} x"), "unexpected text"),
    "invalid UTF-8": (header(b'{"\xff\xfe":1}'), "UTF-8"),
    "duplicate tensor": (header(b'{"a":' + json.dumps(entry()).encode() + b',"a":' + json.dumps(entry(4, 8)).encode() + b"}", 8), "twice"),
    "duplicate key in an entry": (header(b'{"a":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}}', 4), "twice"),
    "entry is a number": (header({"a": 3}), "is not {dtype, shape, data_offsets}"),
    "entry without shape": (header({"a": {"dtype": "F32", "data_offsets": [0, 4]}}, 4), "is not {dtype, shape, data_offsets}"),
    "negative shape": (header({"a": entry(shape=(-1,))}, 4), "impossible shape"),
    "shape as a string": (header({"a": entry(shape="4")}, 4), "impossible shape"),
    "shape of booleans": (header({"a": {**entry(), "shape": [True]}}, 4), "impossible shape"),
    "NaN in a shape": (header(b'{"a":{"dtype":"F32","shape":[NaN],"data_offsets":[0,4]}}', 4), "NaN is not a JSON number"),
    "a number of 5000 digits": (
        header(b'{"a":{"dtype":"F32","shape":[' + b"9" * 3000 + b'],"data_offsets":[0,4]}}', 4),
        "impossible shape",
    ),
    "shape larger than its bytes": (header({"a": entry(shape=(1 << 40, 1 << 40))}, 4), "contradict each other"),
    "offsets turned round": (header({"a": entry(4, 0)}, 4), "contradict each other"),
    "three offsets": (header({"a": {**entry(), "data_offsets": [0, 4, 8]}}, 4), "impossible offsets"),
    "overlapping offsets": (header({"a": entry(0, 8, shape=(2,)), "b": entry(4, 12, shape=(2,))}, 12), "overlap"),
    "a hole": (header({"a": entry(), "b": entry(8, 12)}, 12), "unclaimed bytes"),
    "data beyond the file": (header({"a": entry(0, 400, shape=(100,))}, 10), "is cut short"),
    "data left over": (header({"a": entry()}, 10), "after its last tensor"),
    "metadata of numbers": (header({"__metadata__": {"a": 1}, "a": entry()}, 4), "not a mapping of strings"),
    "nested for ever": (header(b'{"a":' + b"[" * 200_000), "nested deeper than 64"),
    "a value of a million parts": (header(b'{"__metadata__":[' + b"0," * 600_000 + b"0]}"), "more than 500000 tokens"),
}


@pytest.mark.parametrize(("raw", "words"), LIES.values(), ids=LIES)
def test_a_lying_file_is_one_clear_error(tmp_path: Path, raw: bytes, words: str) -> None:
    one_clear_error(tmp_path / "model.safetensors", raw, words)


def test_strange_but_lawful_spellings_are_read(tmp_path: Path) -> None:
    """Other writers order keys otherwise, add blanks, escape names, and know element types that we do not."""
    path = tmp_path / "model.safetensors"
    text = (
        '{ "a\\u0062" : {"shape": [1], "dtype":"F32","data_offsets":[0, 4]},\n"c":{"dtype":"F1_NEW","shape":[64],"data_offsets":[4,12]}}  '
    )
    path.write_bytes(header(text.encode(), 12))
    assert [(tensor.name, tensor.dtype, tensor.nbytes) for tensor in read_header(LocalSource(tmp_path), path.name).tensors] == [
        ("ab", "F32", 4),
        ("c", "F1_NEW", 8),
    ]


def test_the_fast_and_the_careful_way_read_the_same(make, tmp_path: Path) -> None:
    tensors = make.trunk(3) | {"empty": ("F32", (0, 4)), "scalar": ("F32", ())}
    raw = make.safetensors_bytes(tensors, {"format": "pt"})
    (tmp_path / "fast.safetensors").write_bytes(raw)
    length = int.from_bytes(raw[:8], "little")
    spaced = json.dumps(json.loads(raw[8 : 8 + length]), indent=1).encode()
    (tmp_path / "careful.safetensors").write_bytes(struct.pack("<Q", len(spaced)) + spaced + raw[8 + length :])
    fast, careful = (read_header(LocalSource(tmp_path), f"{name}.safetensors") for name in ("fast", "careful"))
    assert [tensor[:4] for tensor in fast.tensors] == [tensor[:4] for tensor in careful.tensors]
    assert fast.metadata == careful.metadata == {"format": "pt"}


GOOD = header(
    {"__metadata__": {"format": "pt"}, **{f"model.layers.{n}.mlp.up_proj.weight": entry(n * 4, n * 4 + 4) for n in range(12)}}, 48
)


@fuzzed
@given(raw=damage(GOOD))
def test_any_byte_changed_and_any_cut_gives_an_answer_or_a_clear_error(tmp_path: Path, raw: bytes) -> None:
    answer_or_clear_error(tmp_path / "model.safetensors", raw)


BOMBS = """
import struct, sys
from pathlib import Path
from pytest_mtp.checkpoint import shards
from pytest_mtp.checkpoint.errors import CheckpointError
from pytest_mtp.checkpoint.verdict import inspect_checkpoint
path = Path(sys.argv[1])
for unit, begin, end in ((b"[", b"", b""), (b"[],", b'{"a":[', b"[]]}"), (b"a", b'{"', b""), (b'"a":{},', b"{", b'"b":{}}')):
    with path.open("wb") as file:
        count = 30_000_000 // len(unit)
        file.write(struct.pack("<Q", len(begin) + count * len(unit) + len(end)) + begin)
        for _ in range(100):
            file.write(unit * (count // 100))
        file.write(unit * (count % 100) + end)
    try:
        inspect_checkpoint(str(path))
    except CheckpointError:
        continue
    sys.exit("a bomb was read")
status = Path("/proc/self/status")  # the peak by getrusage is that of the parent, if that is larger
print(status.read_text().split("VmHWM:")[1].split()[0] if status.exists() else 0)
"""


def test_bombs_of_thirty_megabytes_stay_below_three_hundred(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", BOMBS, str(tmp_path / "model.safetensors")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 300_000


TRAVERSAL = [
    "../x.safetensors",
    "/etc/x.safetensors",
    "a/../../x.safetensors",
    "..",
    "",
    "a\\..\\x.safetensors",
    "C:x.safetensors",
    "x\0.safetensors",
    "./x.safetensors",
]


@pytest.mark.parametrize("file", TRAVERSAL, ids=repr)
def test_an_index_that_leads_out_of_the_folder_is_refused(make, file: str) -> None:
    make.save(make.base / "x.safetensors", make.nextn())
    folder = make.folder(make.trunk(), make.config())
    make.write_index(folder, {"model.layers.3.enorm.weight": file})
    with pytest.raises(CheckpointError, match="leads out of the folder"):
        inspect_checkpoint(str(folder))


INDICES = {
    "not JSON": (b"{", "not valid JSON"),
    "no weight_map": (b'{"metadata":{}}', "has no weight_map"),
    "weight_map a list": (b'{"weight_map":[]}', "expected '{'"),
    "a file that is a number": (b'{"weight_map":{"a":1}}', "expected a string"),
    "a tensor twice": (b'{"weight_map":{"a":"m.safetensors","a":"n.safetensors"}}', "twice"),
    "weight_map twice": (b'{"weight_map":{},"weight_map":{}}', "twice"),
    "wrong suffix": (b'{"weight_map":{"a":"model.bin"}}', "no .safetensors file"),
    "empty": (b'{"weight_map":{}}', "the index lists no file"),
    "a list": (b"[" * 100_000, "expected '{'"),
    "deep": (b'{"metadata":' + b"[" * 100_000, "nested deeper than 64"),
    "wide": (b'{"metadata":[' + b"[]," * 2000 + b'[]],"weight_map":{"a":"../b.safetensors"}}', "leads out of the folder"),
}


@pytest.mark.parametrize(("raw", "words"), INDICES.values(), ids=INDICES)
def test_a_lying_index_is_one_clear_error(tmp_path: Path, raw: bytes, words: str) -> None:
    one_clear_error(tmp_path / "model.safetensors.index.json", raw, words, inspected=tmp_path)


CONFIGS = {
    "not JSON": (b"{", "not valid JSON"),
    "a list": (b"[]", "not an object"),
    "a key twice": (b'{"a":1,"a":2}', "twice"),
    "not UTF-8": (b'{"a":"\xff"}', "not UTF-8"),
    "deep": (b'{"a":' * 100_000, "nested too deeply"),
    "too large": (b" " * (5 << 20), "no model's config has more"),
}


@pytest.mark.parametrize(("raw", "words"), CONFIGS.values(), ids=CONFIGS)
def test_a_broken_config_is_one_clear_error(make, raw: bytes, words: str) -> None:
    folder = make.folder(make.trunk())
    one_clear_error(folder / "config.json", raw, words, inspected=folder)


def test_a_pipe_under_a_models_name_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "model.safetensors")
    with pytest.raises(CheckpointError, match="not a regular file"):
        inspect_checkpoint(str(tmp_path))


@pytest.mark.parametrize(("limit", "most"), [("MAX_TENSORS", 40), ("MAX_HEADERS", 4000)])
def test_more_than_any_model_has_is_refused(make, monkeypatch: pytest.MonkeyPatch, limit: str, most: int) -> None:
    folder = make.folder(make.trunk(8), make.config(), shards=4)
    monkeypatch.setattr(shards, limit, most)
    with pytest.raises(CheckpointError, match=r"more than \d+ tensors"):
        inspect_checkpoint(str(folder))
