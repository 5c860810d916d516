"""The words of llama-server, as our child takes them and as they are read from a process that runs."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest

from pytest_mtp.core.errors import UsageError
from pytest_mtp.servers.llamacpp.child import filled, settings
from pytest_mtp.servers.llamacpp.options import OPTIONS, of_our_own, parsed, told

NEEDED = ("--model", "m.gguf", "--port", "1234")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param(["-m", "a", "-np", "2", "-c", "4096"], {"model.path": "a", "n_parallel": 2, "n_ctx": 4096}, id="short"),
        pytest.param(["--model=a", "--ctx-size=7"], {"model.path": "a", "n_ctx": 7}, id="equals"),
        pytest.param(["--ctx_size", "7"], {"n_ctx": 7}, id="underscore"),
        pytest.param(["--chat-template", "{{a=b}}"], {"chat_template": "{{a=b}}"}, id="equals-in-a-value"),
        pytest.param(["--metrics", "--no-slots"], {"endpoint_metrics": True, "endpoint_slots": False}, id="flags"),
        pytest.param(["-a", "a,b", "--alias", "c"], {"model_alias": ("a", "b", "c")}, id="names-add-up"),
        pytest.param(["-c", "1", "-c", "2"], {"n_ctx": 2}, id="the-last-one-counts"),
        pytest.param(["--spec-type", "draft-mtp,ngram-mod"], {"speculative.types": ("draft-mtp", "ngram-mod")}, id="kinds"),
        pytest.param(["--spec-synth-rates", "0.7,0.5"], {"speculative.synth_rates": (0.7, 0.5)}, id="rates"),
        pytest.param(["--spec-ngram-map-k4v-min-hits", "2"], {"speculative.ngram_map_k4v.min_hits": 2}, id="ngram"),
        pytest.param(["--draft-p-min", "0.5"], {"speculative.draft.p_min": 0.5}, id="number"),
    ],
)
def test_words_are_taken_in_every_spelling_of_the_server(words, expected):
    assert parsed(words) == expected
    assert told(words, {}) == expected


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(["--modell", "a"], r"unknown option '--modell' \(did you mean '--model'\?\)", id="unknown"),
        pytest.param(["a.gguf"], "unknown option 'a.gguf'", id="no-option"),
        pytest.param(["--draft-max", "3"], "removed --draft-max; use --spec-draft-n-max", id="removed"),
        pytest.param(["--port"], "option --port needs a value", id="no-value"),
        pytest.param(["--port", "soon"], "option --port: expected a whole number, got 'soon'", id="no-number"),
        pytest.param(["--draft-p-min", "much"], "expected a number, got 'much'", id="no-float"),
        pytest.param(["--spec-type", "draft_mtp"], r"unknown kind 'draft_mtp' \(did you mean 'draft-mtp'\?\)", id="kind"),
        pytest.param(["--spec-synth-rates", "0.7,7"], "expected rates from 0 to 1", id="rate"),
        pytest.param(["--spec-synth-rates", ","], "expected rates from 0 to 1", id="no-rates"),
    ],
)
def test_a_wrong_word_is_refused_and_left_aside_in_a_running_server(words, message):
    with pytest.raises(UsageError, match=message):
        parsed(words)
    whole = len(words) > 1
    assert told([*words, "-c", "5"] if whole else words, {}) == ({"n_ctx": 5} if whole else {})


def test_words_of_a_running_server_come_before_its_environment():
    environ = {"LLAMA_ARG_MODEL": "e.gguf", "LLAMA_ARG_ALIAS": "e", "LLAMA_ARG_ENDPOINT_METRICS": "1", "LLAMA_ARG_PORT": "x", "HOME": "/"}
    read = told(["--alias", "w", "--rope-scaling", "yarn", "--mlock"], environ)
    assert read == {"model.path": "e.gguf", "model_alias": ("w",), "endpoint_metrics": True}


def test_no_word_stands_for_two_fields():
    words = [word for option in OPTIONS for word in option.words]
    assert len(words) == len(set(words))


def test_threads_follow_each_other_and_the_address_is_local():
    values = settings([*NEEDED, "--threads", "4", "--threads-batch", "2"])
    assert (values["cpuparams.n_threads"], values["cpuparams_batch.n_threads"], values["hostnames"]) == (4, 2, ("127.0.0.1",))
    assert settings(NEEDED)["speculative.draft.cpuparams.n_threads"] == 1


@pytest.mark.parametrize("words", [NEEDED[:2], NEEDED[2:]], ids=["port", "model"])
def test_what_a_server_cannot_do_without_is_asked_for(words):
    with pytest.raises(UsageError, match="is missing"):
        settings(words)


def test_the_template_is_read_from_its_file(tmp_path):
    path = tmp_path / "t.jinja"
    path.write_text("{{ messages }}")
    assert settings([*NEEDED, "--chat-template-file", str(path)])["chat_template"] == "{{ messages }}"
    with pytest.raises(UsageError, match=r"no\.jinja cannot be read"):
        settings([*NEEDED, "--chat-template-file", str(tmp_path / "no.jinja")])


def bindings(**fields):
    """Older and newer releases of the bindings."""
    cpu = lambda: SimpleNamespace(n_threads=0)  # noqa: E731 (three of them)
    draft = SimpleNamespace(cpuparams=cpu(), cpuparams_batch=cpu())
    base = {"model": SimpleNamespace(path=""), "port": 0, "cpuparams": cpu(), "cpuparams_batch": cpu(), "use_jinja": False}
    kinds = SimpleNamespace(COMMON_SPECULATIVE_TYPE_NGRAM_MAP_K="the kind")
    params = SimpleNamespace(**base, speculative=SimpleNamespace(draft=draft, **fields.pop("speculative", {})), **fields)
    return SimpleNamespace(CommonParams=lambda: params, common_speculative_type=kinds)


def test_values_go_into_the_fields_of_the_bindings():
    values = settings([*NEEDED, "--spec-type", "ngram-map-k", "--alias", "a,b"])
    params = filled(bindings(speculative={"types": []}, hostnames=[], model_alias=set(), ui=True, endpoint_slots=False), values)
    assert (params.model.path, params.port, params.speculative.types) == ("m.gguf", 1234, ["the kind"])
    assert (params.hostnames, params.model_alias, params.ui, params.endpoint_slots) == (["127.0.0.1"], {"a", "b"}, False, True)
    assert params.speculative.draft.cpuparams_batch.n_threads == 1


def test_a_field_that_a_release_lacks_is_said_only_when_it_was_asked_for():
    assert filled(bindings(), settings(NEEDED)).hostname == "127.0.0.1"
    with pytest.raises(UsageError, match=r"no field speculative\.synth_len"):
        filled(bindings(), settings([*NEEDED, "--spec-synth-len", "2"]))


def test_the_program_says_in_one_line_what_is_wrong():
    done = run("--prot", "1")
    assert done.returncode == 1
    assert done.stderr.startswith("error: unknown option '--prot' (did you mean '--port'?)")
    assert len(done.stderr.splitlines()) == 1


def test_our_own_words_are_taken_out_and_further_words_split_as_a_shell_would():
    program, words = of_our_own(["--program", "llama-server", "-c", "1", "--extra", "--alias 'a b' --mlock"])
    assert (program, words) == ("llama-server", ["-c", "1", "--alias", "a b", "--mlock"])
    assert of_our_own(["-c", "1"]) == (None, ["-c", "1"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(["--extra"], "option --extra needs a value", id="no-value"),
        pytest.param(["--extra", "'a"], "cannot be split into words: No closing quotation", id="open-quote"),
    ],
)
def test_our_own_words_are_refused_too(words, message):
    with pytest.raises(UsageError, match=message):
        of_our_own(words)


def run(*words):
    command = [sys.executable, "-m", "pytest_mtp.servers.llamacpp.child", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_another_program_takes_the_place_of_ours_with_the_same_words(tmp_path):
    program = tmp_path / "llama-server"
    program.write_text('#!/bin/sh\necho "$@"\n')
    program.chmod(0o755)
    done = run("--program", str(program), "--model", "m.gguf", "--unheard-of", "1", "--extra", "--mlock")
    assert (done.returncode, done.stdout) == (0, "--model m.gguf --unheard-of 1 --mlock\n")


def test_a_program_that_is_not_there_is_said(tmp_path):
    done = run("--program", str(tmp_path / "llama-server"))
    assert done.returncode == 1
    assert "llama-server cannot be run: No such file or directory" in done.stderr
