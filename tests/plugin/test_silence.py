"""No green job without a question: what is empty, lost or left out is an error or is told."""

from __future__ import annotations

import pytest

CASE = "schema_version: 1\nsuite: one\ncases:\n  - {id: sum, ask: \"What is 12 + 30? End with 'Answer: N'.\", expect: {number: 42}}\n"


@pytest.mark.parametrize("flag", ["--mtp-launch", "--mtp-server", "--mtp-suite", "--mtp-checkpoint", "--mtp-model", "--mtp-api-key-env"])
def test_an_option_that_is_given_and_empty_is_an_error(pytester: pytest.Pytester, flag: str) -> None:
    pytester.makepyfile("def test_it(): pass")
    result = pytester.runpytest_inprocess(flag, "")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{flag} is given and empty*"])


def test_a_suite_without_a_server_is_an_error(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_inprocess("--mtp-suite", "builtin:smoke")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--mtp-suite: there is no server to ask*"])


@pytest.fixture
def folders(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Called in `here`, which has an ini file with a server; a suite lies beside it."""
    here, elsewhere = pytester.mkdir("here"), pytester.mkdir("elsewhere")
    (here / "pytest.ini").write_text("[pytest]\nmtp_launch = fake\n")
    (elsewhere / "one.mtp.yaml").write_text(CASE)
    monkeypatch.chdir(here)
    return pytester


def test_an_ini_file_that_a_value_of_ours_hides_is_an_error(folders: pytest.Pytester) -> None:
    result = folders.runpytest_inprocess("-p", "no:cacheprovider", "--mtp-suite", "../elsewhere/one.mtp.yaml")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*write --mtp-suite=../elsewhere/one.mtp.yaml*"])


def test_with_an_equals_sign_the_ini_file_is_read(folders: pytest.Pytester) -> None:
    result = folders.runpytest_inprocess("-p", "no:cacheprovider", "--mtp-suite=../elsewhere/one.mtp.yaml")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*gate: open*"])


def test_who_names_a_case_runs_that_case_alone(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nmtp_launch = fake\nmtp_suite = builtin:smoke\n")
    (pytester.path / "one.mtp.yaml").write_text(CASE)
    pytester.runpytest_inprocess("-p", "no:cacheprovider", "one.mtp.yaml::sum").assert_outcomes(passed=1)


def test_what_was_skipped_is_told_with_its_reason(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "--mtp-launch", "fake", "--mtp-suite", "builtin:reasoning")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*skipped *builtin:reasoning::reasoning: unstreamed: the model showed*"])


def test_a_parameter_that_no_program_takes_is_refused(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_inprocess("--mtp-launch", "vllm?model=x%00y")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*parameter 'model' of the vllm server: expected *"])
