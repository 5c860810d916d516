"""A profile and its parameters to a command line: each mistake has one message, before anything is started."""

from __future__ import annotations

import sys

import pytest

from pytest_mtp.core.case import Source
from pytest_mtp.core.errors import UsageError
from pytest_mtp.core.facts import SpecDecode
from pytest_mtp.core.profile import Condition, Parameter, Profile, Words
from pytest_mtp.servers.profile import holds, plan_of

DEPTH = Parameter(kind="whole", default=1, lowest=1, highest=16, help="draft tokens a step")
PARAMETERS = {
    "model": Parameter(kind="path", required=True, help="folder of the checkpoint"),
    "depth": DEPTH,
    "speculation": Parameter(kind="flag", default=True, help="whether it drafts"),
    "method": Parameter(kind="choice", default="mtp", choices=("mtp", "eagle"), help="how"),
    "rates": Parameter(kind="rates", help="acceptance"),
    "share": Parameter(kind="number", default=0.5, lowest=0, highest=1, help="of the memory"),
    "note": Parameter(kind="text", help="words"),
    "api_key": Parameter(kind="text", help="a secret"),
}
COMMAND = (
    Words(words=("{python}", "-m", "x", "{model}", "{port}", "{alias}", "{share}", "{unknown}", "{ }")),
    Words(words=('{"n": {depth}, "m": "{method}"}',), when=(Condition(name="speculation"),)),
    Words(words=("--off",), when=(Condition(name="speculation", negated=True),)),
    Words(words=("--rates", "{rates}"), when=(Condition(name="rates"),)),
    Words(words=("--eagle",), when=(Condition(name="method", equals="eagle"),)),
)
PROFILE = Profile(
    name="x",
    source=Source(path="x.profile.yaml", line=1),
    command=COMMAND,
    parameters=PARAMETERS,
    environment={"X_NOTE": "{note}", "X_PORT": "{port}", "X_BRACES": "{other}"},
    served_name="{model}",
    speculation_when=(Condition(name="speculation"),),
    speculation_method="{method}",
    speculation_depth="{depth}",
    program_missing="pip install x",
    start_timeout_s=300,
    memory_limit_mib=8000,
)


@pytest.fixture
def plan(tmp_path):
    (tmp_path / "m").mkdir()

    def make(profile=PROFILE, **params):
        return plan_of(profile, {"model": "m", **params}, folder=tmp_path)

    return make


def test_defaults_fill_the_command(plan, tmp_path):
    words = plan().command(81, "our-name")
    model = str(tmp_path / "m")
    assert words == [sys.executable, "-m", "x", model, "81", "our-name", "0.5", "{unknown}", "{ }", '{"n": 1, "m": "mtp"}']


def test_parameters_fill_the_command(plan):
    words = plan(depth=3, rates=[0.5, 0.25], method="eagle", share=1).command(81, "a")
    assert words[6:] == ["1", "{unknown}", "{ }", '{"n": 3, "m": "eagle"}', "--rates", "0.5,0.25", "--eagle"]
    assert plan(speculation=False).command(81, "a")[9:] == ["--off"]


def test_the_environment_leaves_out_what_is_unset(plan):
    assert plan().environment(81, "a") == {"X_PORT": "81", "X_BRACES": "{other}"}
    assert plan(note="hi").environment(81, "a") == {"X_NOTE": "hi", "X_PORT": "81", "X_BRACES": "{other}"}


def test_the_model_is_asked_for_under_the_served_name(plan, tmp_path):
    assert plan().name_for("a") == str(tmp_path / "m")
    bare = Profile(name="x", source=PROFILE.source, command=(Words(words=(sys.executable, "{port}")),))
    assert plan_of(bare, {}, folder=tmp_path).name_for("a") == "a"


def test_paths_are_meant_from_the_folder_and_may_begin_at_home(plan, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert plan(model="~/m").command(1, "a")[3] == str(tmp_path / "m")
    assert plan(model=str(tmp_path)).command(1, "a")[3] == str(tmp_path)
    assert plan().folder == tmp_path


def test_an_interpreter_that_is_a_link_stays_one(tmp_path):
    (tmp_path / "python").symlink_to(sys.executable)
    own = Profile(
        name="x",
        source=PROFILE.source,
        command=(Words(words=("{python}", "{port}")),),
        parameters={"python": Parameter(kind="path", help="interpreter")},
    )
    assert plan_of(own, {"python": "python"}, folder=tmp_path).command(1, "a")[0] == str(tmp_path / "python")
    assert plan_of(own, {}, folder=tmp_path).command(1, "a")[0] == sys.executable


def test_what_every_profile_takes(plan):
    made = plan(port=8123, alias="mine", start_timeout_s=900, memory_mib=100)
    assert (made.port, made.alias, made.start_timeout_s, made.memory_limit_mib) == (8123, "mine", 900.0, 100)
    made = plan()
    assert (made.port, made.alias, made.start_timeout_s, made.memory_limit_mib) == (None, None, 300.0, 8000)


def test_what_is_configured_is_no_proof(plan):
    assert plan(depth=3).configured == SpecDecode(method="mtp", depth=3, evidence=("launched with mtp, depth 3",))
    assert plan(speculation=False).configured == SpecDecode(state="inactive", evidence=("launched without speculation",))


def test_none_means_not_given(plan):
    assert plan(depth=None, note=None).command(1, "a") == plan().command(1, "a")


def test_secrets_are_known_by_their_names(plan):
    assert plan(api_key="sk-12345678").secrets == ("sk-12345678",)


@pytest.mark.parametrize(
    ("params", "says"),
    [
        pytest.param(
            {"dept": 3},
            r"^the x server has no parameter 'dept' \(did you mean 'depth'\?\); it has model, depth, .*, and port, alias,",
            id="unknown",
        ),
        pytest.param({"depth": 0}, "^parameter 'depth' of the x server: expected a whole number from 1 to 16, got 0$", id="too-small"),
        pytest.param({"depth": True}, "expected a whole number from 1 to 16, got True", id="bool"),
        pytest.param({"depth": "3"}, "expected a whole number from 1 to 16, got '3'", id="text"),
        pytest.param({"depth": 1.5}, "expected a whole number from 1 to 16, got 1.5", id="half"),
        pytest.param({"speculation": "on"}, "expected true or false, got 'on'", id="flag"),
        pytest.param({"method": "egle"}, "expected one of mtp, eagle, got 'egle'", id="choice"),
        pytest.param({"rates": [0.5, 1.5]}, "expected a list of rates from 0 to 1", id="rates"),
        pytest.param({"rates": []}, "expected a list of rates from 0 to 1", id="no-rates"),
        pytest.param({"share": 1.5}, "expected a number from 0 to 1, got 1.5", id="number"),
        pytest.param({"share": float("nan")}, "expected a number from 0 to 1", id="nan"),
        pytest.param({"note": " "}, "expected text, got ' '", id="blank"),
        pytest.param({"api_key": 12345678}, r"expected text, got \*\*\*$", id="secret"),
        pytest.param({"port": 70000}, "expected a whole number from 1 to 65535, got 70000", id="port"),
        pytest.param({"model": None}, r"^the x server needs the parameter 'model': folder of the checkpoint; for example", id="missing"),
        pytest.param({"model": "nowhere"}, r"^parameter 'model' of the x server: there is no file or folder .*nowhere$", id="no-path"),
        pytest.param({"model": ["m"]}, "expected a path", id="path-list"),
    ],
)
def test_a_wrong_parameter_is_named(plan, params, says):
    with pytest.raises(UsageError, match=says):
        plan(**params)


def test_a_program_that_is_missing_says_how_to_install_it(tmp_path):
    for program in ("no-such-engine", "./no-such-engine"):
        gone = Profile(name="x", source=PROFILE.source, command=(Words(words=(program, "{port}")),), program_missing="pip install x")
        with pytest.raises(UsageError, match=rf"^the program '{program}' of the x server cannot be found: pip install x$"):
            plan_of(gone, {}, folder=tmp_path)


def test_a_program_is_looked_for_on_the_path_of_the_profile(tmp_path):
    (tmp_path / "serve").write_text("#!/bin/sh\n")
    (tmp_path / "serve").chmod(0o755)
    own = Profile(name="x", source=PROFILE.source, command=(Words(words=("serve", "{port}")),), environment={"PATH": str(tmp_path)})
    assert plan_of(own, {}, folder=tmp_path).command(7, "a") == ["serve", "7"]


@pytest.mark.parametrize(
    ("value", "plain", "negated", "equal_to_true", "equal_to_one"),
    [
        (None, False, True, False, False),
        (False, False, True, False, False),
        (True, True, False, True, False),
        (0, True, False, False, False),
    ],
    ids=["unset", "off", "on", "zero"],
)
def test_conditions(value, plain, negated, equal_to_true, equal_to_one):
    values = {"a": value}
    assert holds(Condition(name="a"), values) is plain
    assert holds(Condition(name="a", negated=True), values) is negated
    assert holds(Condition(name="a", equals=True), values) is equal_to_true
    assert holds(Condition(name="a", equals=1), values) is equal_to_one


@pytest.mark.parametrize(
    ("parameter", "word", "value"),
    [
        (DEPTH, "3", 3),
        (DEPTH, "3.0", "3.0"),
        (DEPTH, "three", "three"),
        (DEPTH, "-1", -1),
        (PARAMETERS["speculation"], "off", False),
        (PARAMETERS["speculation"], "1", True),
        (PARAMETERS["speculation"], "maybe", "maybe"),
        (PARAMETERS["rates"], "0.5,0.25", [0.5, 0.25]),
        (PARAMETERS["rates"], "0.5,x", [0.5, "x"]),
        (PARAMETERS["share"], "1e-1", 0.1),
        (PARAMETERS["share"], "inf", "inf"),
        (PARAMETERS["note"], "007", "007"),
        (PARAMETERS["model"], "on", "on"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_words_of_a_command_line_become_values_by_their_kind(parameter, word, value):
    assert parameter.read(word) == value
    assert type(parameter.read(word)) is type(value)
