"""The drafting check: each way in which a drafter stops, what the server's own words prove, and what is no finding."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from pytest_mtp.checks.drafting import run
from pytest_mtp.checks.drafting_conditions import FORMAT, greedy, long_text, others
from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import Case, Source
from pytest_mtp.core.errors import NotOffered
from pytest_mtp.core.exchange import Exchange, Fault, FaultKind, Timeline
from pytest_mtp.core.facts import SpecDecode
from pytest_mtp.core.verdict import Verdict
from pytest_mtp.judge.degeneration.loops import find_loop
from tests.checks.simulated import Simulated

CONDITIONS = ("greedy", "sampled_low", "sampled", "tools", "structured", "long")
KNOWN: Mapping[str, Callable[[Ask], bool]] = {
    "sampled_low": lambda ask: 0 < (ask.sampling.temperature or 0) < 0.1,
    "sampled": lambda ask: (ask.sampling.temperature or 0) > 0.1,
    "tools": lambda ask: bool(ask.tools),
    "structured": lambda ask: ask.response_format is not None,
    "long": lambda ask: len(str(ask.messages[0]["content"])) > 1000,
}


class Server(Simulated):
    """Under one condition it drafts nothing (`stops`), accepts nothing (`rejects`), says nothing (`mute`) or fails (`fault`).

    `switch`: speculation can be left out of a request, and then none of this happens.
    """

    def __init__(
        self,
        condition: str = "",
        *,
        does: str = "",
        fault: Fault | None = None,
        switch: bool = False,
        rejected_to: float = 0.0,
        **more: Any,
    ) -> None:
        super().__init__(seed=4, **more)
        self.rejected_to = rejected_to
        self.condition, self.does, self.fault, self.switch = condition, does, fault, switch
        self.facts = dataclasses.replace(self.facts, context_length=4096)

    def ask(self, ask: Ask) -> Exchange:
        struck = bool(self.condition) and KNOWN[self.condition](ask) and "off" not in ask.extra_body
        if struck and self.fault is not None:
            self.asked.append(ask)
            return Exchange(ask=ask, url="u", model="m", fault=self.fault, timeline=Timeline(sent_ns=0))
        depth, rate = self.depth, self.rate
        self.undrafted = 1.0 if struck and self.does == "stops" else 0.0
        self.rate = self.rejected_to if struck and self.does == "rejects" else rate
        exchange = super().ask(ask)
        self.depth, self.rate = depth, rate
        if struck and self.does == "mute" and exchange.reply is not None:
            return dataclasses.replace(exchange, reply=dataclasses.replace(exchange.reply, content=""))
        return exchange

    ask_alone = ask

    def unspeculated(self, ask: Ask) -> Ask | None:
        return dataclasses.replace(ask, extra_body={"off": True}) if self.switch else None


def verdict(server: Simulated, **params: object) -> Verdict:
    return run(Case(id="drafting", suite="s", source=Source(path="s", line=1), check="drafting", params=params), server)  # type: ignore[arg-type]


def failing(status: int, message: str) -> Fault:
    kind: FaultKind = "server_error" if status >= 500 else "refused"
    return Fault(kind=kind, code="INFRA.5xx" if status >= 500 else "PROTO.refused", message=f"{status}: {message}", status=status)


def codes(found: Verdict) -> list[tuple[str, str, str]]:
    return [(finding.code, finding.severity, finding.where) for finding in found.findings]


def values(found: Verdict) -> dict[str, float | None]:
    return {measure.stratum: measure.value for measure in found.measures}


def note(found: Verdict, condition: str) -> str:
    (measure,) = [measure for measure in found.measures if measure.stratum == condition]
    return measure.note


@pytest.mark.parametrize("tells", [("drafts", "tokens"), ("replies",), ("steps", "tokens")], ids="+".join)
def test_a_drafter_that_never_stops_is_not_accused(tells: set[str]) -> None:
    server = Server(tells=frozenset(tells))
    found = verdict(server)
    assert (found.outcome, found.findings, found.exchanges) == ("PASS", (), 12)
    assert tuple(values(found)) == CONDITIONS
    assert all(value is not None and value > 0 for value in values(found).values())
    asked = {name: [ask for ask in server.asked if known(ask)] for name, known in KNOWN.items()}
    assert {name: len(asks) for name, asks in asked.items()} == dict.fromkeys(KNOWN, 2)


@pytest.mark.parametrize("tells", [("drafts", "tokens"), ("replies",), ("steps", "tokens")], ids="+".join)
@pytest.mark.parametrize("condition", CONDITIONS[1:])
def test_drafts_that_stop_are_a_note_with_the_baseline_beside_it(condition: str, tells: set[str]) -> None:
    found = verdict(Server(condition, does="stops", tells=frozenset(tells)))
    assert (found.outcome, codes(found)) == ("PASS", [("SPEC.condition", "note", condition)])
    # Steps without drafts are steps too: where these alone are counted, each of them is seen to give one token.
    assert ("verify steps with 0 accepted" if "steps" in tells else "no drafts ") in found.findings[0].title
    assert "in plain greedy requests " in found.findings[0].title
    assert found.findings[0].hint


@pytest.mark.parametrize("condition", CONDITIONS[1:])
def test_drafts_that_are_all_refused_are_a_note(condition: str) -> None:
    found = verdict(Server(condition, does="rejects"))
    assert (found.outcome, codes(found)) == ("PASS", [("SPEC.condition", "note", condition)])
    assert f"drafts with 0 accepted in {found.findings[0].evidence['emitted']} tokens" in found.findings[0].title
    assert values(found)[condition] == 0


@pytest.mark.parametrize(("rate", "told"), [(0.012, True), (0.3, False)], ids=["1 in 50 of the baseline's", "half of the baseline's"])
def test_acceptance_that_breaks_down_is_told_and_acceptance_that_falls_is_not(*, rate: float, told: bool) -> None:
    found = verdict(Server("sampled", does="rejects", rejected_to=rate), max_tokens=200)
    assert bool(found.findings) is told


def test_lookup_that_finds_nothing_to_repeat_is_not_accused() -> None:
    server = Server("tools", does="stops", speculation=SpecDecode(method="ngram-simple", depth=3))
    assert verdict(server).findings == ()


NOT_SUPPORTED = "Structured response_format is not supported with speculative decoding."
OWN_WORDS, UNKNOWN = failing(500, NOT_SUPPORTED), failing(500, "list index out of range")


@pytest.mark.parametrize(
    ("server", "severity", "words"),
    [
        (Server("structured", fault=OWN_WORDS), "regression", "by its own words"),
        (Server("structured", fault=UNKNOWN, switch=True), "regression", "answered without speculation"),
        (Server("structured", fault=UNKNOWN), "note", "cannot be left out of a request"),
        (Server("structured", does="mute", switch=True), "regression", "nothing is said"),
        (Server("structured", does="mute"), "note", "nothing is said"),
        (Server("structured", fault=failing(400, "min_p is not yet supported with speculative decoding")), "note", "own words"),
        (Server("structured", fault=failing(400, "no grammar"), switch=True), "note", "answered without speculation"),
    ],
    ids=["500 and says why", "500 and proven", "500", "mute and proven", "mute", "400 and says why", "400 and proven"],
)
def test_requests_that_fail_since_the_server_speculates(server: Server, severity: str, words: str) -> None:
    found = verdict(server)
    assert codes(found) == [("SPEC.condition", severity, "structured")]
    assert words in found.findings[0].title
    assert found.outcome == ("FAIL" if severity == "regression" else "PASS")
    assert values(found)["long"] is not None, "the conditions after it are measured all the same"


class Poor(Server):
    """Offers no tools, speculating or not."""

    def ask(self, ask: Ask) -> Exchange:
        if not ask.tools:
            return super().ask(ask)
        self.asked.append(ask)
        return Exchange(ask=ask, url="u", model="m", fault=failing(400, "needs a tool parser"), timeline=Timeline(sent_ns=0))

    ask_alone = ask


@pytest.mark.parametrize("switch", [True, False])
def test_what_is_not_offered_is_said_in_the_measure_and_is_no_finding(*, switch: bool) -> None:
    found = verdict(Poor(switch=switch))
    assert found.findings == ()
    assert values(found)["tools"] is None
    assert note(found, "tools") == f"not reached: 400: needs a tool parser{', and without speculation too' if switch else ''}"


def test_a_small_context_has_no_room_for_a_long_prompt() -> None:
    server = Server()
    server.facts = dataclasses.replace(server.facts, context_length=150)
    found = verdict(server)
    assert note(found, "long") == "not reached: a context of 150 tokens leaves no room for a long prompt"
    assert found.findings == ()


def test_a_middling_context_gets_a_shorter_prompt() -> None:
    text = long_text(800, context_length=1024, taken=70)
    assert 300 < len(text.split()) < 380
    assert 590 < len(long_text(800, context_length=None, taken=70).split()) < 620


def test_the_long_text_is_no_loop() -> None:
    """Otherwise a lookup drafter would feed on it."""
    text = long_text(4000, context_length=None, taken=0)
    sentences = text.split(". ")
    assert len(set(sentences)) == len(sentences) > 200
    assert find_loop(text, ended=True, asked=False) is None


def test_others_at_work_make_counters_useless_and_that_is_said() -> None:
    with pytest.raises(NotOffered, match="requests of others"):
        verdict(Server(tells=frozenset({"drafts", "tokens"}), others=1))
    found = verdict(Server(others=1))
    assert {(code, severity) for code, severity, _ in codes(found)} == {("PERF.contaminated", "note")}
    assert all(value is not None for value in values(found).values()), "replies tell of their own drafts"


@pytest.mark.parametrize(
    ("server", "why"),
    [
        (Server(depth=0, speculation=SpecDecode(state="inactive")), "does not speculate"),
        (Server(tells=frozenset()), "cannot be seen on this server: neither counters"),
        (Server(undrafted=1.0, depth=0, speculation=SpecDecode(method="mtp", depth=3)), "nothing is drafted in plain greedy requests"),
    ],
    ids=["off", "unknown", "never drafts"],
)
def test_without_a_baseline_there_is_nothing_to_compare(server: Server, why: str) -> None:
    with pytest.raises(NotOffered, match=why):
        verdict(server)


@pytest.mark.parametrize("condition", ["", "sampled"])
def test_a_server_that_cannot_be_reached_blocks(condition: str) -> None:
    class Gone(Server):
        def ask(self, ask: Ask) -> Exchange:
            if condition and not KNOWN[condition](ask):
                return super().ask(ask)
            self.asked.append(ask)
            fault = Fault(kind="reset", code="INFRA.reset", message="the connection ended")
            return Exchange(ask=ask, url="u", model="m", fault=fault, timeline=Timeline(sent_ns=0))

        ask_alone = ask

    found = verdict(Gone())
    assert found.outcome == "BLOCKED"
    assert found.reason.startswith("INFRA.reset")
    assert found.culprit == found.exchanges - 1
    assert bool(found.measures) is bool(condition)


def test_short_replies_prove_nothing() -> None:
    class Terse(Server):
        def _decode(self, ask: Ask) -> Any:
            short = KNOWN["tools"](ask)
            return super()._decode(dataclasses.replace(ask, sampling=dataclasses.replace(ask.sampling, max_tokens=2)) if short else ask)

    found = verdict(Terse())
    assert [finding for finding in found.findings if finding.where == "tools"] == []


def test_each_condition_differs_from_the_baseline_in_one_thing() -> None:
    baseline = greedy(48)
    low, sampled, tools, structured, long = others(baseline, temperature=0.7, long_text="Once. Twice.")
    plain = baseline.asks[0]
    assert low.stepwise
    assert dataclasses.replace(low.asks[0], sampling=plain.sampling, top_logprobs=None) == plain
    assert dataclasses.replace(sampled.asks[0], sampling=plain.sampling) == plain
    assert sampled.asks[0].sampling.temperature == 0.7
    assert dataclasses.replace(tools.asks[0], tools=()) == plain
    assert structured.asks[0].response_format == FORMAT
    assert str(long.asks[0].messages[0]["content"]) == f"Once. Twice.\n\n{plain.messages[0]['content']}"
    assert all(len(condition.asks) == len(baseline.asks) for condition in (sampled, tools, structured, long))
