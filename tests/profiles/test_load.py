"""A profile by name and by file."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import jsonschema
import pytest
import yaml

from pytest_mtp.core.case import Source
from pytest_mtp.core.errors import SuiteError, UsageError
from pytest_mtp.core.profile import Condition, Parameter, Profile, Words
from pytest_mtp.profiles.load import BUILTIN, SCHEMA, SCHEMAS, load_profile, profile_names

ROOT = Path(__file__).parents[2]


def test_everything_of_a_profile_arrives(written):
    profile = load_profile(written(), shown="x.profile.yaml")
    assert (profile.name, profile.engine, profile.description) == ("engine-x", "generic", "the server of tests")
    assert profile.source == Source(path="x.profile.yaml", line=1)
    assert profile.parameters["depth"] == Parameter(kind="whole", default=1, lowest=1, highest=16, help="draft tokens a step")
    assert profile.parameters["method"].choices == ("mtp", "eagle")
    assert profile.parameters["model"].required
    assert profile.command[0] == Words(words=("{python}",))
    assert profile.command[4].when == (Condition(name="speculation"), Condition(name="rates"))
    assert profile.command[5].when == (Condition(name="speculation", negated=True),)
    assert profile.command[6].when == (Condition(name="method", equals="eagle"),)
    assert profile.environment == {"ENGINE_OFFLINE": "1", "ENGINE_NOTE": "{note}"}
    assert (profile.served_name, profile.program_missing) == ("{model}", "pip install engine-x")
    assert (profile.speculation_when, profile.speculation_method, profile.speculation_depth) == (
        (Condition(name="speculation"),),
        "{method}",
        "{depth}",
    )
    assert (profile.fatal, profile.telling) == (("out of memory",), ("^fatal: ", "broken"))
    assert (profile.stop_signals, profile.stop_grace_s) == (("INT", "TERM"), 2.5)
    assert (profile.start_timeout_s, profile.memory_limit_mib) == (300.0, 8000)


def test_a_profile_survives_the_way_to_another_process(written):
    profile = load_profile(written())
    assert Profile.from_dict(json.loads(json.dumps(profile.to_dict()))) == profile


def test_the_least_profile(written):
    profile = load_profile(written('schema_version: 1\nprofile: x\ncommand: [serve, "{port}"]\n'))
    assert (profile.engine, profile.parameters, profile.start_timeout_s, profile.memory_limit_mib) == (None, {}, None, None)
    assert (profile.stop_signals, profile.stop_grace_s, profile.served_name) == (("TERM",), 5.0, None)


def test_double_negation_is_none(written, good):
    profile = load_profile(written(good.replace("{not: speculation}", "{not: {not: speculation}}")))
    assert profile.command[5].when == (Condition(name="speculation"),)


@pytest.mark.parametrize("name", profile_names())
def test_a_built_in_profile_is_loaded_by_name_and_file(name):
    profile = load_profile(name)
    assert profile.name == name
    assert profile.engine
    assert profile.description
    assert profile.source.path == f"{name}.profile.yaml"
    by_file = load_profile(BUILTIN / f"{name}.profile.yaml", shown=f"{name}.profile.yaml")
    assert by_file == profile


def test_the_six_that_start_here_and_the_two_that_do_not_are_built_in():
    assert {"vllm", "sglang", "llamacpp", "mlx-vlm", "mlx-lm", "transformers", "tensorrt-llm"} <= set(profile_names())


@pytest.mark.parametrize("name", ["vlm", "VLLM", "trtllm", ""])
def test_an_unknown_name_lists_the_known(name):
    with pytest.raises(UsageError, match=r"no built-in profile .*; there are .*vllm, and files named NAME\.profile\.yaml"):
        load_profile(name)


def test_an_unknown_name_gets_the_nearest():
    with pytest.raises(UsageError, match=r"no built-in profile 'vlm' \(did you mean 'vllm'\?\)"):
        load_profile("vlm")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(SuiteError, match=r"gone\.profile\.yaml:1: the file cannot be read: No such file"):
        load_profile(tmp_path / "gone.profile.yaml")


def test_the_home_folder_may_be_written_short(written, monkeypatch):
    path = written()
    monkeypatch.setenv("HOME", str(path.parent))
    assert load_profile("~/x.profile.yaml").name == "engine-x"


def test_schema_and_loader_agree_on_every_built_in_profile(good):
    schema = SCHEMAS.parsed[SCHEMA]
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    for text in (good, *(path.read_text() for path in BUILTIN.glob("*.yaml"))):
        assert not list(validator.iter_errors(yaml.safe_load(text)))


def test_the_schema_explains_every_key():
    def keys(node):
        for key, inner in node.get("properties", {}).items():
            yield key, inner
            yield from keys(inner)

    schema = SCHEMAS.parsed[SCHEMA]
    unexplained = [key for part in (schema, *schema["definitions"].values()) for key, inner in keys(part) if not inner.get("description")]
    assert unexplained == []


def test_profiles_and_schema_are_in_the_wheel():
    """hatchling takes the whole package folder; nothing of it is ignored by git."""
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["packages"] == ["pytest_mtp"]
    files = [*BUILTIN.glob("*.yaml"), BUILTIN.parent / "schemas" / SCHEMA]
    done = subprocess.run(["git", "check-ignore", *files], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout == ""


def test_loading_a_sound_profile_imports_no_jsonschema(written):
    loading = f"from pytest_mtp.profiles.load import load_profile; load_profile({str(written())!r})"
    program = f"import sys; {loading}; print('jsonschema' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
