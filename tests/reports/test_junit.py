"""Properties for JUnit XML."""

from __future__ import annotations

import pytest

from pytest_mtp.reports.junit import junit_properties
from tests.reports.full_report import ATTACKS, CASES, result, with_words
from tests.reports.test_printable import harmless


def test_a_failed_case() -> None:
    assert dict(junit_properties(CASES[0])) == {
        "mtp.outcome": "FAIL",
        "mtp.closes_gate": "true",
        "mtp.suite": "tools",
        "mtp.kind": "golden",
        "mtp.severity": "critical",
        "mtp.codes": "TOOL.args_empty,ANS.wrong",
        "mtp.reason": "TOOL.args_empty: asked for a city, got {}",
        "mtp.right": 1,
        "mtp.repeats": 3,
        "mtp.exchanges": 3,
        "mtp.evidence": "evidence/weather.jsonl",
    }


def test_measures_are_named_by_their_stratum() -> None:
    found = dict(junit_properties(CASES[4]))
    assert found["mtp.acceptance_rate.code"] == 0.52
    assert found["mtp.acceptance_rate.prose"] == 0.31
    assert "mtp.ttft_ms.prose" not in found


def test_absent_values_are_left_out() -> None:
    assert set(dict(junit_properties(result(outcome="PASS")))) == {
        "mtp.outcome",
        "mtp.closes_gate",
        "mtp.suite",
        "mtp.kind",
        "mtp.exchanges",
    }


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_values_are_scalars_that_xml_can_hold(attack: str) -> None:
    for name, value in junit_properties(with_words(attack).cases[0]):
        assert harmless(name)
        assert isinstance(value, (str, int, float))
        assert harmless(str(value))
