"""The check of admission against the fake: a real client, real threads, real refusals."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from pytest_mtp.checks.admission import run
from pytest_mtp.checks.kinds import EXCLUSIVE, check_for
from pytest_mtp.core.case import Case, Source
from pytest_mtp.core.errors import NotOffered
from pytest_mtp.core.exchange import Exchange, Fault, Timeline
from pytest_mtp.core.verdict import Verdict
from pytest_mtp.plugin.context import CaseContext
from pytest_mtp.selftest.server import FakeServer
from pytest_mtp.servers.attach import attach


def case(**params: Any) -> Case:
    return Case(id="admission", suite="s", source=Source(path="s.mtp.yaml", line=1), check="admission", params=params)


@contextmanager
def talking_to(fake: FakeServer) -> Iterator[CaseContext]:
    with fake:
        server = attach(fake.url, model=None, api_key_env=None, api_key=None, timeout_s=30)
        fake.seen.clear()
        nothing: Any = None
        yield CaseContext(
            server=server,
            lease=nothing,
            pool=nothing,
            alone=server.client.ask,
            once=lambda ask: server.client.ask(ask, retried=False),
            control=nothing,
        )
        server.client.close()


def seen(verdict: Verdict) -> dict[str, tuple[float | None, str]]:
    return {measure.name: (measure.value, measure.note.split(":")[0].split(";")[0]) for measure in verdict.measures}


def test_it_is_built_in_and_alone() -> None:
    assert check_for("admission") is run
    assert "admission" in EXCLUSIVE


def test_a_proxy_that_admits_four_before_a_worker_that_serves_one() -> None:
    with talking_to(FakeServer(concurrency=1, workers=1, door=4, token_delay_ms=20)) as context:
        verdict = run(case(), context)
    assert verdict.outcome == "PASS"
    assert seen(verdict) == {"requests_admitted": (4.0, "exactly"), "requests_run_at_once": (1.0, "exactly")}
    (finding,) = verdict.findings
    assert (finding.code, finding.severity) == ("PERF.admission", "note")
    assert "admits 4 requests at once, and the engine runs 1" in finding.title


def test_an_engine_that_tells_four_and_turns_the_second_away() -> None:
    with talking_to(FakeServer(concurrency=4, max_concurrency=1, token_delay_ms=20)) as context:
        verdict = run(case(), context)
    assert verdict.outcome == "FAIL"
    assert verdict.reason.startswith("PERF.admission: no more than 1 at once")
    assert seen(verdict)["requests_admitted"] == (1.0, "exactly")
    assert verdict.exchanges == 4


def test_an_honest_door_of_four_before_an_engine_of_four() -> None:
    with talking_to(FakeServer(concurrency=4, workers=4, door=4, token_delay_ms=20)) as context:
        verdict = run(case(), context)
    assert (verdict.outcome, verdict.findings) == ("PASS", ())
    assert seen(verdict)["requests_admitted"] == (4.0, "exactly")
    assert seen(verdict)["requests_run_at_once"] == (4.0, "at least")


def test_a_queue_that_turns_nobody_away() -> None:
    with talking_to(FakeServer(concurrency=2, workers=2, token_delay_ms=20)) as context:
        verdict = run(case(most=8), context)
        widths = len(context.exchanges)
    assert (verdict.outcome, verdict.findings) == ("PASS", ())
    assert seen(verdict) == {"requests_admitted": (8.0, "at least"), "requests_run_at_once": (2.0, "exactly")}
    assert widths == verdict.exchanges <= 48


def test_the_prompts_share_no_beginning_and_the_budget_holds() -> None:
    fake = FakeServer(concurrency=8)
    with talking_to(fake) as context:
        verdict = run(case(most=8, requests=7, max_tokens=8), context)
        bodies = list(fake.seen)
    assert verdict.exchanges == len(bodies) == 7
    prompts = [body["messages"][0]["content"] for body in bodies]
    assert len({prompt.split(":")[0] for prompt in prompts}) == 7
    assert all(body["stream"] and body["max_tokens"] <= 32 for body in bodies)
    assert seen(verdict)["requests_admitted"] == (4.0, "at least")


def test_what_is_asked_for_and_not_reached_is_inconclusive() -> None:
    with talking_to(FakeServer(concurrency=8)) as context:
        verdict = run(case(most=4, admits=8), context)
    assert verdict.outcome == "INCONCLUSIVE"
    assert verdict.reason == "8 at once was not reached: 4 at once is the most that this case sends"


def test_no_time_for_a_second_burst() -> None:
    with talking_to(FakeServer(concurrency=8, token_delay_ms=20)) as context:
        verdict = run(case(seconds=0.001), context)
    assert verdict.exchanges == 1
    assert "2 at once would take longer than this case has" in verdict.measures[0].note


@pytest.mark.parametrize("fault", ["server-error", "reset"])
def test_requests_that_fail_are_blocked_and_no_width(fault: str) -> None:
    with talking_to(FakeServer()) as context:
        server = context.server

        class Broken(CaseContext):
            def burst(self, asks: Any) -> list[Exchange]:
                code, kind = {"server-error": ("INFRA.5xx", "server_error"), "reset": ("INFRA.reset", "reset")}[fault]
                broken = Fault(kind=kind, code=code, message="gone")  # type: ignore[arg-type]
                return [Exchange(ask=ask, url="u", model="m", fault=broken, timeline=Timeline(sent_ns=0)) for ask in asks]

        broken = Broken(server=server, lease=None, pool=None, alone=None, once=None, control=None)  # type: ignore[arg-type]
        verdict = run(case(), broken)
    assert verdict.outcome == "BLOCKED"
    assert verdict.findings[0].title == "gone (1 at once)"
    assert verdict.measures == ()


def test_a_server_without_streams_is_skipped() -> None:
    with talking_to(FakeServer()) as context:

        class Unary(CaseContext):
            def burst(self, asks: Any) -> list[Exchange]:
                refused = Fault(kind="refused", code="PROTO.refused", message="stream is not supported", status=400)
                return [Exchange(ask=ask, url="u", model="m", fault=refused, timeline=Timeline(sent_ns=0)) for ask in asks]

        unary = Unary(server=context.server, lease=None, pool=None, alone=None, once=None, control=None)  # type: ignore[arg-type]
        with pytest.raises(NotOffered, match="stream is not supported"):
            run(case(), unary)


@pytest.mark.parametrize(("served", "outcome"), [(6, "PASS"), (0, "BLOCKED")])
def test_dropped_connections_beside_served_ones_are_turned_away_and_alone_they_are_a_failure(served: int, outcome: str) -> None:
    """A server that takes five new connections at a time drops some of eight; one that drops all of them has failed."""
    with talking_to(FakeServer(concurrency=8)) as context:

        class Backlog(CaseContext):
            def burst(self, asks: Any) -> list[Exchange]:
                dropped = Fault(kind="reset", code="INFRA.reset", message="dropped")
                fine = asks if len(asks) < 8 else asks[:served]
                lost = [Exchange(ask=ask, url="u", model="m", fault=dropped, timeline=Timeline(sent_ns=0)) for ask in asks[len(fine) :]]
                return [*super().burst(fine), *lost]

        client = context.server.client
        backlog = Backlog(
            server=context.server,
            lease=None,  # type: ignore[arg-type]
            pool=None,  # type: ignore[arg-type]
            alone=client.ask,
            once=lambda ask: client.ask(ask, retried=False),
            control=None,  # type: ignore[arg-type]
        )
        verdict = run(case(most=8), backlog)
    assert verdict.outcome == outcome
    assert [finding.code for finding in verdict.findings][:1] == ["PERF.admission" if served else "INFRA.reset"]
