"""The acceptance check over simulated servers: figures with their unit of replication, and each way in which counts deceive."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping

import pytest

from pytest_mtp.checks import speculation
from pytest_mtp.checks.acceptance import run
from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import Case, Source
from pytest_mtp.core.errors import NotOffered
from pytest_mtp.core.facts import Acceptance, Counters, SpecDecode
from pytest_mtp.core.reply import Reply
from pytest_mtp.core.verdict import Measure, Verdict
from tests.checks.simulated import Simulated

PROMPTS = {"code": ["a", "b", "c", "d"], "prose": ["e", "f", "g"]}


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speculation, "_PAUSE_S", 0.0)


def verdict(server: Simulated, **more: object) -> Verdict:
    params = {"prompts": PROMPTS, "max_tokens": 40, **more}
    return run(Case(id="alive", suite="s", source=Source(path="s", line=1), check="acceptance", params=params), server)  # type: ignore[arg-type]


def figures(found: Verdict) -> Mapping[tuple[str, str], Measure]:
    return {(measure.name, measure.stratum): measure for measure in found.measures}


def codes(found: Verdict) -> list[tuple[str, str]]:
    return [(finding.code, finding.severity) for finding in found.findings]


def test_every_figure_has_its_unit_and_its_replicates() -> None:
    server = Simulated(seed=2, undrafted=0.1)
    found = verdict(server)
    assert (found.outcome, codes(found), found.exchanges) == ("PASS", [], 7)
    rows = figures(found)
    assert {name for name, _ in rows} == {
        "acceptance_rate", "mean_acceptance_length", "effective_length", "acceptance_at_position_0", "acceptance_at_position_1",
        "acceptance_at_position_2", "conditional_at_position_1", "conditional_at_position_2",
    }  # fmt: skip
    assert {(measure.per, measure.unit) for measure in found.measures} == {("token", "1"), ("step", "tokens"), ("step", "1")}
    assert {rows["acceptance_rate", stratum].n for stratum in PROMPTS} == {4, 3}
    for measure in found.measures:
        assert "clustered by prompt" in measure.note
        assert measure.interval is None or measure.value is None or measure.interval.low <= measure.value <= measure.interval.high
    length, at = rows["mean_acceptance_length", "code"].value, [rows[f"acceptance_at_position_{i}", "code"].value or 0 for i in range(3)]
    assert length == pytest.approx(1 + sum(at))
    assert rows["conditional_at_position_1", "code"].value == pytest.approx(at[1] / at[0])
    effective = rows["effective_length", "code"].value
    assert effective is not None
    assert length is not None
    assert 1 < effective < length


def test_prompts_are_replicates_where_counters_alone_tell() -> None:
    alone = figures(verdict(Simulated(seed=2, tells=frozenset({"drafts", "tokens"}))))
    both = figures(verdict(Simulated(seed=2)))
    assert alone["acceptance_rate", "code"].interval is not None
    assert {key: row.interval for key, row in alone.items()} == {key: row.interval for key, row in both.items()}


def test_replies_without_rounds_give_a_rate_and_an_effective_length() -> None:
    class Bare(Simulated):
        def acceptance_of(self, reply: Reply) -> Acceptance | None:
            told = super().acceptance_of(reply)
            return None if told is None else Acceptance(drafted=told.drafted, accepted=told.accepted)

    rows = figures(verdict(Bare(seed=2, tells=frozenset({"replies"}))))
    assert {name for name, _ in rows} == {"acceptance_rate", "effective_length"}


def test_steps_and_tokens_alone_give_a_mean_length() -> None:
    server = Simulated(seed=2, tells=frozenset({"steps", "tokens"}))
    rows = figures(verdict(server))
    assert {name for name, _ in rows} == {"mean_acceptance_length"}
    own = server.own
    assert min(row.value or 0 for row in rows.values()) <= (own.tokens - 7) / own.passes <= max(row.value or 0 for row in rows.values())
    assert all(row.interval is not None for row in rows.values())


def test_trees_are_marked() -> None:
    class Tree(Simulated):
        def acceptance_of(self, reply: Reply) -> Acceptance | None:
            told = super().acceptance_of(reply)
            return None if told is None else dataclasses.replace(told, tree=True, drafted=told.drafted * 8)

    found = verdict(Tree(seed=2, tells=frozenset({"replies"})))
    assert codes(found) == []
    assert all("not comparable with a chain" in row.note for (name, _), row in figures(found).items() if name == "acceptance_rate")


@pytest.mark.parametrize("replies", [True, False])
def test_foreign_traffic_is_counted_in_tokens(*, replies: bool) -> None:
    """Where replies tell of drafts the figures are theirs; where they do not, nothing can be said."""
    tells = frozenset({"drafts", "tokens", "replies"} if replies else {"drafts", "tokens"})
    server = Simulated(seed=2, others=1, tells=tells)
    if not replies:
        with pytest.raises(NotOffered, match="requests of others moved the counters"):
            verdict(server)
        return
    found = verdict(server)
    assert codes(found) == [("PERF.contaminated", "note")] * 2
    told = [int(finding.title.split(": ")[1].split()[0]) for finding in found.findings]
    assert sum(told) == server.foreign.tokens
    assert found.outcome == "PASS"
    rates = {row.stratum: row.note for name, row in [(row.name, row) for row in found.measures] if name == "acceptance_rate"}
    accepted = sum(int(note.split()[0]) for note in rates.values())
    assert accepted == server.own.accepted


class Doctored(Simulated):
    """Counters with something added from the second reading on."""

    def __init__(self, added: Counters, **more: object) -> None:
        super().__init__(seed=2, **more)  # type: ignore[arg-type]
        self.added, self.readings_taken = added, 0

    def counters(self, client: object) -> Counters | None:
        read = super().counters(client)
        self.readings_taken += 1
        if read is None or self.readings_taken == 1:
            return read
        drafts, more = read.acceptance, self.added.acceptance
        assert drafts is not None
        if more is not None:
            drafts = dataclasses.replace(drafts, drafted=drafts.drafted + more.drafted, accepted=drafts.accepted + more.accepted)
        tokens = None if read.generated_tokens is None else read.generated_tokens + (self.added.generated_tokens or 0)
        return dataclasses.replace(read, acceptance=drafts, generated_tokens=tokens)


@pytest.mark.parametrize(
    ("added", "expected", "words"),
    [
        (Counters(acceptance=Acceptance(drafted=0, accepted=900)), [("SPEC.identity", "critical")], "> drafted"),
        (Counters(acceptance=Acceptance(drafted=-900, accepted=0)), [("SPEC.identity", "critical")], "backwards"),
        (Counters(acceptance=Acceptance(drafted=40, accepted=0)), [("SPEC.identity", "note")], "/metrics moved by"),
        (Counters(generated_tokens=-110), [("SPEC.identity", "critical")], "make at least"),
    ],
    ids=["more accepted than drafted", "restart", "sources differ", "more accepted than emitted"],
)
def test_counts_that_contradict_each_other(added: Counters, expected: list[tuple[str, str]], words: str) -> None:
    found = verdict(Doctored(added))
    assert set(codes(found)) & set(expected)
    assert any(words in finding.title for finding in found.findings)
    assert found.outcome == ("FAIL" if any(severity == "critical" for _, severity in codes(found)) else "PASS")
    assert all(finding.evidence["requests"] in (3, 4) for finding in found.findings if finding.code == "SPEC.identity")


class Replica(Simulated):
    """Every other request is answered by another server behind the same address, whose counters nobody reads."""

    def _answer(self, ask: Ask) -> Reply:
        before = copy.deepcopy(self.whole)
        reply = super()._answer(ask)
        if len(self.asked) % 2:
            self.whole = before
        return reply


def test_counters_of_one_replica_are_worth_a_note_and_prove_what_they_saw() -> None:
    found = verdict(Replica(seed=2, tells=frozenset({"drafts", "tokens"})))
    assert codes(found) == [("SPEC.identity", "note")] * 2
    assert all("several servers behind one address" in finding.title for finding in found.findings)
    assert found.outcome == "PASS"


def test_another_depth_than_the_configured_one_is_worth_a_note() -> None:
    found = verdict(Simulated(seed=2, speculation=SpecDecode(method="mtp", depth=1)))
    assert set(codes(found)) == {("SPEC.identity", "note")}
    assert "than the configured depth of 1 allows" in found.findings[0].title


@pytest.mark.parametrize(
    ("server", "wanted", "outcome", "expected"),
    [
        (Simulated(rate=0.0), None, "FAIL", [("SPEC.dead", "critical")]),
        (Simulated(depth=0, speculation=SpecDecode(state="inactive")), None, "PASS", [("SPEC.inactive", "note")]),
        (Simulated(depth=0, speculation=SpecDecode(state="inactive")), "active", "FAIL", [("SPEC.inactive", "critical")]),
        (Simulated(), "active", "PASS", []),
    ],
    ids=["dead", "inactive", "inactive and wanted", "active and wanted"],
)
def test_states(server: Simulated, wanted: str | None, outcome: str, expected: list[tuple[str, str]]) -> None:
    found = verdict(server, **({"state": wanted} if wanted else {}))
    assert (found.outcome, codes(found)) == (outcome, expected)


def test_a_server_that_tells_nothing_is_skipped_with_the_reason() -> None:
    with pytest.raises(NotOffered, match="neither counters nor replies"):
        verdict(Simulated(tells=frozenset()))
