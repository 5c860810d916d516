"""What must not change a verdict, and what must never be read."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_mtp.checkpoint.inspection import Inspection
from pytest_mtp.checkpoint.model import DEPTH_KEYS, HINT_KEYS, from_config
from pytest_mtp.checkpoint.source import LocalSource
from pytest_mtp.checkpoint.verdict import inspect_checkpoint

ONE = {"num_nextn_predict_layers": 1}
LEAF = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
JSON = st.recursive(LEAF, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3), max_leaves=6)
KEYS = (
    *("num_hidden_layers", "hidden_size", "vocab_size", "num_key_value_heads", "head_dim", "layer_types", "rope_parameters"),
    *("rope_theta", "n_routed_experts", "num_experts_per_tok", "kv_lora_rank", "text_config", "mtp_config", "sliding_window"),
    *("quantization_config", "architectures", "model_type", "full_attention_interval", "tie_word_embeddings"),
)


def essence(inspection: Inspection) -> tuple[object, ...]:
    heads = tuple((head.where, head.layers, head.parameters, head.nbytes, head.missing) for head in inspection.heads)
    return inspection.verdict, inspection.digest, heads, inspection.weights


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**6), shards=st.integers(1, 6))
def test_shards_and_the_order_of_keys_change_nothing(make, seed: int, shards: int) -> None:
    tensors, config = make.trunk() | make.nextn(), make.config(**ONE)
    expected = essence(inspect_checkpoint(str(make.folder(tensors, config, name="plain"))))
    chance = random.Random(seed)
    shuffled = dict(chance.sample(list(tensors.items()), len(tensors)))
    config = dict(chance.sample(list(config.items()), len(config)))
    folder = make.folder(shuffled, config, shards=shards, name=f"s{seed}-{shards}", sorted_by_package=False)
    assert essence(inspect_checkpoint(str(folder))) == expected


def test_renamed_shards_change_nothing(make) -> None:
    tensors, config = make.trunk() | make.nextn(), make.config(**ONE)
    folder = make.folder(tensors, config, shards=3)
    expected = essence(inspect_checkpoint(str(folder)))
    renamed = {file: f"model-part-{number}.safetensors" for number, file in enumerate(sorted(set(make.read_index(folder).values())))}
    make.write_index(folder, {name: renamed[file] for name, file in make.read_index(folder).items()})
    for old, new in renamed.items():
        (folder / old).rename(folder / new)
    assert essence(inspect_checkpoint(str(folder))) == expected


def test_the_digest_sees_every_shape_and_every_name(make) -> None:
    tensors, config = make.trunk() | make.nextn(), make.config(**ONE)
    changed = (
        tensors | {"lm_head.weight": ("F16", (40, 16))},
        tensors | {"lm_head.weight": ("BF16", (41, 16))},
        tensors | {"extra": ("BF16", (1,))},
        {name: spec for name, spec in tensors.items() if name != "model.norm.weight"},
    )
    folders = [make.folder(case, config, name=f"m{number}") for number, case in enumerate((tensors, *changed))]
    digests = {inspect_checkpoint(str(folder)).digest for folder in folders}
    assert len(digests) == 5


@settings(max_examples=200, deadline=None)
@given(config=st.dictionaries(st.sampled_from((*KEYS, *HINT_KEYS, *(key.partition(".")[0] for key in DEPTH_KEYS))), JSON, max_size=8))
def test_no_config_breaks_the_reading_of_it(config: dict[str, object]) -> None:
    facts = from_config(config)
    assert facts.to_dict() == type(facts).from_dict(facts.to_dict()).to_dict()


@pytest.mark.parametrize("layers", [1 << 31, 1 << 39, 10**15])
def test_a_claim_of_billions_of_layers_costs_nothing(make, layers: int) -> None:
    inspection = inspect_checkpoint(str(make.folder(make.trunk(), make.config(num_hidden_layers=layers))))
    assert (inspection.verdict, inspection.model.layers) == ("absent", None)


def test_an_inspection_survives_its_own_json(make) -> None:
    inspection = inspect_checkpoint(str(make.folder(make.trunk() | make.nextn(), make.config(**ONE))), deep=True)
    assert Inspection.from_dict(json.loads(json.dumps(inspection.to_dict()))) == inspection


def test_reading_headers_reads_no_byte_of_any_tensor(make, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make.folder(make.trunk() | make.nextn(), make.config(**ONE), shards=4)
    reads: list[tuple[str, int, int]] = []
    plain = LocalSource.read

    def noting(self: LocalSource, name: str, offset: int, length: int) -> bytes:
        reads.append((name, offset, offset + length))
        return plain(self, name, offset, length)

    monkeypatch.setattr(LocalSource, "read", noting)
    inspection = inspect_checkpoint(str(folder))
    ends = {path.name: 8 + int.from_bytes(path.read_bytes()[:8], "little") for path in folder.glob("*.safetensors")}
    assert {name for name, _, _ in reads} == {*ends, "config.json", "model.safetensors.index.json"}
    assert all(end <= ends[name] for name, _, end in reads if name in ends)
    assert inspection.header_bytes == sum(ends.values())


COUNTED = """
import sys
from pathlib import Path
def rchar():
    return int(Path("/proc/self/io").read_text().split()[1])
from pytest_mtp.checkpoint import verdict, inspection
verdict.inspect_checkpoint(sys.argv[1])
before = rchar()
found = verdict.inspect_checkpoint(sys.argv[1])
print(rchar() - before, found.bytes_read, found.verdict)
"""


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="the kernel does not count a process's reads here")
def test_the_kernel_counts_no_more_bytes_than_we_do(make) -> None:
    """With tensors of 64 MB in a sparse file, of which the kernel would see any read."""
    folder = make.folder(make.trunk() | make.nextn(), make.config(**ONE))
    big = {"model.layers.3.huge.weight": {"dtype": "U8", "shape": [64 << 20], "data_offsets": [0, 64 << 20]}}
    raw = json.dumps(big).encode()
    with (folder / "model-extra.safetensors").open("wb") as file:
        file.write(len(raw).to_bytes(8, "little") + raw)
        file.truncate(8 + len(raw) + (64 << 20))
    done = subprocess.run([sys.executable, "-c", COUNTED, str(folder)], capture_output=True, text=True, check=True)
    counted, said, verdict = done.stdout.split()
    assert verdict == "present"
    assert int(counted) <= int(said) + 4096  # /proc/self/io itself


def test_numpy_is_only_imported_to_read_values() -> None:
    modules = "pytest_mtp.checkpoint.verdict, pytest_mtp.checkpoint.words"
    code = f"import sys, {modules}; print('numpy' in sys.modules, 'urllib.request' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
