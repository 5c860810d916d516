"""Each file of bad/ is refused with one message: line, what was expected, where in the document."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from pytest_mtp.core.errors import SuiteError
from pytest_mtp.suites.load import load_suite
from pytest_mtp.suites.parsing import Backend, backends, parse

BAD = Path(__file__).with_name("bad")
FILES = sorted(path.stem for path in BAD.glob("*.yaml"))
EXPECTED: dict[str, str] = tomllib.loads((BAD / "expected.toml").read_text(encoding="utf-8"))


def test_every_file_has_its_message() -> None:
    assert sorted(EXPECTED) == FILES
    assert len(FILES) > 200


@pytest.mark.parametrize("name", FILES)
def test_a_bad_suite_is_refused_with_its_message(name: str) -> None:
    with pytest.raises(SuiteError) as caught:
        load_suite(BAD / f"{name}.yaml", shown=f"{name}.yaml")
    assert str(caught.value) == f"{name}.yaml:{EXPECTED[name]}"


def outcome(content: bytes, backend: Backend) -> object:
    try:
        return parse(content, "x", backend=backend)
    except SuiteError as error:
        return str(error)


@pytest.mark.skipif(len(backends()) == 1, reason="PyYAML was built without libyaml")
@pytest.mark.parametrize("name", FILES)
def test_both_parsers_say_the_same_of_a_bad_suite(name: str) -> None:
    content = (BAD / f"{name}.yaml").read_bytes()
    assert outcome(content, "python") == outcome(content, "libyaml")


def test_a_file_that_does_not_exist_is_one_message() -> None:
    with pytest.raises(SuiteError, match=r"^gone\.mtp\.yaml:1: the file cannot be read: No such file"):
        load_suite(BAD / "gone.mtp.yaml", shown="gone.mtp.yaml")


def test_a_folder_in_place_of_a_file_is_one_message() -> None:
    with pytest.raises(SuiteError, match=r"^bad:1: the file cannot be read: Is a directory"):
        load_suite(BAD, shown="bad")
