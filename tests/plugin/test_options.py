"""Command line before environment before ini before default, and each wrong value is one usage error."""

from __future__ import annotations

import pytest

from pytest_mtp.plugin.options import OPTIONS, Origin, values_of

COMMAND_LINE = {"mtp_gate": "proof"}
INI = {"mtp_gate": "explore", "mtp_suite": ["builtin:smoke", "builtin:tools"]}


@pytest.mark.parametrize(
    ("options", "environ", "ini", "expected"),
    [
        ({"mtp_gate": "proof"}, {"PYTEST_MTP_GATE": "explore"}, {"mtp_gate": "alarm"}, ("proof", "command line")),
        ({}, {"PYTEST_MTP_GATE": "explore"}, {"mtp_gate": "proof"}, ("explore", "environment")),
        ({}, {}, {"mtp_gate": "proof"}, ("proof", "ini")),
        ({}, {"PYTEST_MTP_GATE": "  "}, {"mtp_gate": ""}, ("alarm", "default")),
    ],
    ids=["command line", "environment", "ini", "blank is not set"],
)
def test_precedence(options: dict[str, object], environ: dict[str, str], ini: dict[str, object], expected: tuple[str, Origin]) -> None:
    value = values_of(options, ini, environ)["gate"]
    assert (value.words[0], value.origin) == expected


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        ({"PYTEST_MTP_SERVR": "http://x"}, r"PYTEST_MTP_SERVR is none of ours \(did you mean 'PYTEST_MTP_SERVER'\?\)"),
        ({"PYTEST_MTP_SERVER": ""}, "PYTEST_MTP_SERVER is set and empty"),
    ],
    ids=["misspelt", "empty"],
)
def test_a_variable_that_would_skip_the_gate_in_silence_is_refused(environ: dict[str, str], message: str) -> None:
    with pytest.raises(pytest.UsageError, match=message):
        values_of({}, {}, environ)


@pytest.mark.parametrize(
    "ini",
    [
        '[tool.pytest]\nmtp_server = "http://127.0.0.1:1"\nmtp_timeout = 5\nmtp_suite = ["builtin:smoke"]\n',
        '[tool.pytest.ini_options]\nmtp_server = "http://127.0.0.1:1"\nmtp_timeout = "5"\nmtp_suite = "builtin:smoke"\n',
    ],
    ids=["native", "ini_options"],
)
def test_the_natural_forms_of_an_ini_file(pytester: pytest.Pytester, ini: str) -> None:
    pytester.makepyprojecttoml(ini)
    result = pytester.runpytest_inprocess("--collect-only", "-q")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["builtin:smoke::*"])


def test_a_repeatable_option_is_split_at_blanks_in_the_environment() -> None:
    assert values_of({}, {}, {"PYTEST_MTP_SUITE": "builtin:smoke own.mtp.yaml"})["suite"].words == ("builtin:smoke", "own.mtp.yaml")


def test_names_of_the_contract() -> None:
    assert {option.flag for option in OPTIONS} >= {
        "--mtp-server", "--mtp-launch", "--mtp-model", "--mtp-api-key-env", "--mtp-suite", "--mtp-gate", "--mtp-inconclusive",
        "--mtp-concurrency", "--mtp-timeout", "--mtp-report",
    }  # fmt: skip
    server = next(option for option in OPTIONS if option.name == "api-key-env")
    assert (server.key, server.variable) == ("mtp_api_key_env", "PYTEST_MTP_API_KEY_ENV")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--mtp-gate", "alrm"], "*--mtp-gate (from the command line): 'alrm' is none of alarm, proof, explore*"),
        (["--mtp-concurrency", "many"], "*--mtp-concurrency: expected a number from 1 to 4096 or `auto`, got 'many'*"),
        (["--mtp-concurrency", "0"], "*--mtp-concurrency: expected a number from 1 to 4096*"),
        (["--mtp-timeout", "soon"], "*--mtp-timeout: expected seconds above 0*"),
        (["--mtp-timeout", "nan"], "*--mtp-timeout: expected seconds above 0*"),
        (["--mtp-api-key-env", "sk-not-a-name"], "*expected the NAME of a variable*"),
        (["--mtp-api-key-env", "UNSET_KEY_OF_THIS_TEST"], "*the variable UNSET_KEY_OF_THIS_TEST is not set*"),
        (["--mtp-launch", "fake"], "*--mtp-server and --mtp-launch: give one of them*"),
        (["--mtp-server", "http://127.0.0.1:2"], "*several servers are not compared yet*"),
        (["--mtp-suite", "builtin:smok"], "*no built-in suite 'smok' (did you mean 'smoke'?)*"),
        (["--mtp-suite", "nowhere.mtp.yaml"], "*--mtp-suite: nowhere.mtp.yaml: no such file or folder*"),
    ],
    ids=lambda value: "-".join(value)[:40] if isinstance(value, list) else "",
)
def test_wrong_usage_is_one_message_and_exit_code_4(pytester: pytest.Pytester, words: list[str], message: str) -> None:
    result = pytester.runpytest_inprocess("--mtp-server", "http://127.0.0.1:1", *words)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([message])
    assert "Traceback" not in result.stderr.str()


def test_a_pasted_key_is_not_repeated(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_inprocess("--mtp-server", "http://127.0.0.1:1", "--mtp-api-key-env", "sk-very-secret")
    assert "very-secret" not in result.stderr.str() + result.stdout.str()


def test_help_names_ini_key_and_variable_of_each_option(pytester: pytest.Pytester) -> None:
    words = " ".join(pytester.runpytest_inprocess("--help").stdout.str().split())
    for option in OPTIONS:
        assert f"{option.flag}={option.metavar}" in words
        assert option.variable in words
