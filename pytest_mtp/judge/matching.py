"""Maximum matching of two sides: the verdict must not hang on the order of either."""

from __future__ import annotations

from collections.abc import Sequence


def maximum_matching(edges: Sequence[Sequence[int]], columns: int) -> list[int]:
    """The column of each row, or -1; as many rows as possible have one. `edges[row]` lists the columns that fit.

    Augmenting paths (Kuhn), depth first on a stack of its own: rows and columns are items of one answer, at most hundreds.
    """
    row_of = [-1] * columns
    column_of = [-1] * len(edges)
    for root in range(len(edges)):
        _augment(root, edges, row_of, column_of)
    return column_of


def _augment(root: int, edges: Sequence[Sequence[int]], row_of: list[int], column_of: list[int]) -> None:
    came_from: dict[int, int] = {}  # column -> row by which it was reached
    stack = [root]
    while stack:
        row = stack.pop()
        for column in edges[row]:
            if column in came_from:
                continue
            came_from[column] = row
            if row_of[column] >= 0:
                stack.append(row_of[column])
                continue
            free: int = column
            while free >= 0:  # walk back and flip the path
                taker = came_from[free]
                row_of[free], column_of[taker], free = taker, free, column_of[taker]
            return
