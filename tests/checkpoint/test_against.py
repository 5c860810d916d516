"""A checkpoint held against the server that should serve it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from pytest_mtp.checkpoint.against import against_server
from pytest_mtp.checkpoint.naming import same_model
from pytest_mtp.checkpoint.verdict import inspect_checkpoint
from pytest_mtp.core.facts import Endpoint, ProcessFacts, ServerFacts, SpecDecode

ONE = {"num_nextn_predict_layers": 1}


def server(state: str = "active", *, method: str | None = "mtp", engine: str = "vllm", **details) -> ServerFacts:
    spec = SpecDecode(state=state, method=method if state in ("active", "dead") else None)  # type: ignore[arg-type]
    endpoint = Endpoint(root="http://h", api_root="http://h/v1", model="m")
    return ServerFacts(endpoint=endpoint, engine=engine, model="m", speculation=spec, details=details)


def codes(inspection, facts: ServerFacts) -> list[tuple[str, str, str]]:
    return [(finding.code, finding.severity, finding.where) for finding in against_server(inspection, facts)]


@pytest.fixture
def holding(make):
    return inspect_checkpoint(str(make.folder(make.trunk() | make.nextn(), make.config(**ONE), name="holding")))


@pytest.fixture
def plain(make):
    return inspect_checkpoint(str(make.folder(make.trunk(), make.config(), name="plain")))


@pytest.mark.parametrize(
    ("engine", "flag"),
    [
        ("vllm", 'Set --speculative-config \'{"method": "mtp", "num_speculative_tokens": 1}\''),
        ("sglang", "Set --speculative-algorithm NEXTN"),
        ("llamacpp", "Set --spec-type draft-mtp --spec-draft-n-max 1"),
        ("mlx-lm", "mlx-lm: heads are dropped while loading"),
        ("something", "Set something's speculation flag"),
    ],
)
def test_a_head_on_disk_and_speculation_off_names_the_flag(holding, engine: str, flag: str) -> None:
    """The founding case: for months nobody had set it."""
    (finding,) = against_server(holding, server("inactive", engine=engine))
    assert (finding.code, finding.severity) == ("SPEC.inactive", "note")
    assert finding.hint.startswith(flag)


@pytest.mark.parametrize("state", ["active", "dead", "unknown"])
def test_a_server_that_speculates_or_does_not_say_is_not_accused(holding, state: str) -> None:
    assert codes(holding, server(state)) == []


@pytest.mark.parametrize("method", ["mtp", "draft-mtp", "NEXTN"])
def test_speculation_by_mtp_without_a_head(plain, method: str) -> None:
    assert codes(plain, server(method=method)) == [("ID.checkpoint", "critical", "speculation")]


@pytest.mark.parametrize(
    "facts",
    [server("inactive"), server(method="ngram"), server(method="eagle3"), server(method=None), server(draft_model="/models/drafter")],
    ids=["off", "ngram", "eagle3", "not said", "a drafter elsewhere"],
)
def test_other_speculation_needs_no_head(plain, facts: ServerFacts) -> None:
    assert codes(plain, facts) == []


@pytest.mark.parametrize(
    "details",
    [{"n_embd": 32}, {"n_vocab": 41}, {"n_params": 10**9}, {"meta": {"n_embd": 32}}],
    ids=["width", "vocabulary", "parameters", "meta"],
)
def test_another_model_on_the_server(holding, details: dict[str, object]) -> None:
    assert codes(holding, server(**details)) == [("ID.checkpoint", "critical", "model")]


@pytest.mark.parametrize("heads", [0, 1], ids=["counted without its head", "counted with it"])
def test_the_same_model_by_its_counts(holding, heads: int) -> None:
    parameters = holding.weights.parameters - (1 - heads) * holding.heads[0].parameters
    assert codes(holding, server(n_embd=16, n_vocab=40, n_params=parameters)) == []


def test_another_file_name_is_a_note_since_containers_see_other_folders(holding) -> None:
    assert codes(holding, server(model_path="/models/holding")) == []
    assert codes(holding, server(model_path="/models/other")) == [("ID.checkpoint", "note", "model")]


CACHED = "/cache/hub/models--Qwen--Qwen3.5-4B"


@pytest.mark.parametrize(
    ("told", "ours"),
    [
        ("Qwen/Qwen3.5-4B", CACHED),
        ("qwen/qwen3.5-4b", f"{CACHED}/snapshots/abc"),
        (f"{CACHED}/snapshots/abc", CACHED),
        ("/home/me/.cache/huggingface/hub/models--Qwen--Qwen3.5-4B/snapshots/abc/", "/models/Qwen3.5-4B"),
        ("/srv/Qwen3.5-4B", "https://hub.example/Qwen/Qwen3.5-4B/resolve/main/"),
        ("C:\\models\\Qwen3.5-4B", "/models/Qwen3.5-4B"),
        ("./", "/models/x"),
    ],
)
def test_one_model_under_two_names(told: str, ours: str) -> None:
    assert same_model(told, ours)


@pytest.mark.parametrize("told", ["Qwen/Qwen3.5-9B", "/srv/model", "main"])
def test_another_model_by_its_name(told: str) -> None:
    assert not same_model(told, CACHED)


def test_links_and_files_within_the_folder_are_the_same_model(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "x.gguf").write_bytes(b"")
    (tmp_path / "link").symlink_to("real")
    assert same_model(str(tmp_path / "link"), str(tmp_path / "real"))
    assert same_model(str(tmp_path / "link" / "x.gguf"), str(tmp_path / "real"))
    assert same_model(str(tmp_path / "real"), str(tmp_path / "link" / "x.gguf"))
    assert not same_model(str(tmp_path / "link"), str(tmp_path))


def test_a_checkpoint_that_contradicts_itself_is_passed_on(make) -> None:
    inspection = inspect_checkpoint(str(make.folder(make.trunk(), make.config(**ONE))))
    assert codes(inspection, server("unknown")) == [("ID.checkpoint", "critical", "config")]


def test_a_link_and_what_it_leads_to_are_the_same_files_and_two_folders_of_one_name_are_not(plain, tmp_path: Path) -> None:
    (tmp_path / "current").symlink_to(plain.path)
    other = tmp_path / "elsewhere" / Path(plain.path).name
    other.mkdir(parents=True)
    real = {str(tmp_path / "current"): str(Path(plain.path).resolve()), str(other): str(other.resolve())}
    process = ProcessFacts(pid=1, started_at=0.0, command=(), real_paths=real)
    linked = dataclasses.replace(server(root=str(tmp_path / "current")), process=process, speculation=SpecDecode())
    assert codes(plain, linked) == []
    apart = dataclasses.replace(linked, details={"root": str(other)})
    assert codes(plain, apart) == [("ID.checkpoint", "note", "model")]
    assert codes(plain, dataclasses.replace(apart, process=None)) == []  # by the name alone, as in a container
