"""What a failed start shows of a log: the cause, and not what the shutdown says after it."""

from __future__ import annotations

import pytest

from pytest_mtp.servers.telling import MOST, telling_lines

TWO_PROCESSES = """\
(APIServer pid=7) INFO 11-29 12:00:00 [api_server.py:1] starting
(EngineCore_DP0 pid=9) ERROR 11-29 12:00:04 [core.py:857] EngineCore failed to start.
(EngineCore_DP0 pid=9) ERROR 11-29 12:00:04 [core.py:857] Traceback (most recent call last):
(EngineCore_DP0 pid=9) ERROR 11-29 12:00:04 [core.py:857]   File "core.py", line 848, in run
(EngineCore_DP0 pid=9) ERROR 11-29 12:00:04 [core.py:857] ValueError: No available memory for the cache blocks.
(EngineCore_DP0 pid=9) Process EngineCore_DP0:
(EngineCore_DP0 pid=9) Traceback (most recent call last):
(EngineCore_DP0 pid=9)   File "core.py", line 861, in run
(EngineCore_DP0 pid=9) ValueError: No available memory for the cache blocks.
(APIServer pid=7) Traceback (most recent call last):
(APIServer pid=7)   File "api_server.py", line 20, in main
(APIServer pid=7) RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}
Exception ignored in: <function Pool.__del__>
shutting down: 1 error was logged
"""
CHAINED = """\
Traceback (most recent call last):
  File "a.py", line 1, in load
OSError: [Errno 2] No such file or directory: '/models/config.json'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "b.py", line 1, in main
huggingface_hub.errors.HFValidationError: Repo id must be in the form 'name'
"""
WARNED = """\
ImportError: no module named fast_path, going on without it
Traceback (most recent call last):
  File "a.py", line 1, in load
torch.cuda.OutOfMemoryError: CUDA out of memory
"""


@pytest.mark.parametrize(
    ("log", "lines"),
    [
        pytest.param("loading\nerror: no such file x.gguf\nbye\n", ["error: no such file x.gguf"], id="trouble"),
        pytest.param("Traceback (most recent call last):\n  File x\nValueError: bad\n\n", ["ValueError: bad"], id="traceback"),
        pytest.param("one\ntwo\n", ["two"], id="last-line"),
        pytest.param("", ["it wrote nothing"], id="nothing"),
        pytest.param(
            TWO_PROCESSES,
            ["(EngineCore_DP0 pid=9) ERROR 11-29 12:00:04 [core.py:857] ValueError: No available memory for the cache blocks."],
            id="cause-once",
        ),
        pytest.param(
            CHAINED,
            [
                "OSError: [Errno 2] No such file or directory: '/models/config.json'",
                "huggingface_hub.errors.HFValidationError: Repo id must be in the form 'name'",
            ],
            id="chained",
        ),
        pytest.param(WARNED, ["torch.cuda.OutOfMemoryError: CUDA out of memory"], id="raised-before-mentioned"),
        pytest.param(
            "Traceback (most recent call last):\n  File x\nValueError: bad\nTraceback (most recent call last):\nKeyboardInterrupt: \n",
            ["ValueError: bad"],
            id="interrupt",
        ),
    ],
)
def test_the_telling_lines_of_a_log(tmp_path, log, lines):
    (tmp_path / "log").write_text(log)
    assert list(telling_lines(tmp_path / "log")) == lines


def test_patterns_of_a_profile_come_first_in_their_order(tmp_path):
    (tmp_path / "log").write_text("warmup done\nbad magic 7\nValueError: late\nassert n > 0\n")
    assert telling_lines(tmp_path / "log", ["^assert", "magic"]) == ("assert n > 0", "bad magic 7")
    assert telling_lines(tmp_path / "log", ["nowhere"]) == ("ValueError: late",)


def test_a_missing_log_tells_nothing(tmp_path):
    assert telling_lines(tmp_path / "none") == ("it wrote nothing",)


def test_only_a_few_lines_are_shown(tmp_path):
    (tmp_path / "log").write_text("".join(f"Traceback (most recent call last):\n  x\nValueError: {n}\n" for n in range(50)))
    assert telling_lines(tmp_path / "log") == tuple(f"ValueError: {n}" for n in range(MOST))


def test_of_a_very_long_log_beginning_and_end_are_read(tmp_path):
    first = b"Traceback (most recent call last):\n  x\nValueError: at the beginning\n"
    (tmp_path / "log").write_bytes(first + b"all is well\xff\n" * 4_000_000)
    assert telling_lines(tmp_path / "log") == ("ValueError: at the beginning",)
    (tmp_path / "log").write_bytes(b"all is well\n" * 4_000_000 + first)
    assert telling_lines(tmp_path / "log") == ("ValueError: at the beginning",)
