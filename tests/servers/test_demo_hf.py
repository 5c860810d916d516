"""The demo as a Hugging Face folder: its writer and its keeping, without the real model."""

from __future__ import annotations

import pytest

from pytest_mtp.core.errors import InfraError, UsageError
from pytest_mtp.servers.demo import hf
from pytest_mtp.servers.demo.conversion import read_safetensors
from pytest_mtp.servers.demo.hf_tensors import write_safetensors

numpy = pytest.importorskip("numpy")


@pytest.fixture
def made(monkeypatch, tmp_path):
    """Folders of one file with the given content, instead of the model."""
    monkeypatch.setenv("PYTEST_MTP_CACHE", str(tmp_path))
    monkeypatch.setattr(hf, "require_extras", lambda _: None)
    monkeypatch.setattr(hf, "base_model", lambda cache: cache / "base")
    contents = []
    monkeypatch.setattr(hf, "write_folder", lambda folder, *_, **__: (folder / "model").write_text(contents.pop(0)))
    return contents


def digest_of(tmp_path, content):
    folder = tmp_path / "expected"
    folder.mkdir()
    (folder / "model").write_text(content)
    return hf.folder_sha256(folder)


def test_tensors_are_read_back_as_they_were_written(tmp_path):
    tensors = {
        "a.weight": numpy.arange(6, dtype=numpy.float32).reshape(2, 3) / 7,
        "turned": numpy.arange(6, dtype=numpy.float32).reshape(2, 3).T,
        "b": numpy.zeros(3, numpy.float32),
    }
    write_safetensors(tmp_path / "x.safetensors", tensors)
    back = read_safetensors(tmp_path / "x.safetensors")
    assert list(back) == list(tensors)
    assert all(numpy.array_equal(back[name], tensors[name]) for name in tensors)


def test_others_read_it_too(tmp_path):
    others = pytest.importorskip("safetensors.numpy")
    write_safetensors(tmp_path / "x.safetensors", {"a": numpy.float32([[1.5], [2.5]])})
    assert others.load_file(tmp_path / "x.safetensors")["a"].tolist() == [[1.5], [2.5]]


def test_a_folder_that_is_right_is_not_made_again(made, tmp_path, monkeypatch):
    monkeypatch.setattr(hf, "PLAIN_SHA256", digest_of(tmp_path, "right"))
    made.append("right")
    first = hf.hf_folder(mtp=False)
    assert hf.hf_folder(mtp=False) == first
    assert (first / "model").read_text() == "right"


def test_a_file_too_many_is_no_right_folder(made, tmp_path, monkeypatch):
    monkeypatch.setattr(hf, "PLAIN_SHA256", digest_of(tmp_path, "right"))
    made += ["right", "right"]
    folder = hf.hf_folder(mtp=False)
    (folder / "adapter_config.json").write_text("{}")
    assert [path.name for path in hf.hf_folder(mtp=False).iterdir()] == ["model"]


def test_an_unknown_result_is_refused_and_not_kept(made, tmp_path, monkeypatch):
    monkeypatch.setattr(hf.importlib.metadata, "version", lambda _: "0.18.0")
    made.append("wrong")
    with pytest.raises(InfraError, match=f"expected {hf.MTP_SHA256}") as failed:
        hf.hf_folder()
    assert "pip install gguf==0.19.0" in failed.value.hint
    assert [path.name for path in (tmp_path / "demo").iterdir()] == ["lock"]


def test_it_needs_no_llama_cpp(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name in ("gguf", "xllamacpp") else object())
    with pytest.raises(UsageError, match=r"^the demo needs gguf: pip install 'pytest-mtp\[demo\]'$"):
        hf.hf_folder()
