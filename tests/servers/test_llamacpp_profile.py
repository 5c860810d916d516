"""The launch profile of llama.cpp: every command line that it can make is one that the program takes."""

from __future__ import annotations

import pytest

from pytest_mtp.core.errors import UsageError
from pytest_mtp.profiles.load import load_profile
from pytest_mtp.servers.engines.llamacpp import LlamaCpp
from pytest_mtp.servers.llamacpp.child import settings
from pytest_mtp.servers.llamacpp.command import CHILD
from pytest_mtp.servers.llamacpp.options import SPECULATION_KINDS, of_our_own
from pytest_mtp.servers.profile import plan_of


@pytest.fixture
def command(tmp_path):
    model = tmp_path / "m.gguf"
    model.touch()

    def make(**params):
        plan = plan_of(load_profile("llamacpp"), {"model": str(model), **params}, folder=tmp_path)
        return plan.command(1234, "ours")

    return make


def words(command):
    return of_our_own(command[command.index(CHILD) + 1 :])


@pytest.mark.parametrize("method", [kind for kind in SPECULATION_KINDS if kind != "none"])
def test_every_method_makes_words_that_the_program_takes_and_the_adapter_reads(command, method):
    made = command(method=method, depth=5, lookup=4, p_min=0.5, n_parallel=3, threads=2, synth_rates=[0.5, 0.25])
    program, rest = words(made)
    assert program is None
    values = settings(rest)
    assert (values["speculative.types"], values["speculative.synth_rates"], values["n_parallel"]) == ((method,), (0.5, 0.25), 3)
    said = LlamaCpp().read_command(made, {})
    assert (said.speculation.method, said.speculation.depth, said.sequences) == (method, 5, 3)
    assert (said.model_path.rpartition("/")[2], said.served_names) == ("m.gguf", ("ours",))


def test_the_choice_of_methods_is_that_of_the_program():
    assert set(load_profile("llamacpp").parameters["method"].choices) == set(SPECULATION_KINDS) - {"none"}


def test_without_speculation_no_word_speaks_of_it(command):
    made = command(speculation=False, depth=5, lookup=4, p_min=0.5, synth_rates=[0.5])
    assert not [word for word in made if word.startswith("--spec")]
    assert LlamaCpp().read_command(made, {}).speculation.state == "inactive"


def test_another_program_and_further_words(command):
    program, rest = words(command(program="llama-server", extra="--mlock --rope-scaling yarn"))
    assert program == "llama-server"
    assert rest[-3:] == ["--mlock", "--rope-scaling", "yarn"]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        pytest.param({"method": "draft_mtp"}, "expected one of draft-mtp, ", id="method"),
        pytest.param({"depth": 0}, "expected a whole number from 1 to 256, got 0", id="depth"),
        pytest.param({"dept": 1}, r"no parameter 'dept' \(did you mean 'depth'\?\)", id="unknown"),
        pytest.param({"drafter": "nowhere.gguf"}, "there is no file or folder", id="drafter"),
    ],
)
def test_wrong_parameters_are_refused_before_anything_starts(command, params, message):
    with pytest.raises(UsageError, match=message):
        command(**params)
