"""What every hostile file must come to: one clear error, or an answer; never a crash."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from pytest_mtp.checkpoint.errors import CheckpointError
from pytest_mtp.checkpoint.verdict import inspect_checkpoint
from pytest_mtp.core.errors import MtpError

fuzzed = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
"""The test's folder is one for all examples: each overwrites the file of the one before."""


def damage(raw: bytes) -> st.SearchStrategy[bytes]:
    """One byte of a good file changed, and in half of the cases its end cut off."""
    changed = st.tuples(st.integers(0, len(raw) - 1), st.integers(0, 255)).map(
        lambda place: raw[: place[0]] + bytes([place[1]]) + raw[place[0] + 1 :]
    )
    return st.tuples(changed, st.none() | st.integers(0, len(raw))).map(lambda made: made[0][: made[1]])


def one_clear_error(path: Path, raw: bytes, words: str, *, inspected: Path | None = None) -> None:
    """It names the file and says `words`."""
    path.write_bytes(raw)
    with pytest.raises(CheckpointError) as caught:
        inspect_checkpoint(str(inspected or path))
    assert words in str(caught.value)
    assert str(caught.value).startswith(str(path))


def answer_or_clear_error(path: Path, raw: bytes) -> None:
    """In one line."""
    path.write_bytes(raw)
    try:
        said = inspect_checkpoint(str(path)).reason
    except MtpError as error:
        said = str(error)
    assert said
    assert "\n" not in said
