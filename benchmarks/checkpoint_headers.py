"""How fast and how small the reading of headers is, on a synthetic 671B-class checkpoint and on a hostile header.

    python benchmarks/checkpoint_headers.py [--runs 5] [--model FILE ...]

The checkpoint is made of sparse files: 100,000 tensors in 163 shards, about 0.7 TB by their headers and some 25 MB on the disk. Each
measurement is a process of its own; bytes are counted by the kernel (Linux) beside our own count. `--model` adds real files.
Goals, printed and not asserted: below 1 s and 200 MB for the checkpoint, below 300 MB for the hostile header.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HIDDEN, EXPERTS, LAYERS, SHARDS, TENSORS = 7168, 256, 61, 163, 100_000
WIDTH = {"BF16": 2, "F8_E4M3": 1, "F32": 4}
CONFIG = {
    "architectures": ["DeepseekV3ForCausalLM"],
    "model_type": "deepseek_v3",
    "hidden_size": HIDDEN,
    "num_hidden_layers": LAYERS,
    "num_nextn_predict_layers": 1,
    "vocab_size": 129_280,
    "n_routed_experts": EXPERTS,
    "num_experts_per_tok": 8,
    "kv_lora_rank": 512,
    "qk_rope_head_dim": 64,
    "num_attention_heads": 128,
    "tie_word_embeddings": False,
    "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]},
}
CHILD = """
import json, resource, sys, time
from pathlib import Path
def read():
    io = Path("/proc/self/io")
    return int(io.read_text().split()[1]) if io.exists() else None
begin = time.perf_counter()
from pytest_mtp.checkpoint.verdict import inspect_checkpoint
imported, cpu, before = time.perf_counter(), time.process_time(), read()
try:
    found = inspect_checkpoint(sys.argv[1])
    said = {"verdict": found.verdict, "tensors": found.tensors, "files": found.files}
    said |= {"header": found.header_bytes, "read": found.bytes_read}
except Exception as error:
    said = {"verdict": type(error).__name__, "message": str(error)[-120:]}
wall, cpu, after = time.perf_counter() - imported, time.process_time() - cpu, read()
status = Path("/proc/self/status")  # the peak by getrusage is that of the parent, if that is larger
peak = int(status.read_text().split("VmHWM:")[1].split()[0]) / 1e3 if status.exists() else None
if peak is None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
kernel = None if after is None else after - before
print(json.dumps({**said, "import": imported - begin, "wall": wall, "cpu": cpu, "peak": peak, "kernel": kernel}))
"""

Entry = tuple[str, str, list[int]]


def block(layer: int) -> Iterator[Entry]:
    prefix = f"model.layers.{layer}."
    attention = {"q_a_proj": (1536, HIDDEN), "q_b_proj": (24_576, 1536), "kv_a_proj_with_mqa": (576, HIDDEN), "kv_b_proj": (32_768, 512)}
    yield f"{prefix}input_layernorm.weight", "BF16", [HIDDEN]
    yield f"{prefix}post_attention_layernorm.weight", "BF16", [HIDDEN]
    for name, (rows, columns) in {**attention, "o_proj": (HIDDEN, 16_384)}.items():
        yield from scaled(f"{prefix}self_attn.{name}", rows, columns)
    if layer < 3:
        yield from feed_forward(f"{prefix}mlp", 18_432)
        return
    yield f"{prefix}mlp.gate.weight", "BF16", [EXPERTS, HIDDEN]
    for expert in range(EXPERTS):
        yield from feed_forward(f"{prefix}mlp.experts.{expert}", 2048)
    yield from feed_forward(f"{prefix}mlp.shared_experts", 2048)


def feed_forward(prefix: str, wide: int) -> Iterator[Entry]:
    yield from scaled(f"{prefix}.gate_proj", wide, HIDDEN)
    yield from scaled(f"{prefix}.up_proj", wide, HIDDEN)
    yield from scaled(f"{prefix}.down_proj", HIDDEN, wide)


def scaled(module: str, rows: int, columns: int) -> Iterator[Entry]:
    yield f"{module}.weight", "F8_E4M3", [rows, columns]
    yield f"{module}.weight_scale_inv", "F32", [-(-rows // 128), -(-columns // 128)]


def entries() -> list[Entry]:
    found: list[Entry] = [("model.embed_tokens.weight", "BF16", [129_280, HIDDEN]), ("lm_head.weight", "BF16", [129_280, HIDDEN])]
    for layer in range(LAYERS + 1):
        found += block(layer)
    join = {"enorm": [HIDDEN], "hnorm": [HIDDEN], "eh_proj": [HIDDEN, 2 * HIDDEN], "shared_head.norm": [HIDDEN]}
    found += [(f"model.layers.{LAYERS}.{word}.weight", "BF16", shape) for word, shape in join.items()]
    fill = range(TENSORS - len(found))
    return found + [(f"model.layers.{number % LAYERS}.self_attn.indexer.{number}.weight", "BF16", [128, 64]) for number in fill]


def write(path: Path, chosen: list[Entry]) -> None:
    header, at = {}, 0
    for name, dtype, shape in chosen:
        end = at + math.prod(shape) * WIDTH[dtype]
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, end]}
        at = end
    raw = json.dumps(header, separators=(",", ":")).encode()
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(raw)) + raw)
        file.truncate(8 + len(raw) + at)


def large(folder: Path) -> Path:
    folder.mkdir()
    found = entries()
    size = math.ceil(len(found) / SHARDS)
    weight_map = {}
    for number in range(SHARDS):
        file = f"model-{number + 1:05d}-of-{SHARDS:05d}.safetensors"
        held = found[number * size : (number + 1) * size]
        write(folder / file, held)
        weight_map |= dict.fromkeys((name for name, _, _ in held), file)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {"total_size": 0}, "weight_map": weight_map}, indent=2))
    (folder / "config.json").write_text(json.dumps(CONFIG))
    return folder


def hostile(folder: Path, *, files: int = 2, each: int = 150_000) -> Path:
    """As many tensors, with as long names, as are read at all."""
    folder.mkdir()
    pad = "x" * 100
    for file in range(files):
        names = (f"model.layers.{number % 60}.mlp.experts.{number}.{file}{pad}.weight" for number in range(each))
        write(folder / f"model-{file}.safetensors", [(name, "BF16", [1]) for name in names])
    return folder


def measure(path: Path, runs: int) -> list[dict[str, Any]]:
    root = str(Path(__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH", ""))))}
    command = [sys.executable, "-c", CHILD, str(path)]
    done = [subprocess.run(command, capture_output=True, text=True, check=True, env=environment) for _ in range(runs)]
    return [json.loads(one.stdout) for one in done]


def report(title: str, path: Path, runs: int) -> None:
    measured = measure(path, runs)
    first = measured[0]
    print(f"\n{title}: {first['verdict']}{' (' + first['message'] + ')' if 'message' in first else ''}")
    if "tensors" in first:
        kernel = f", by the kernel {first['kernel']:,}" if first["kernel"] is not None else ""
        print(f"  {first['tensors']:,} tensors in {first['files']} files; headers {first['header']:,} bytes")
        print(f"  read {first['read']:,} bytes{kernel}")
    for what, unit in (("wall", "s"), ("cpu", "s"), ("import", "s"), ("peak", "MB")):
        values = sorted(one[what] for one in measured)
        print(f"  {what:<7}{values[0]:9.3f} .. {values[-1]:.3f} {unit}, median {statistics.median(values):.3f}, {runs} runs")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--model", type=Path, action="append", default=[], help="a real checkpoint to measure too")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report("671B-class checkpoint (goal: < 1 s, < 200 MB)", large(Path(folder) / "large"), args.runs)
        report("the largest headers that are read (goal: < 300 MB)", hostile(Path(folder) / "hostile"), 1)
    for path in args.model:
        report(str(path), path, args.runs)
    load = " ".join(f"{value:.1f}" for value in os.getloadavg())
    print(f"\nload average {load}, {os.cpu_count()} cores: wall times of a busy machine are upper bounds")


if __name__ == "__main__":
    main()
