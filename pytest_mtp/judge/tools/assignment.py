"""Which came for which: a maximum matching for verdicts, a minimum-cost assignment for explanations.

Both are solved by scipy's `linear_sum_assignment`. Greedy pairing would make the verdict depend on the order of the calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

_NO_EDGE = 1e6  # dwarfs every distance, so that the cheapest assignment has the most edges


def most_pairs(golds: int, outputs: int, edge: Callable[[int, int], bool]) -> list[tuple[int, int]]:
    """A maximum matching as (gold, output) pairs; its size does not depend on any order."""
    table = [[0.0 if edge(i, j) else 1.0 for j in range(outputs)] for i in range(golds)]
    return [(i, j) for i, j in assign(table) if not table[i][j]]


def assign(costs: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Pairs of the cheapest assignment, as many as the shorter side has."""
    if not costs or not costs[0]:
        return []
    if len(costs) == len(costs[0]) and not any(costs[i][i] for i in range(len(costs))):
        return [(i, i) for i in range(len(costs))]
    if len(costs) == 1:
        return [(0, min(range(len(costs[0])), key=costs[0].__getitem__))]
    if len(costs[0]) == 1:
        return [(min(range(len(costs)), key=lambda i: costs[i][0]), 0)]
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415  # half a second, and most replies have their calls in order

    rows, columns = linear_sum_assignment(costs)
    return [(int(i), int(j)) for i, j in zip(rows, columns, strict=True)]


def pair(golds: int, outputs: int, distance: Callable[[int, int], float]) -> list[tuple[int, int, bool]]:
    """(gold, output, matched): as many matches as possible (distance 0), and the nearest of what is left beside each other."""
    if golds == outputs and all(distance(i, i) == 0 for i in range(golds)):
        return [(i, i, True) for i in range(golds)]
    costs = [[d + _NO_EDGE if (d := distance(i, j)) else 0.0 for j in range(outputs)] for i in range(golds)]
    return [(i, j, costs[i][j] == 0) for i, j in assign(costs)]


def longest_in_order(golds: int, outputs: int, edge: Callable[[int, int], bool]) -> list[tuple[int, int]]:
    """The longest chain of pairs that rises on both sides (a longest common subsequence under `edge`)."""
    best = [[0] * (outputs + 1) for _ in range(golds + 1)]
    edges = [[edge(i, j) for j in range(outputs)] for i in range(golds)]
    for i in range(golds - 1, -1, -1):
        for j in range(outputs - 1, -1, -1):
            best[i][j] = best[i + 1][j + 1] + 1 if edges[i][j] else max(best[i + 1][j], best[i][j + 1])
    chain, i, j = [], 0, 0
    while i < golds and j < outputs:
        if edges[i][j]:
            chain.append((i, j))
            i, j = i + 1, j + 1
        elif best[i + 1][j] >= best[i][j + 1]:
            i += 1
        else:
            j += 1
    return chain
