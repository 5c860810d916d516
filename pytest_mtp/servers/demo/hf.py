"""The demo model as a Hugging Face folder, for servers that read no GGUF: made once, checked always."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from zipfile import BadZipFile

from pytest_mtp.core.errors import InfraError
from pytest_mtp.core.record import Json
from pytest_mtp.servers.demo.assemble import GGUF_VERSION, HEAD, require_extras
from pytest_mtp.servers.demo.base import base_model
from pytest_mtp.servers.demo.cache import cache_dir, locked, sha256_of, sweep

MTP_SHA256 = "19c8f7ba5da455bebd66a0dfc4f6e34592ee820d05914052538cd1662bfa745f"
PLAIN_SHA256 = "1be0046242bde62d6b68765b22f2864d5288023cb5195c2f877474c54af6c612"
"""Of `folder_sha256`, with and without the head."""

TEMPLATE = Path(__file__).with_name("tools.jinja")


def hf_folder(progress: Callable[[str], None] = lambda _: None, *, mtp: bool = True) -> Path:
    """The path of the checked folder in the user's cache, float32, 670 MB; without the head 540 MB.

    The weights are those of the GGUF demo, decoded. With `mtp` in the layout of MiMo, of which vLLM drafts, else plain Llama.
    Raise UsageError when the extras are missing, InfraError when the base model cannot be had or the result is not the
    known one.
    """
    require_extras(("gguf", "numpy"))
    try:
        return _kept_or_made(progress, mtp=mtp)
    except (OSError, BadZipFile) as error:
        place = "PYTEST_MTP_CACHE names another folder."
        raise InfraError(f"the demo model cannot be kept in the cache: {error}", code="INFRA.start", hint=place) from None


def folder_sha256(folder: Path) -> str:
    """Hexadecimal, over the names and the digests of its files; empty where there is no folder."""
    if not folder.is_dir():
        return ""
    lines = [f"{path.name} {sha256_of(path)}\n" for path in sorted(folder.iterdir()) if path.is_file()]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _kept_or_made(progress: Callable[[str], None], *, mtp: bool) -> Path:
    cache = cache_dir() / "demo"
    cache.mkdir(exist_ok=True)
    expected = MTP_SHA256 if mtp else PLAIN_SHA256
    target = cache / f"smollm2-135m-instruct{'-mtp' if mtp else ''}-{expected[:12]}"
    with locked(cache):
        if folder_sha256(target) == expected:
            return target
        sweep(cache)
        progress("finding SmolLM2-135M-Instruct (93 MB, downloaded once)")
        base = base_model(cache)
        progress("decoding it" + (" and joining it with its multi-token-prediction head" if mtp else ""))
        made = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=cache))
        try:
            write_folder(made, base, mtp=mtp)
            _check(folder_sha256(made), expected)
            shutil.rmtree(target, ignore_errors=True)
            made.replace(target)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    return target


def write_folder(folder: Path, base: Path, *, mtp: bool) -> None:
    """Fill `folder`. The bytes depend on the files and on the version of `gguf` alone."""
    import gguf  # noqa: PLC0415 (an extra)

    from pytest_mtp.servers.demo import hf_documents, hf_tensors  # noqa: PLC0415 (of the extra)
    from pytest_mtp.servers.demo.conversion import Shape  # noqa: PLC0415 (of the extra)

    reader = gguf.GGUFReader(base)
    shape = Shape(reader)
    tensors = hf_tensors.trunk(reader, shape)
    if mtp:
        hf_tensors.add_head(tensors, HEAD, shape)
    hf_tensors.write_safetensors(folder / "model.safetensors", tensors)
    documents: Mapping[str, Mapping[str, Json]] = {
        "config.json": hf_documents.config(shape, mtp=mtp),
        "generation_config.json": hf_documents.generation_config(),
        "tokenizer.json": hf_documents.tokenizer(reader.fields),
        "tokenizer_config.json": hf_documents.tokenizer_config(shape),
    }
    for name, document in documents.items():
        indent = None if name == "tokenizer.json" else 2
        (folder / name).write_text(json.dumps(document, ensure_ascii=False, indent=indent) + "\n", encoding="utf-8")
    (folder / "chat_template.jinja").write_bytes(TEMPLATE.read_bytes())


def _check(found: str, expected: str) -> None:
    if found == expected:
        return
    version = importlib.metadata.version("gguf")
    hint = "Please report it." if version == GGUF_VERSION else f"It was made with gguf {version}: pip install gguf=={GGUF_VERSION}"
    raise InfraError(f"the assembled demo model has sha256 {found}, expected {expected}", code="INFRA.start", hint=hint)
