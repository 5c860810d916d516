"""Rows of the catalogue: stop strings, budgets, choices, sampling, ends of turns."""

from __future__ import annotations

from pytest_mtp.selftest import fault_asks as asks
from pytest_mtp.selftest import fault_models as model
from pytest_mtp.selftest import fault_refusals as refusals
from pytest_mtp.selftest import fault_replies as replies
from pytest_mtp.selftest.fault import Fault
from pytest_mtp.selftest.fault_completions import empty_reply

_IGNORED = ("PROTO.param",)

OPTION_FAULTS = (
    Fault(
        name="stop-ignored",
        imitates="Generation goes past stop strings that lie inside an accepted block",
        expected=("PROTO.stop",),
        ask=asks.without("stop"),
        shown_by="stops",
    ),
    Fault(
        name="stop-taken-out",
        imitates="The stop string is taken out of the text, and generation goes on",
        expected=("PROTO.stop",),
        ask=asks.without("stop"),
        completion=replies.stop_taken_out,
        shown_by="stops",
    ),
    Fault(
        name="last-stop-alone",
        imitates="Of several stop strings in one block the whole reply obeys the wrong one",
        expected=("PROTO.stop",),
        ask=asks.last_stop_alone,
        when="unstreamed",
        shown_by="stops",
    ),
    Fault(
        name="stop-reads-as-length",
        imitates="A stop that is reached inside the budget is masked by the cap: the reply says length",
        expected=("PROTO.stop",),
        completion=replies.finishing({"stop": "length"}),
        when="stop",
        shown_by="stops",
    ),
    Fault(
        name="empty-with-stop",
        imitates="The text is empty as soon as stop is set",
        expected=("PROTO.stop", "GEN.empty"),
        completion=empty_reply,
        when="stop",
        shown_by="stops",
    ),
    Fault(
        name="seed-ignored",
        imitates="With speculation a seed gives another text each time",
        expected=_IGNORED,
        ask=asks.without("seed"),
        shown_by="sampling",
    ),
    Fault(name="fixed-seed", imitates="Samples without a seed are all alike", expected=_IGNORED, ask=asks.fixed_seed, shown_by="sampling"),
    Fault(
        name="top-k-ignored", imitates="top_k never reaches the sampler", expected=_IGNORED, ask=asks.without("top_k"), shown_by="sampling"
    ),
    Fault(
        name="top-p-ignored", imitates="top_p never reaches the sampler", expected=_IGNORED, ask=asks.without("top_p"), shown_by="sampling"
    ),
    Fault(
        name="min-p-ignored",
        imitates="min_p is taken, and applies to bonus tokens alone",
        expected=_IGNORED,
        ask=asks.without("min_p"),
        shown_by="sampling",
    ),
    Fault(
        name="bias-ignored",
        imitates="logit_bias is taken, and applies to bonus tokens alone",
        expected=_IGNORED,
        ask=asks.without("logit_bias"),
        shown_by="sampling",
    ),
    Fault(
        name="penalties-ignored",
        imitates="Penalties are taken with status 200 and dropped: the same text at 0 and at 2",
        expected=_IGNORED,
        ask=asks.without("frequency_penalty", "presence_penalty", "repetition_penalty"),
        shown_by="sampling",
    ),
    Fault(
        name="fixed-sampling",
        imitates="Verification samples with parameters of its own",
        expected=_IGNORED,
        ask=asks.fixed_sampling,
        shown_by="sampling",
    ),
    Fault(
        name="always-greedy",
        imitates="Sampling above temperature 0 always returns the same text",
        expected=_IGNORED,
        ask=asks.always_greedy,
        shown_by="sampling",
    ),
    Fault(
        name="cap-ignored",
        imitates="max_tokens never reaches the engine",
        expected=("PROTO.budget", "PROTO.usage"),
        ask=asks.without("max_tokens", "max_completion_tokens"),
        shown_by="budgets",
    ),
    Fault(
        name="choices-fail",
        imitates="Several choices fail with speculation",
        expected=("INFRA.5xx",),
        refuse=refusals.failing_choices,
        shown_by="choices",
    ),
    Fault(name="choices-ignored", imitates="n is dropped: one choice comes", expected=_IGNORED, ask=asks.without("n"), shown_by="choices"),
    Fault(
        name="fewer-choices",
        imitates="Of several choices one is lost",
        expected=("PROTO.choices", "PROTO.param"),
        completion=replies.fewer_choices,
        shown_by="choices",
    ),
    Fault(
        name="never-ends",
        imitates="The end token of the turn is not among those that end it: a second turn begins",
        expected=("GEN.endless", "GEN.truncated", "ANS.wrong", "ANS.length"),
        answer=model.never_ends,
        shown_by="natural_stop",
    ),
)
