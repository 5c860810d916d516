"""Rows of the catalogue: drafts that stop, that are refused, that are miscounted, that slow down."""

from __future__ import annotations

from pytest_mtp.selftest.fault import Fault
from pytest_mtp.selftest.rows_serving import BUSY

_BASELINE = "a speed is slow only beside another one: needs a baseline"

DRAFT_FAULTS = (
    Fault(
        name="ignored-head",
        imitates="Heads are configured, loaded or advertised, and nothing is ever drafted",
        expected=("SPEC.dead",),
        trait="never-drafts",
    ),
    Fault(
        name="barely-accepts",
        imitates="About two drafts of a hundred are accepted, and the server is slower than without",
        expected=("SPEC.dead", "SPEC.accept_drop"),
        trait="weak-drafts",
        number=3,
        unseen="a low rate may be a weak drafter's: only a baseline says that it fell",
    ),
    Fault(
        name="acceptance-decays",
        imitates="Acceptance falls to nothing after live traffic; a restart restores it",
        expected=("SPEC.decay", "SPEC.dead", "SPEC.condition"),
        trait="rejects-drafts",
        when="crowded=7",
        shown_by="load_poison",
        setting={"token_delay_ms": 4},
    ),
    Fault(
        name="schema-drafts-refused",
        imitates="The mask is not applied to later drafts: under a schema each of them is wasted",
        expected=("SPEC.condition",),
        trait="accepts-schemaless",
    ),
    Fault(
        name="no-drafts-in-a-crowd",
        imitates="Speculation is ignored as soon as requests are batched",
        expected=("SPEC.condition",),
        trait="never-drafts",
        when="concurrent",
        setting={"token_delay_ms": 4},
        shown_by="load_poison",
    ),
    Fault(
        name="verify-bug-after-long-prompts",
        imitates="The verify step is wrong behind long prompts alone",
        expected=("SPEC.parity.material",),
        trait="breaks-verify",
        when="longer=150",
        unseen="the control holds short prompts against undrafted steps; a comparison with speculation off would show it",
    ),
    Fault(
        name="verify-bug-in-a-crowd",
        imitates="The verify step is wrong only while other requests run",
        expected=("CTRL.load", "SPEC.parity.material", "CTRL.unstable"),
        trait="breaks-verify",
        when="concurrent",
        setting=BUSY,
        shown_by="canaries",
    ),
    Fault(
        name="counts-steps",
        imitates="The counter of generated tokens counts steps",
        expected=("SPEC.identity",),
        trait="counts-steps",
    ),
    Fault(
        name="replies-hide-drafts",
        imitates="Replies say that no draft was accepted, the server's log says four of four",
        expected=("SPEC.identity",),
        trait="hides-drafts",
    ),
    Fault(
        name="slow-in-a-crowd",
        imitates="Throughput collapses above a number of requests at once",
        expected=("PERF.drop",),
        trait="slow",
        number=5,
        when="concurrent=4",
        unseen=_BASELINE,
    ),
    Fault(
        name="slow-after-long-prompts",
        imitates="The gain of speculation becomes a loss as the context grows",
        expected=("PERF.drop",),
        trait="slow",
        number=5,
        when="longer=300",
        unseen=_BASELINE,
    ),
    Fault(
        name="slow-when-sampled",
        imitates="Sampled requests fall through to plain decoding",
        expected=("PERF.drop",),
        trait="slow",
        number=5,
        when="sampled",
        unseen=_BASELINE,
    ),
)
