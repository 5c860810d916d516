"""What a case costs, before it is run: requests, and generated tokens at most."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from pytest_mtp.checks import admission, answers, drafting_conditions
from pytest_mtp.checks.kinds import PROBES
from pytest_mtp.checks.probes import context_ladder
from pytest_mtp.checks.probes.probe import Probe
from pytest_mtp.checks.probes.saying import whole
from pytest_mtp.checks.prompts import strata_of
from pytest_mtp.core.case import Case
from pytest_mtp.core.exchange import Exchange
from pytest_mtp.core.record import Record

NO_LIMIT_TOKENS = 1024
"""Taken for an answer whose case gives no max_tokens."""

USUAL_TOKENS = 128
"""Taken for the answer of a golden case whose max_tokens is higher: those of the built-in suites take 5 to 300."""

READ_A_TOKEN = 10
"""Prompt tokens that take as long as one that is generated; taken, not measured, and counted where a check sends long prompts."""

_CONDITIONS, _STEPWISE = 6, 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """`tokens` is an upper bound; `likely_tokens` is what time is reckoned with."""

    requests: int
    tokens: int
    likely_tokens: int

    def times(self, looks: int) -> Cost:
        """Of so many looks."""
        return Cost(requests=self.requests * looks, tokens=self.tokens * looks, likely_tokens=self.likely_tokens * looks)


def cost_of(case: Case) -> Cost:
    """All repeats included. Of a check of somebody's plugin nothing is known: one request a repeat is taken."""
    if case.kind in PROBES:
        return look_cost(case).times(case.repeats)
    if case.kind in _OTHERS:
        requests, tokens = _OTHERS[case.kind](case)
        return Cost(requests=requests, tokens=tokens, likely_tokens=tokens + _long_prompts(case) // READ_A_TOKEN)
    asks = answers.planned_asks(case)
    limits = [ask.sampling.max_tokens or NO_LIMIT_TOKENS for ask in asks]
    if not asks:
        return Cost(requests=case.repeats, tokens=NO_LIMIT_TOKENS * case.repeats, likely_tokens=USUAL_TOKENS * case.repeats)
    return Cost(requests=len(asks), tokens=sum(limits), likely_tokens=sum(min(limit, USUAL_TOKENS) for limit in limits))


def look_cost(case: Case) -> Cost:
    """One look of a probe, as the probe tells it."""
    probe: Probe = importlib.import_module(f"pytest_mtp.checks.probes.{case.kind}").PROBE
    tokens = probe.tokens(case)
    return Cost(requests=probe.requests(case), tokens=tokens, likely_tokens=tokens + _long_prompts(case) // READ_A_TOKEN)


def _long_prompts(case: Case) -> int:
    """Prompt tokens of one look, where they outweigh what is generated; 1.6 a word."""
    if case.kind == "context_ladder":
        return 8 * sum(cast("Sequence[int]", case.params.get("rungs", context_ladder.RUNGS))) // 5
    if case.kind == "prefix_cache":  # two of its four requests meet no cache
        words, prefixes = (whole(case, name, default) for name, default in (("words", 240), ("prefixes", 3)))
        return 2 * 8 * words * prefixes // 5
    return 2 * cast("int", case.params.get("long_prompt_tokens", 800)) if case.kind == "drafting" else 0


def _acceptance(case: Case) -> tuple[int, int]:
    return _measured(case, rounds=1, default_max_tokens=48)


def _throughput(case: Case) -> tuple[int, int]:
    rounds, warmup = (cast("int", case.params.get(name, default)) for name, default in (("rounds", 3), ("warmup", 1)))
    return _measured(case, rounds=rounds + warmup, default_max_tokens=64)


def _measured(case: Case, *, rounds: int, default_max_tokens: int) -> tuple[int, int]:
    asks = [ask for group in strata_of(case, default_max_tokens=default_max_tokens).values() for ask in group]
    return rounds * len(asks), rounds * sum(ask.sampling.max_tokens or 0 for ask in asks)


def _drafting(case: Case) -> tuple[int, int]:
    answers_wanted = _CONDITIONS * len(drafting_conditions.QUESTIONS)
    return answers_wanted + _STEPWISE, answers_wanted * cast("int", case.params.get("max_tokens", 48)) + _STEPWISE


def _admission(case: Case) -> tuple[int, int]:
    requests = cast("int", case.params.get("requests", admission.REQUESTS))
    return requests, requests * cast("int", case.params.get("max_tokens", admission.TOKENS)) * admission.LONGEST


def _identity(_: Case) -> tuple[int, int]:
    return 0, 0  # pages and what is known already


_OTHERS: Mapping[str, Callable[[Case], tuple[int, int]]] = {
    "acceptance": _acceptance,
    "throughput": _throughput,
    "drafting": _drafting,
    "admission": _admission,
    "identity": _identity,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace(Record):
    """How fast a server is for one request at a time: seconds a request on top of seconds a generated token."""

    request_s: float
    token_s: float

    def seconds(self, cost: Cost) -> float:
        """That `cost` will take if nothing runs beside it; more than it takes where requests overlap."""
        return cost.requests * self.request_s + cost.likely_tokens * self.token_s


def pace_of(exchanges: Sequence[Exchange]) -> Pace:
    """By the exchanges of the control, which run one at a time; zero where none was timed.

    Tokens are those of usage, else max_tokens. The quickest request stands for what each costs whatever it generates; it
    generated something too, so that the estimate is high rather than low.
    """
    timed = [(each, (each.timeline.done_ns - each.timeline.sent_ns) / 1e9) for each in exchanges if each.timeline.done_ns]
    tokens = sum(_tokens(exchange) for exchange, _ in timed)
    if not timed:
        return Pace(request_s=0.0, token_s=0.0)
    return Pace(request_s=min(seconds for _, seconds in timed), token_s=sum(seconds for _, seconds in timed) / max(1, tokens))


def _tokens(exchange: Exchange) -> int:
    usage = exchange.reply.usage if exchange.reply else None
    counted = usage.completion_tokens if usage else None
    return exchange.ask.sampling.max_tokens or 0 if counted is None else counted
