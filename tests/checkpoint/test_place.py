"""From what a person types to the files of one model."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_mtp.checkpoint.errors import CheckpointError
from pytest_mtp.checkpoint.place import find
from pytest_mtp.checkpoint.verdict import inspect_checkpoint

ONE = {"num_nextn_predict_layers": 1}


def told(path: Path | str) -> str:
    with pytest.raises(CheckpointError) as caught:
        inspect_checkpoint(str(path))
    return str(caught.value)


def test_a_missing_path_names_its_neighbour(make) -> None:
    folder = make.folder(make.trunk(), name="Qwen3-8B")
    assert told(folder.parent / "Qwen3-8b") == f"{folder.parent / 'Qwen3-8b'}: does not exist (did you mean 'Qwen3-8B'?)"


@pytest.mark.parametrize("path", ["a\0b", "/dev/null", "x" * 5000], ids=["NUL", "device", "too long"])
def test_an_impossible_path_is_one_clear_error(path: str) -> None:
    assert told(path).startswith(path)


def test_an_empty_folder(tmp_path: Path) -> None:
    assert told(tmp_path) == f"{tmp_path}: is an empty folder"


def test_pickles_are_never_opened(tmp_path: Path) -> None:
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x04")
    assert "pytorch_model.bin is a pickle, which is never opened" in told(tmp_path)
    assert "is a pickle, which is never opened" in told(tmp_path / "pytorch_model.bin")


def test_a_file_of_another_kind(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x" * 100)
    assert "is neither safetensors nor GGUF" in told(tmp_path / "notes.txt")
    assert "holds no .safetensors and no .gguf file" in told(tmp_path)


def test_a_wrong_suffix_does_not_hide_a_model(make) -> None:
    """Blobs of a Hub cache have no suffix at all."""
    blob = make.folder(make.trunk() | make.nextn()) / "model.safetensors"
    renamed = blob.rename(blob.parent / "3f2a")
    assert inspect_checkpoint(str(renamed)).heads[0].layers == 1
    model = make.gguf(make.gguf_trunk()).rename(make.base / "blob")
    assert inspect_checkpoint(str(model)).format == "gguf"


def test_a_safetensors_suffix_on_something_else(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"PK\x03\x04" + b"\0" * 100)
    assert "not safetensors, or cut short while copying" in told(tmp_path)


def test_a_loop_of_links(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert "symbolic link" in told(tmp_path / "a")
    (tmp_path / "model.safetensors").symlink_to(tmp_path / "model.safetensors")
    assert "symbolic link" in told(tmp_path)


def test_a_folder_that_links_to_itself(make) -> None:
    folder = make.folder(make.trunk() | make.nextn(), make.config(**ONE))
    (folder / "again").symlink_to(folder)
    assert inspect_checkpoint(str(folder / "again" / "again")).verdict == "present"


def test_no_permission_is_said(make, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make.folder(make.trunk())

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", refuse)
        assert told(folder).endswith("model.safetensors: no permission to read it")
    monkeypatch.setattr(os, "scandir", refuse)
    assert told(folder) == f"{folder}: no permission to read it"


def test_one_shard_means_its_folder(make) -> None:
    folder = make.folder(make.trunk() | make.nextn(), make.config(**ONE), shards=3)
    inspection = inspect_checkpoint(str(folder / "model-00001-of-00003.safetensors"))
    assert (inspection.verdict, inspection.files) == ("present", 3)
    assert "is one shard; its folder was inspected" in inspection.notes[0]


@pytest.mark.parametrize("name", ["model.safetensors.index.json", "config.json"])
def test_an_index_or_a_config_means_its_folder(make, name: str) -> None:
    folder = make.folder(make.trunk() | make.nextn(), make.config(**ONE), shards=2)
    assert inspect_checkpoint(str(folder / name)).verdict == "present"


def test_a_single_file_takes_the_config_beside_it(make) -> None:
    folder = make.folder(make.trunk() | make.nextn(), make.config(**ONE))
    assert inspect_checkpoint(str(folder / "model.safetensors")).model.layers == 3


def test_several_gguf_models_in_a_folder_must_be_told_apart(make) -> None:
    for name in ("a-Q4.gguf", "a-Q8.gguf", "mmproj-a.gguf"):
        make.gguf(make.gguf_trunk(), name=name)
    assert told(make.base) == f"{make.base}: holds 2 GGUF models, name one: a-Q4.gguf, a-Q8.gguf"


def test_a_projector_beside_one_gguf_model_is_left_out(make) -> None:
    make.gguf(make.gguf_trunk(), name="a.gguf")
    make.gguf(["token_embd.weight"], name="mmproj-a.gguf")
    assert inspect_checkpoint(str(make.base)).tensors == len(make.gguf_trunk())


def test_another_layout_of_the_same_model_is_left_out(make) -> None:
    folder = make.folder(make.trunk() | make.nextn(), make.config(**ONE))
    make.save(folder / "consolidated.safetensors", make.trunk())
    inspection = inspect_checkpoint(str(folder))
    assert (inspection.files, "another layout" in inspection.notes[0]) == (1, True)


def test_a_folder_of_models_says_which_are_inside(make) -> None:
    make.folder(make.trunk(), name="one")
    make.folder(make.trunk(), name="two")
    assert told(make.base) == f"{make.base}: holds no weights itself; its folders one, two do: name one"


COMMIT, OLDER = "a" * 40, "b" * 40


def hub(make, *, ref: str | None = COMMIT, commits: tuple[str, ...] = (COMMIT,), name: str = "models--org--m") -> Path:
    """As huggingface_hub lays it out: snapshots of links into a folder of blobs."""
    folder = make.base / "hub" / name
    (folder / "blobs").mkdir(parents=True)
    for commit in commits:
        source = make.folder(make.trunk() | make.nextn(), make.config(**ONE), name=f"src-{name}-{commit[:2]}")
        snapshot = folder / "snapshots" / commit
        snapshot.mkdir(parents=True)
        for file in source.iterdir():
            blob = folder / "blobs" / f"{file.name}-{commit[:4]}"
            file.rename(blob)
            (snapshot / file.name).symlink_to(Path("../../blobs") / blob.name)
    if ref:
        (folder / "refs").mkdir()
        (folder / "refs" / "main").write_text(ref)
    return folder


@pytest.mark.parametrize("below", ["", "snapshots/" + COMMIT, ".."], ids=["model", "snapshot", "cache of one"])
def test_a_hub_cache_folder_is_followed_to_its_snapshot(make, below: str) -> None:
    inspection = inspect_checkpoint(str(hub(make) / below))
    assert (inspection.verdict, inspection.revision) == ("present", COMMIT)


def test_the_main_ref_chooses_among_snapshots(make) -> None:
    assert find(str(hub(make, commits=(OLDER, COMMIT)))).revision == COMMIT


def test_snapshots_without_a_ref_must_be_named(make) -> None:
    assert "2 snapshots" in told(hub(make, ref=None, commits=(OLDER, COMMIT)))
    assert "refs/main names" in told(hub(make, ref="c" * 40, commits=(OLDER, COMMIT), name="models--org--n"))


def test_a_cache_of_several_models_must_be_told_which(make) -> None:
    hub(make)
    hub(make, name="models--org--n")
    assert "is a Hub cache of 2 models, name one: models--org--m, models--org--n" in told(make.base / "hub")


def test_a_download_that_never_ended_is_a_missing_shard(make) -> None:
    folder = hub(make)
    next((folder / "blobs").glob("model.safetensors*")).unlink()
    assert "model.safetensors: does not exist" in told(folder)
