"""The page about launch profiles: its example starts and answers, its tables are generated."""

from __future__ import annotations

import re

import pytest

from docs.build import PROFILES, profile_tables

(EXAMPLE,) = re.findall(r"^```yaml\n(.*?)^```$", PROFILES.read_text(), flags=re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("query", ["", "?depth=3&seed=7", "?speculation=off"], ids=["defaults", "parameters", "off"])
def test_the_example_starts_and_answers(pytester: pytest.Pytester, query: str) -> None:
    (pytester.path / "own.profile.yaml").write_text(EXAMPLE)
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "--mtp-launch", f"own.profile.yaml{query}", "builtin:smoke")
    assert result.ret == pytest.ExitCode.OK, result.stdout.str()


def test_the_tables_of_parameters_are_generated_from_the_profiles() -> None:
    assert profile_tables() in PROFILES.read_text(), "run: python docs/build.py"
