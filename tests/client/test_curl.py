"""The curl line means the same to a shell as the request meant to the server."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_mtp.client.curl import curl_line, curl_of
from pytest_mtp.core.ask import Ask, Sampling
from pytest_mtp.core.exchange import Exchange, Fault, Timeline

URL = "http://127.0.0.1:8000/v1/chat/completions"
STAND_IN = """#!/bin/sh
for word in "$@"; do printf '%s\\0' "$word"; done
case "$*" in *"@-"*) cat ;; esac
"""


@pytest.fixture(scope="module")
def bin_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bin")
    (folder / "curl").write_text(STAND_IN)
    (folder / "curl").chmod(0o755)
    return folder


def run(line: str, folder: Path, **variables: str) -> list[str]:
    """The words that curl got; behind the last NUL what came on its standard input."""
    script = folder / "line.sh"
    script.write_text(line)
    done = subprocess.run(
        ["/bin/sh", str(script)], env={"PATH": f"{folder}:{os.defpath}", **variables}, capture_output=True, check=True, timeout=30
    )
    assert done.stderr == b""
    return done.stdout.decode().split("\0")


def ask(content: str, *, stream: bool = False) -> Ask:
    return Ask(messages=({"role": "user", "content": content},), sampling=Sampling(max_tokens=3), stream=stream)


def body_of(words: list[str]) -> object:
    return json.loads(words[words.index("--data-raw") + 1])


NASTY = [
    "it's $HOME `id` $(id) \\ \" ! # ; & | > < * ? [a] {b} ~",
    "two\nlines\ttab\r",
    "\x00\x07\x1b[31m\x7f\x9b",
    "\ud83d lone, \u202e bidi, \u2028 separator, \U0001f600",
    "'; rm -rf / #",
    "--data",
    "@/etc/passwd",
    "",
]


@pytest.mark.parametrize("content", NASTY, ids=["shell", "space", "control", "unicode", "injection", "option", "file", "empty"])
def test_a_shell_gets_the_same_body(content: str, bin_folder: Path) -> None:
    line = curl_of(ask(content), url=URL, model="m")
    assert line.isascii()
    assert line.isprintable()
    words = run(line, bin_folder)
    assert body_of(words) == ask(content).body("m")
    assert URL in words


@settings(max_examples=25, deadline=None)
@given(content=st.text(max_size=50), model=st.text(max_size=20))
def test_any_text_survives_the_shell(content: str, model: str, bin_folder: Path) -> None:
    assert body_of(run(curl_of(ask(content), url=URL, model=model), bin_folder)) == ask(content).body(model)


def test_the_key_is_only_the_name_of_a_variable(bin_folder: Path) -> None:
    line = curl_of(ask("hi"), url=URL, model="m", api_key_env="MY_KEY")
    assert '-H "Authorization: Bearer $MY_KEY"' in line
    assert "Authorization: Bearer s3cret" in run(line, bin_folder, MY_KEY="s3cret")


@pytest.mark.parametrize("name", ["A B", "A;id", "$(id)", "1A", "A\n"], ids=ascii)
def test_a_name_that_is_no_variable_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no name of a shell variable"):
        curl_of(ask("hi"), url=URL, model="m", api_key_env=name)


def test_a_stream_is_not_buffered(bin_folder: Path) -> None:
    assert "-N" in run(curl_of(ask("hi", stream=True), url=URL, model="m"), bin_folder)
    assert "-N" not in run(curl_of(ask("hi"), url=URL, model="m"), bin_folder)


def test_a_hostile_address_stays_one_word(bin_folder: Path) -> None:
    url = "http://h/'; id #?a=1&b=$(id)"
    assert url in run(curl_of(ask("hi"), url=url, model="m"), bin_folder)


def test_a_body_too_long_for_an_argument_goes_through_standard_input(bin_folder: Path) -> None:
    long = ask("it's $HOME\n" * 30_000)
    words = run(curl_of(long, url=URL, model="m"), bin_folder)
    assert words[-3:-1] == ["--data-binary", "@-"]
    assert json.loads(words[-1]) == long.body("m")


def test_the_line_of_an_exchange_is_what_was_really_asked(bin_folder: Path) -> None:
    fault = Fault(kind="connect", code="INFRA.connect", message="")
    exchange = Exchange(ask=ask("hi"), url=URL, model="smol", fault=fault, timeline=Timeline(sent_ns=0))
    assert body_of(run(curl_line(exchange), bin_folder)) == ask("hi").body("smol")
