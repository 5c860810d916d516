"""The command lines of the built-in profiles that nobody here can start: SGLang and TensorRT-LLM."""

from __future__ import annotations

import sys

import pytest

from pytest_mtp.core.errors import UsageError
from pytest_mtp.profiles.load import load_profile
from pytest_mtp.servers.engines.sglang import SGLang
from pytest_mtp.servers.engines.tensorrt_llm import TensorRtLlm
from pytest_mtp.servers.profile import plan_of


@pytest.fixture
def plan(tmp_path):
    def make(name, **params):
        return plan_of(load_profile(name), {"model": "/models/m", **params}, folder=tmp_path)

    return make


def words_of(plan):
    return plan.command(8123, "our-alias")


@pytest.mark.parametrize("name", ["sglang", "tensorrt-llm"])
def test_it_listens_on_our_port_under_our_name_and_expects_its_engine(plan, name):
    profile, made = load_profile(name), plan(name)
    words = words_of(made)
    assert words[:2] == [sys.executable, "-m"]
    assert words[words.index("--port") + 1] == "8123"
    assert words[words.index("--host") + 1] == "127.0.0.1"
    assert "our-alias" in words
    assert profile.engine == made.engine == name
    assert "not run by us" in profile.description
    with pytest.raises(UsageError, match=r"needs the parameter 'model'"):
        plan(name, model=None)


def test_sglang_drafts_as_deep_as_told(plan):
    words = words_of(plan("sglang", depth=3))
    at = words.index("--speculative-algorithm")
    assert words[at : at + 6] == ["--speculative-algorithm", "NEXTN", "--speculative-num-steps", "3", "--speculative-eagle-topk", "1"]
    assert "--speculative-num-draft-tokens" not in words  # depth + 1, which it takes itself for a topk of 1
    told = SGLang().read_command(words, {})
    assert (told.model_path, told.served_names) == ("/models/m", ("our-alias",))
    assert (told.speculation.method, told.speculation.depth) == ("NEXTN", 3)
    assert (plan("sglang", depth=3).configured.method, plan("sglang", depth=3).configured.depth) == ("NEXTN", 3)


def test_sglang_does_not_draft_when_told_so(plan):
    made = plan("sglang", speculation=False, depth=3, accept_threshold=0.5)
    assert not any("speculative" in word for word in words_of(made))
    assert made.configured.state == "inactive"
    assert SGLang().read_command(words_of(made), {}).speculation.state == "inactive"


def test_sglang_drafts_a_tree_and_lossily_when_told_so(plan):
    told = SGLang().read_command(words_of(plan("sglang", topk=4, num_draft_tokens=16, depth=5, accept_threshold=0.5)), {})
    said = " ".join(told.speculation.evidence)
    assert "tree" in said
    assert "not lossless" in said
    assert told.speculation.depth == 5


def test_sglang_tells_its_counters_and_its_cache(plan):
    assert {"--enable-metrics", "--enable-cache-report"} < set(words_of(plan("sglang")))
    assert words_of(plan("sglang", max_running_requests=4))[-2:] == ["--max-running-requests", "4"]


def test_tensorrt_llm_is_switched_by_the_file_of_options(plan, tmp_path):
    on, off = tmp_path / "on.yaml", tmp_path / "off.yaml"
    on.write_text("speculative_config: {decoding_type: MTP, max_draft_len: 2}\nreturn_perf_metrics: true\n")
    off.write_text("return_perf_metrics: true\n")
    files = {"config": "on.yaml", "config_off": "off.yaml"}
    drafting, plain = plan("tensorrt-llm", **files), plan("tensorrt-llm", speculation=False, **files)
    assert words_of(drafting)[-2:] == ["--extra_llm_api_options", str(on)]
    assert words_of(plain)[-2:] == ["--extra_llm_api_options", str(off)]
    assert (drafting.configured.state, plain.configured.state) == ("unknown", "inactive")
    told = TensorRtLlm().read_command(words_of(drafting), {})
    assert (told.model_path, told.served_names, told.speculation.depth) == ("/models/m", ("our-alias",), 2)
    assert TensorRtLlm().read_command(words_of(plain), {}).speculation.state == "inactive"


def test_tensorrt_llm_without_a_file_does_not_draft(plan):
    made = plan("tensorrt-llm")
    assert "--extra_llm_api_options" not in words_of(made)
    assert made.configured.state == "inactive"
