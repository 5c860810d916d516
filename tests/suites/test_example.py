"""The example of the public contract loads."""

from __future__ import annotations

from pathlib import Path

from pytest_mtp.core.case import Expect, Source, Suite
from pytest_mtp.suites.load import load_suite

EXAMPLE = Path(__file__).with_name("good") / "arithmetic.yaml"


def test_the_example_of_the_contract_loads() -> None:
    suite = load_suite(EXAMPLE, shown="suites/arithmetic.mtp.yaml")
    apples, weather = suite.cases
    assert (suite.name, apples.id, weather.id) == ("arithmetic", "apples", "weather-two-cities")
    assert apples.source == Source(path="suites/arithmetic.mtp.yaml", line=9)
    assert apples.expect == (Expect(kind="number", spec=32),)
    assert (apples.repeats, apples.severity, apples.modes, apples.kind) == (3, "model", ("unary",), "golden")
    assert apples.ask is not None
    assert apples.ask.sampling.max_tokens == 256
    assert weather.kind == "tools"
    assert weather.ask is not None
    assert [tool["function"]["name"] for tool in weather.ask.tools] == ["get_weather"]


def test_a_suite_survives_the_border_between_processes() -> None:
    suite = load_suite(EXAMPLE)
    assert Suite.from_dict(suite.to_dict()).to_dict() == suite.to_dict()
