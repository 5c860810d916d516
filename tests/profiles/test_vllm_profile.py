"""vLLM's profile: the words that it makes of its parameters, and what the adapter reads back from them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pytest_mtp.core.errors import UsageError
from pytest_mtp.profiles.load import load_profile
from pytest_mtp.servers.engines.vllm import Vllm
from pytest_mtp.servers.profile import plan_of


def command(**params):
    plan = plan_of(load_profile("vllm"), {"model": "org/model", **params}, folder=Path.cwd())
    return list(plan.command(8000, "ours"))


@pytest.mark.parametrize(
    ("params", "read"),
    [
        pytest.param({}, ("unknown", "mtp", 1, None), id="head"),
        pytest.param({"depth": 3}, ("unknown", "mtp", 3, None), id="deeper"),
        pytest.param({"method": "eagle3", "drafter": "org/eagle", "depth": 2}, ("unknown", "eagle3", 2, "org/eagle"), id="drafter"),
        pytest.param({"method": "ngram"}, ("unknown", "ngram", 1, None), id="ngram"),
        pytest.param({"speculation": False, "depth": 3, "drafter": "org/eagle"}, ("inactive", None, None, None), id="off"),
    ],
)
def test_its_speculation_is_read_back(params, read):
    found = Vllm().read_command(command(**params), {})
    assert (found.speculation.state, found.speculation.method, found.speculation.depth, found.drafter_path) == read


def test_names_and_width_are_read_back():
    found = Vllm().read_command(command(max_num_seqs=4), {})
    assert (found.model_path, found.served_names, found.sequences) == ("org/model", ("ours",), 4)


def test_synthetic_rates_are_one_list_and_named_when_read():
    words = command(depth=2, synth_rates=[0.7, 0.5])
    assert words[words.index("--speculative-config.synthetic_acceptance_rates") + 1] == "[0.7,0.5]"
    assert "acceptance is synthetic" in Vllm().read_command(words, {}).speculation.evidence[1]


def test_tools_need_two_words():
    assert "--enable-auto-tool-choice" not in command()
    words = command(tool_call_parser="hermes")
    assert words[words.index("--enable-auto-tool-choice") :][:3] == ["--enable-auto-tool-choice", "--tool-call-parser", "hermes"]


def test_it_starts_with_an_interpreter_and_hears_only_this_machine():
    words = command(enforce_eager=True, dtype="float32")
    assert words[:3] == [sys.executable, "-m", "vllm.entrypoints.openai.api_server"]
    assert words[words.index("--host") :][:4] == ["--host", "127.0.0.1", "--port", "8000"]
    assert words[-1] == "--enforce-eager"


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"depth": 0}, "'depth' of the vllm server: expected a whole number from 1 to 64, got 0"),
        ({"dtype": "fp32"}, "expected one of auto, bfloat16, float16, float32"),
        ({"chat_template": "no-such-file.jinja"}, "there is no file or folder"),
        ({"dept": 2}, r"no parameter 'dept' \(did you mean 'depth'\?\)"),
    ],
    ids=["depth", "dtype", "path", "name"],
)
def test_what_is_wrong_is_named(params, message):
    with pytest.raises(UsageError, match=message):
        command(**params)
