"""Which cases fit a budget, and in which order: the most known faults a request first. Pure, and the same in every process."""

from __future__ import annotations

import dataclasses
import heapq
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_mtp.checks.budget import CONTROL_REQUESTS, Budget
from pytest_mtp.checks.cost import Cost, Pace, cost_of, look_cost
from pytest_mtp.checks.kinds import PROBES
from pytest_mtp.checks.worth import FAULTS, seen_by
from pytest_mtp.core.case import Case

AGAIN = 0.7
"""What a check is worth once more: another case of the same check sees faults that the first one missed, but not all anew. Chosen,
not measured: with it some ten golden cases come before the dearer probes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One case in the order of the plan. `fits` False: left out, as the requests before it leave no room."""

    node_id: str
    case: Case
    cost: Cost
    fits: bool = True


def plan(cases: Sequence[tuple[str, Case]], budget: Budget) -> list[Planned]:
    """Every case, the worthiest first (a greedy knapsack: a case that does not fit does not stop cheaper ones behind it).

    Time is not looked at here: it is not known before the server was asked. Equal worth keeps the order of the suites.
    """
    ordered = _by_worth([(node_id, _cut(case, budget)) for node_id, case in cases])
    if budget.requests is None:
        return ordered
    left = budget.requests - CONTROL_REQUESTS
    found = []
    for each in ordered:
        fits = each.cost.requests <= left
        left -= each.cost.requests if fits else 0
        found.append(dataclasses.replace(each, fits=fits))
    return found


def _cut(case: Case, budget: Budget) -> Case:
    most = budget.most_looks
    return case if most is None or case.repeats <= most else dataclasses.replace(case, repeats=most)


def _by_worth(cases: Sequence[tuple[str, Case]]) -> list[Planned]:
    """Lazy greedy: worth only falls as checks are covered, so an entry that still tops the heap after a fresh look is the best."""
    costs = [cost_of(case) for _, case in cases]
    sees = [seen_by(case) for _, case in cases]
    covered: Counter[str] = Counter()

    def rank(place: int) -> float:
        return -sum(FAULTS.get(check, 0) * AGAIN ** covered[check] for check in sees[place]) / max(1, costs[place].requests)

    heap = [(rank(place), place) for place in range(len(cases))]
    heapq.heapify(heap)
    ordered = []
    while heap:
        _, place = heapq.heappop(heap)
        now = rank(place)
        if heap and (now, place) > heap[0]:
            heapq.heappush(heap, (now, place))
            continue
        covered.update(sees[place])
        node_id, case = cases[place]
        ordered.append(Planned(node_id=node_id, case=case, cost=costs[place]))
    return ordered


def fitting(planned: Sequence[Planned], pace: Pace, *, seconds: float) -> list[Planned]:
    """The same cases; those that do not fit into what the ones before them leave of `seconds` are left out."""
    left, found = seconds, []
    for each in planned:
        needed = pace.seconds(each.cost)
        fits = each.fits and needed <= left
        left -= needed if fits else 0.0
        found.append(dataclasses.replace(each, fits=fits))
    return found


def looks(planned: Sequence[Planned], pace: Pace, *, wanted: int, seconds: float) -> dict[str, int]:
    """Repeats of each probe, raised as far as `seconds` allow for everything: cheap probes reach `wanted`, dear ones get fewer.

    Every probe may take the same time; that time is the largest that keeps the sum within `seconds`. No probe gets fewer
    looks than its case asks for.
    """
    probes = [each for each in planned if each.fits and each.case.kind in PROBES]
    others = sum(pace.seconds(each.cost) for each in planned if each.fits and each.case.kind not in PROBES)
    once = {each.node_id: max(pace.seconds(look_cost(each.case)), 1e-9) for each in probes}
    asked = {each.node_id: each.case.repeats for each in probes}

    def raised(share: float) -> dict[str, int]:
        return {node: max(asked[node], min(wanted, int(share / once[node]))) for node in once}

    def total(counts: dict[str, int]) -> float:
        return others + sum(counts[node] * once[node] for node in once)

    # The sum changes only where some probe gains a look, so those are all the shares that need to be tried.
    shares = sorted({once[node] * (count + 1e-6) for node in once for count in range(1, wanted + 1)})
    best = raised(0.0)
    low, high = 0, len(shares)
    while low < high:
        middle = (low + high) // 2
        tried = raised(shares[middle])
        if total(tried) <= seconds:
            best, low = tried, middle + 1
        else:
            high = middle
    return best
