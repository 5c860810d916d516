"""`expect` mappings of Python tests."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_mtp.core.case import Expect
from pytest_mtp.core.errors import SuiteError, UsageError
from pytest_mtp.suites.inline import parse_expect

TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}


def test_a_mapping_of_a_python_test_is_read_like_one_of_a_file() -> None:
    written = {"calls": ({"name": "f", "arguments": {"city": {"one_of": ("Rome", "Roma")}}},), "ordered": True}
    (expect,) = parse_expect(written, (TOOL,))
    spec = [{"name": "f", "arguments": {"city": {"one_of": ["Rome", "Roma"]}}}]
    assert expect == Expect(kind="calls", spec=spec, options={"ordered": True})


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ({"numbr": 1}, "expect: unknown key 'numbr' (did you mean 'number'?) (at numbr)"),
        ({}, "expect: the mapping is empty"),
        ({"number": "1"}, "expect: expected a number, or a mapping with 'value', got '1' (write it without quotes) (at number)"),
        ({"number": float("nan")}, "expect: expected a number, or a mapping with 'value', got nothing (at number)"),
        ({"contains": {"a", "b"}}, "expect: cannot put set into a record"),
        ({"calls": [{"name": "g"}]}, "expect: the case does not offer a tool 'g'; it offers: f (at calls[0].name)"),
        ({1: 2}, "expect: unknown key '1'; known are: number, choice"),
    ],
    ids=["unknown kind", "empty", "text", "NaN", "set", "tool", "key that is no text"],
)
def test_a_wrong_mapping_is_one_message_without_a_line(written: Any, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_expect(written, (TOOL,))
    assert str(caught.value).startswith(message)
    assert not isinstance(caught.value, SuiteError)
