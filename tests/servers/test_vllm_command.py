"""Command lines of vLLM servers, in the forms that its own argument parser takes."""

from __future__ import annotations

import shlex

import pytest

from pytest_mtp.servers.engines.vllm import Vllm

MODULE = "python -m vllm.entrypoints.openai.api_server"


def read(line):
    return Vllm().read_command(shlex.split(line), {})


@pytest.mark.parametrize(
    ("line", "model"),
    [
        ("/venv/bin/python /venv/bin/vllm serve /models/a --port 1", "/models/a"),
        ("vllm serve --port 1 --model=/models/a", "/models/a"),
        ("vllm serve --port 1 /models/a", "/models/a"),
        ("vllm serve --enforce-eager /models/a --port 1", "/models/a"),
        ("vllm serve --served-model-name a b --port 1", None),
        ("vllm serve --config x.yaml", None),
        (f"{MODULE} --model /models/a", "/models/a"),
        ("python -m vllm.entrypoints.cli.main serve org/a", "org/a"),
    ],
)
def test_the_model(line, model):
    assert read(line).model_path == model


@pytest.mark.parametrize(
    "line",
    [
        "VLLM::EngineCore",
        "vllm bench serve --model a",
        "vllm chat",
        "python -m sglang.launch_server --model-path a",
        "python serve.py vllm",
        "vim vllm.txt",
        "",
    ],
)
def test_other_programs(line):
    assert read(line) is None


@pytest.mark.parametrize(
    ("words", "method", "depth", "drafter"),
    [
        ("""--speculative-config '{"method": "mtp", "num_speculative_tokens": 3}'""", "mtp", 3, None),
        ("""--speculative_config='{"method": "mtp", "num_speculative_tokens": 3}'""", "mtp", 3, None),
        ("""-sc '{"method": "mtp"}'""", "mtp", None, None),
        ("--speculative-config.method mtp --speculative-config.num_speculative_tokens=3", "mtp", 3, None),
        ("--spec-method eagle3 --spec-tokens 2 --spec-model /models/e", "eagle3", 2, "/models/e"),
        ("""--speculative-config '{"model": "/models/e", "num_speculative_tokens": 2}'""", None, 2, "/models/e"),
        ("""--speculative-config '{"model": "/models/a", "method": "mtp"}'""", "mtp", None, None),
        ("--speculative-config '{broken'", None, None, None),
    ],
)
def test_speculation(words, method, depth, drafter):
    found = read(f"vllm serve /models/a {words} --port 1")
    assert (found.speculation.state, found.speculation.method, found.speculation.depth) == ("unknown", method, depth)
    assert found.drafter_path == drafter
    assert "not yet proven" in found.speculation.evidence[0]


def test_none_is_configured():
    assert read("vllm serve /models/a").speculation.state == "inactive"


def test_a_file_of_options_may_hold_any():
    assert read("vllm serve /models/a --config x.yaml").speculation.state == "unknown"


def test_the_last_of_two_counts():
    line = """vllm serve a --speculative-config '{"method": "ngram"}' --speculative-config '{"method": "mtp"}'"""
    assert read(line).speculation.method == "mtp"


@pytest.mark.parametrize(
    ("words", "names"),
    [("--served-model-name m n --port 1", ("m", "n")), ("--served-model-name=m", ("m",)), ("--port 1", ("/models/a",))],
    ids=["two", "one", "the-model"],
)
def test_the_names(words, names):
    assert read(f"vllm serve /models/a {words}").served_names == names


@pytest.mark.parametrize(
    ("words", "sequences"),
    [("--max-num-seqs 4", 4), ("--max_num_seqs=4 -dp 2", 8), ("--max-num-seqs many", None), ("", None)],
    ids=["one-engine", "two", "no-number", "its-default"],
)
def test_how_many_at_once(words, sequences):
    assert read(f"vllm serve /models/a {words}").sequences == sequences
