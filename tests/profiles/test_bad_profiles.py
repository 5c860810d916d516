"""Each mistake in a profile has one message with its line."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from pytest_mtp.core.errors import SuiteError
from pytest_mtp.profiles.load import SCHEMA, SCHEMAS, load_profile
from pytest_mtp.suites.parsing import parse

BAD = tomllib.loads(Path(__file__).with_name("bad.toml").read_text(encoding="utf-8"))
HEAD = "schema_version: 1\nprofile: x\ncommand: [a]\n"
ALIASES = list(zip("abcdefghijkl", "bcdefghijklm", strict=True))
HOSTILE = {
    "binary": b"\x00\xff\xfe",
    "utf-16": HEAD.encode("utf-16"),
    "deep": HEAD + "log: " + "[" * 3000 + "]" * 3000 + "\n",
    "bomb": "a: &a [x, x, x]\n" + "".join(f"{two}: &{two} [*{one}, *{one}, *{one}, *{one}]\n" for one, two in ALIASES),
    "long": HEAD + "description: " + "x" * 60_000_000 + "\n",
}  # fmt: skip


def refusal(path):
    with pytest.raises(SuiteError) as caught:
        load_profile(path, shown="x.yaml")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1000
    return str(caught.value)


@pytest.mark.parametrize("name", BAD)
def test_a_bad_profile_is_refused_with_its_message(written, good, name):
    case = BAD[name]
    assert "old" not in case or case["old"] in good
    said = refusal(written(good.replace(case["old"], case["new"], 1) if "old" in case else case["new"]))
    assert said == f"x.yaml:{case['says']}" if "says" in case else said.startswith("x.yaml:")


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused_like_others(written, name):
    assert refusal(written(HOSTILE[name])).startswith("x.yaml:")


@pytest.mark.parametrize("name", BAD)
def test_the_quick_verdict_is_that_of_jsonschema(good, name):
    case = BAD[name]
    text = good.replace(case["old"], case["new"], 1) if "old" in case else case["new"]
    try:
        value = parse(text.encode(), "x").value
    except SuiteError:
        return  # no YAML, no verdict
    assert SCHEMAS.acceptor(SCHEMA)(value) is not any(SCHEMAS.complaints(value, SCHEMA))
