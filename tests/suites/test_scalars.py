"""Plain scalars are those of YAML 1.2, whatever YAML 1.1 makes of them."""

from __future__ import annotations

import pytest

from pytest_mtp.suites.parsing import Backend, backends, parse
from pytest_mtp.suites.scalars import resolve

# text -> YAML 1.2; the comment says what PyYAML's own loaders give
TABLE = {
    "no": "no",  # False
    "No": "No",  # False
    "yes": "yes",  # True
    "on": "on",  # True
    "off": "off",  # False
    "y": "y",
    "n": "n",
    "true": True,
    "True": True,
    "TRUE": True,
    "tRUE": "tRUE",
    "false": False,
    "null": None,
    "Null": None,
    "NULL": None,
    "~": None,
    "": None,
    "nil": "nil",
    "none": "none",
    "12:30": "12:30",  # 750
    "12:30:45": "12:30:45",  # 45045
    "1:2.5": "1:2.5",  # 62.5
    "010": 10,  # 8
    "0o10": 8,  # "0o10"
    "0o8": "0o8",
    "0x1f": 31,
    "0x1F": 31,
    "-0x1f": "-0x1f",  # -31
    "0b101": "0b101",  # 5
    "1_000": "1_000",  # 1000
    "1_000.5": "1_000.5",  # 1000.5
    "+12": 12,
    "-0": 0,
    "1e3": 1000.0,  # "1e3"
    "1E-3": 0.001,  # "1E-3"
    "1.5e3": 1500.0,  # "1.5e3"
    "1.": 1.0,
    ".5": 0.5,
    "-.5": -0.5,
    "+.5e1": 5.0,
    ".": ".",
    "-": "-",
    "e3": "e3",
    "1e": "1e",
    "1.2.3": "1.2.3",
    "2026-01-31": "2026-01-31",  # a date
    "2026-01-31T12:30:00Z": "2026-01-31T12:30:00Z",  # a datetime
    "2026-01-31 12:30:00": "2026-01-31 12:30:00",  # a datetime
    "=": "=",  # an error
    "inf": "inf",
    "NaN": "NaN",
    "Infinity": "Infinity",
    "٣": "٣",  # a digit that is not ASCII
    "１２": "１２",
    "1,000": "1,000",
    "50%": "50%",
    "1\n": "1\n",
}


@pytest.mark.parametrize(("text", "value"), TABLE.items(), ids=[repr(text) for text in TABLE])
def test_a_plain_scalar_is_what_yaml_1_2_says(text: str, value: object) -> None:
    assert resolve(text) == value
    assert type(resolve(text)) is type(value)


@pytest.mark.parametrize("text", [".inf", "-.inf", "+.INF", ".nan", ".NaN", "1e999", "-1e999", "9" * 5000, "0x" + "f" * 5000])
def test_numbers_that_json_cannot_carry_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"quotes|too large"):
        resolve(text)


@pytest.mark.parametrize("backend", backends())
@pytest.mark.parametrize("text", [text for text in TABLE if "\n" not in text], ids=repr)
def test_quotes_keep_text_as_text(text: str, backend: Backend) -> None:
    assert parse(f"- '{text}'\n- \"{text}\"\n".encode(), "x", backend=backend).value == [text, text]


@pytest.mark.parametrize("backend", backends())
def test_keys_are_text_as_written(backend: Backend) -> None:
    document = parse(b"no: 1\n12: 2\n1.50: 3\ntrue: 4\nnull: 5\n", "x", backend=backend)
    assert document.value == {"no": 1, "12": 2, "1.50": 3, "true": 4, "null": 5}
