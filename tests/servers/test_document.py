"""Careful reading of documents that a stranger wrote."""

from __future__ import annotations

import json

import pytest

from pytest_mtp.servers.engines.document import count
from pytest_mtp.servers.engines.flags import flag, flags, number


@pytest.mark.parametrize(("value", "expected"), [(0, 0), (3, 3), (3.0, 3), (2**62, 2**62)])
def test_a_count_is_a_whole_number(value, expected):
    assert count(value) == expected


@pytest.mark.parametrize("plain", ["-1", "2.5", "NaN", "Infinity", "-Infinity", "true", "null", '"3"', "[3]", "1e400", "1" * 400])
def test_anything_else_is_no_count(plain):
    assert count(json.loads(plain)) is None


def test_options_are_read_glued_and_apart():
    given = flags(["run", "--model-path", "/m", "--depth=3", "--eager", "--port", "80", "--port", "81", "-x", "--", "--last"])
    assert given == {"model_path": "/m", "depth": "3", "eager": "", "port": "81", "last": ""}
    assert (flag(given, "model", "model_path"), flag(given, "eager"), flag({}, "model")) == ("/m", None, None)


@pytest.mark.parametrize(("value", "expected"), [("3", 3), ("", None), ("-3", None), ("3.5", None), ("٣", None), ("9" * 40, None)])
def test_a_number_is_read_from_an_option(value, expected):
    assert number({"depth": value}, "depth") == expected
