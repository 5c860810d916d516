"""The budget of a run: the order of the cases, and at each case's turn whether there is room for it.

Each process makes the same plan of the same items. What must be measured first (the pace of the server, and with it the
repeats of a thorough plan) is settled once, in the run's folder; the clock and the count of requests are the run's too.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from pytest_mtp.checks.budget import Budget
from pytest_mtp.checks.cost import Cost, Pace, cost_of
from pytest_mtp.checks.plan import Planned, fitting, looks, plan
from pytest_mtp.core.case import Case
from pytest_mtp.core.errors import NoRoom
from pytest_mtp.core.run import BudgetUse, Gate, LeftOut
from pytest_mtp.plugin.collect import CaseItem
from pytest_mtp.plugin.shared import PACE, PLAN, REQUESTS, SETTLED, STARTED, SharedFolder


class Purse:
    """What is left of a budget. `clock` is the same in every process of this machine."""

    def __init__(self, budget: Budget, shared: SharedFolder, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Nothing is planned yet."""
        self.budget, self._shared, self._clock = budget, shared, clock
        self._planned: dict[str, Planned] = {}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """After every deselection: the worthiest cases first, in the places where cases stand; other tests stay where they are."""
        places = [place for place, item in enumerate(items) if isinstance(item, CaseItem)]
        cases = {item.nodeid: item for item in items if isinstance(item, CaseItem)}
        ordered = plan([(node_id, item.case) for node_id, item in cases.items()], self.budget)
        for place, each in zip(places, ordered, strict=True):
            items[place] = cases[each.node_id]
            cases[each.node_id].case = each.case
        self._planned = {each.node_id: each for each in ordered}
        self._shared.once(PLAN, lambda: _totals(ordered))

    def planned(self, node_id: str) -> None:
        """Raise NoRoom for a case that the plan left out."""
        known = self._planned.get(node_id)
        if known is not None and not known.fits:
            raise NoRoom(
                f"budget {self.budget.words}: {_words(known.cost)}, and cases that see more for theirs take what there is",
                requests=known.cost.requests,
            )

    def settled(self, node_id: str, case: Case) -> Case:
        """The case with the repeats of a thorough plan. The control has been measured."""
        if self.budget.seconds is None:
            return case
        counts = self._shared.once(SETTLED, self._settle)["looks"]
        return dataclasses.replace(case, repeats=max(case.repeats, counts.get(node_id, 1)))

    def admit(self, case: Case) -> None:
        """Raise NoRoom where what is left now is less than the case is reckoned to take."""
        cost = cost_of(case)
        if self.budget.requests is not None:
            left = self.budget.requests - self._shared.ticks(REQUESTS)
            if cost.requests > left:
                raise NoRoom(f"budget {self.budget.words}: {_words(cost)}, and {max(0, left)} are left", requests=cost.requests)
        if self.budget.seconds is not None:
            left_s, needed_s = self.budget.seconds - self.spent_s(), self._pace().seconds(cost)
            if needed_s > left_s or left_s <= 0:
                reason = f"budget {self.budget.words}: about {needed_s:.1f} s, and {max(0.0, left_s):.1f} s are left"
                raise NoRoom(reason, requests=cost.requests)

    def has_room(self, node_id: str, case: Case) -> bool:
        """There is, by the plan and as things stand now."""
        try:
            self.planned(node_id)
            self.admit(case)
        except NoRoom:
            return False
        return True

    def looker(self) -> Callable[[], bool]:
        """For a case that begins with its first question: whether it may look once more, by what its looks took so far.

        The plan reckons with a pace; a probe that turns out slower gets fewer looks, and takes no time from others.
        """
        times: list[float] = []

        def again() -> bool:
            times.append(self._clock())
            if self.budget.requests is not None and self._shared.ticks(REQUESTS) >= self.budget.requests:
                return False
            if self.budget.seconds is None:
                return True
            look_s = (times[-1] - times[0]) / (len(times) - 1) if len(times) > 1 else 0.0
            share_s = (self._shared.read(SETTLED) or {}).get("share_s")
            within = share_s is None or times[-1] - times[0] + 2 * look_s <= share_s  # the first look is not timed
            return within and self.spent_s() + look_s <= self.budget.seconds

        return again

    def spent_s(self) -> float:
        """Since the server was up."""
        started = self._shared.read(STARTED)
        return self._clock() - float(started["monotonic"]) if started else 0.0

    def use(self, left_out: Sequence[LeftOut]) -> BudgetUse:
        """For the report; also in a controller whose workers did the planning."""
        totals = self._shared.read(SETTLED) or self._shared.read(PLAN) or {"cases": 0, "requests": 0, "likely_tokens": 0}
        pace = self._shared.read(PACE)
        planned = Cost(requests=totals["requests"], tokens=0, likely_tokens=totals["likely_tokens"])
        return BudgetUse(
            budget=self.budget.words,
            limit_requests=self.budget.requests,
            limit_s=self.budget.seconds,
            planned_cases=totals["cases"],
            planned_requests=planned.requests,
            planned_s=round(Pace.from_dict(pace).seconds(planned), 3) if pace else None,
            requests=self._shared.ticks(REQUESTS),
            seconds=round(self.spent_s(), 3),
            looks=totals.get("looks", {}),
            left_out=tuple(sorted(left_out, key=lambda each: each.node_id)),
        )

    def _pace(self) -> Pace:
        plain = self._shared.read(PACE)
        return Pace.from_dict(plain) if plain else Pace(request_s=0.0, token_s=0.0)

    def _settle(self) -> dict[str, Any]:
        """At the pace of the control: the repeats of probes, and the cases that will fit into the time that is left."""
        assert self.budget.seconds is not None
        pace, left_s = self._pace(), self.budget.seconds - self.spent_s()
        cases = list(self._planned.values())
        counts = looks(cases, pace, wanted=self.budget.looks, seconds=left_s) if self.budget.looks > 1 else {}
        raised = [dataclasses.replace(each, cost=_cost(each, counts)) for each in cases]
        return {**_totals(fitting(raised, pace, seconds=left_s)), "looks": counts, "share_s": _share_s(raised, counts, pace, left_s)}


def _share_s(raised: Sequence[Planned], counts: Mapping[str, int], pace: Pace, left_s: float) -> float | None:
    """What one probe may take before it takes from others: as much as the dearest was given, and its part of what nobody was."""
    given = [pace.seconds(each.cost) for each in raised if each.node_id in counts]
    spare_s = left_s - sum(pace.seconds(each.cost) for each in raised if each.fits)
    return max(given) + max(0.0, spare_s) / len(given) if given else None


def _cost(planned: Planned, counts: Mapping[str, int]) -> Cost:
    count = counts.get(planned.node_id)
    return planned.cost if count is None else cost_of(dataclasses.replace(planned.case, repeats=count))


def left_out_gate(gate: Gate, spent: BudgetUse | None, *, cases: int) -> Gate:
    """What the budget left out is said beside the verdict. It closes no gate, but a run without one case opens none either."""
    if spent is None or not spent.left_out:
        return gate
    words = f"{len(spent.left_out)} cases left out by the budget {spent.budget}"
    if not cases and gate.verdict == "pass" and gate.policy != "explore":
        return dataclasses.replace(gate, verdict="inconclusive", reasons=("the budget left no room for any case", words, *gate.reasons))
    return dataclasses.replace(gate, reasons=(*gate.reasons, words))


def start_clock(shared: SharedFolder, *, clock: Callable[[], float] = time.monotonic) -> None:
    """The server is up: from here on a run costs time."""
    shared.write(STARTED, {"monotonic": clock()})


def _totals(ordered: Sequence[Planned]) -> dict[str, Any]:
    chosen = [each.cost for each in ordered if each.fits]
    return {
        "cases": len(chosen),
        "requests": sum(cost.requests for cost in chosen),
        "likely_tokens": sum(cost.likely_tokens for cost in chosen),
    }  # fmt: skip


def _words(cost: Cost) -> str:
    return f"{cost.requests} request{'s' if cost.requests != 1 else ''}"
