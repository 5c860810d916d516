"""Servers that are unusual and lawful: no probe accuses any of them, and every probe still reaches what it is for."""

from __future__ import annotations

import pytest

from pytest_mtp.selftest import FakeServer
from pytest_mtp.selftest.dialects import DIALECTS
from pytest_mtp.suites.shipped import GROUPS
from tests.selftest.test_built_in_suites import cases_of, talking_to, verdict_on

FAULTS = {"no-verified-logprobs": {"PROTO.logprobs_hollow"}, "no-tools": {"TOOL.template"}}
"""What these lack is told: the table of codes has both at severity `model`, which closes no gate."""

OPEN = {
    "coarse-chunks": {"stream_timing"},
    "no-usage": {"context_ladder", "prompt_tokens", "cut_calls", "prefix_cache", "budgets"},
    "no-cached-tokens": {"prefix_cache"},
    "no-metrics": {"prefix_cache"},
    "no-logprobs": {"logprobs"},
    "no-tools": {"coarse_calls", "cut_calls", "tool_choice"},
}
"""Probes that cannot look, by quirk; `reasoning` looks only where the model reasons."""


def dialects(name):
    """A model that reasons, so that no probe is left out."""
    return [name] if name in ("reasoning", "reasoning-content") else [name, "reasoning-content"]


@pytest.mark.parametrize("name", DIALECTS)
def test_a_quirk_is_not_accused_by_any_probe(name):
    with FakeServer(dialects=dialects(name)) as fake, talking_to(fake) as context:
        verdicts = {case.check: verdict_on(case, context) for suite in (*GROUPS["probes"], "soak") for case in cases_of(suite)}
    harmful = {found.code for verdict in verdicts.values() if verdict for found in verdict.findings if found.severity != "note"}
    assert harmful == FAULTS.get(name, set())
    blind = {kind for kind, verdict in verdicts.items() if verdict is None or verdict.outcome == "INCONCLUSIVE"}
    assert blind <= OPEN.get(name, set())
