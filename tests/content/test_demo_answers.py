"""Critical cases are found by experiment: a real 135M model answers each of them, and lossy speculation does not."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from pytest_mtp.core.case import Case, Suite
from pytest_mtp.judge.judgement import Judgement
from pytest_mtp.judge.pipeline import judge
from pytest_mtp.judge.sandbox.lend import full_context
from pytest_mtp.servers.launch import launch
from pytest_mtp.servers.launched import LaunchedServer

pytestmark = pytest.mark.engine

HONEST: Mapping[str, Mapping[str, Any]] = {"off": {"speculation": False}, "depth 2": {"depth": 2}, "depth 3": {"depth": 3}}
LOSSY = {"synth_rates": [0.7, 0.5, 0.3]}


def critical(suites: Mapping[str, Suite], *names: str) -> list[Case]:
    return [case for name in names for case in suites[name].cases if case.severity == "critical"]


def judgements(case: Case, server: LaunchedServer) -> list[Judgement]:
    """One for each way in which the case is asked."""
    assert case.ask is not None
    asks = [dataclasses.replace(case.ask, stream=mode == "stream") for mode in case.modes]
    return [judge(server.client.ask(ask), case.expect, context=full_context(case.severity)) for ask in asks]


@pytest.fixture(params=HONEST, scope="module")
def honest(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LaunchedServer]:
    server = launch("demo", run_dir=tmp_path_factory.mktemp("demo"), params=HONEST[request.param], timeout_s=180)
    yield server
    server.stop()


def test_the_demo_model_answers_every_critical_case(honest: LaunchedServer, suites: Mapping[str, Suite]) -> None:
    missed = {
        case.id: judgement.findings
        for case in critical(suites, "smoke", "tools")
        for judgement in judgements(case, honest)
        if judgement.outcome != "PASS"
    }
    assert missed == {}


def test_lossy_speculation_misses_smoke_cases(tmp_path_factory: pytest.TempPathFactory, suites: Mapping[str, Suite]) -> None:
    server = launch("demo", run_dir=tmp_path_factory.mktemp("lossy"), params=LOSSY, timeout_s=180)
    try:
        short = [dataclasses.replace(case, ask=_cut(case)) for case in critical(suites, "smoke")]
        missed = [case.id for case in short if any(judgement.outcome == "FAIL" for judgement in judgements(case, server))]
    finally:
        server.stop()
    assert len(missed) >= 3


def _cut(case: Case) -> Any:
    """Word salad may go on to the limit: 64 tokens are enough for every right answer here."""
    assert case.ask is not None
    return dataclasses.replace(case.ask, sampling=dataclasses.replace(case.ask.sampling, max_tokens=64))
