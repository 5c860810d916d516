"""The fake as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from contextlib import contextmanager

import pytest

from pytest_mtp.selftest.fake import DIED


@contextmanager
def process(*arguments, **options):
    command = [sys.executable, "-m", "pytest_mtp.selftest.fake", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options) as child:
        try:
            yield child
        finally:
            child.kill()


def address(child):
    words = child.stdout.readline().split()
    assert words[0] == "listening"
    return words[1]


def post(root, prompt="What is 2+3? Only the number."):
    body = json.dumps({"messages": [{"role": "user", "content": prompt}]}).encode()
    with urllib.request.urlopen(f"{root}/v1/chat/completions", body, timeout=20) as answer:
        return json.load(answer)["choices"][0]["message"]["content"]


def test_it_listens_when_it_says_so_and_ends_cleanly_on_sigterm():
    with process("--alias", "mine") as child:
        assert post(address(child)) == "5"
        child.terminate()
        assert child.wait(20) == 0


def test_it_ends_with_the_pipe_that_it_watches():
    read, write = os.pipe()
    with process("--watch-fd", str(read), pass_fds=(read,)) as child:
        os.close(read)
        address(child)
        assert child.poll() is None
        os.close(write)
        assert child.wait(20) == 0


def test_a_crash_is_a_status(tmp_path):
    with process("--fault", "die-after-1", cwd=None) as child:
        root = address(child)
        assert post(root) == "5"
        with pytest.raises(OSError, match=r"."):
            post(root)
        assert child.wait(20) == DIED


def test_it_takes_an_answer_book(tmp_path):
    book = tmp_path / "book.json"
    book.write_text('{"Who?": "Ann"}')
    with process("--answers", str(book)) as child:
        assert post(address(child), "Who?") == "Ann"


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--fault", "nonsense"], "nonsense"),
        (["--dialect", "nonsense"], "nonsense"),
        (["--answers", "no-such-file.json"], "no-such-file.json"),
    ],
    ids=["fault", "dialect", "book"],
)
def test_what_it_cannot_use_is_one_line_and_status_2(arguments, word):
    with process(*arguments) as child:
        assert child.wait(20) == 2
        said = child.stderr.read()
        assert word in said
        assert said.count("\n") == 1
