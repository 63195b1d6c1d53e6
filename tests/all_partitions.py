"""Partitions of a few records: whether two are the same, all that there are, the best, and what bounds it."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.optimize import linprog


def same_groups(one, other):
    """Whether two labellings are the same partition, whatever the numbers of its groups."""
    one, other = np.asarray(one).tolist(), np.asarray(other).tolist()
    return len(set(zip(one, other, strict=True))) == len(set(one)) == len(set(other))


def partitions(rows, k):
    """All partitions of a list of rows into groups of at least k."""
    if not rows:
        yield []
        return
    first, rest = rows[0], rows[1:]
    for mask in range(2 ** len(rest)):
        group = [first, *[row for t, row in enumerate(rest) if mask >> t & 1]]
        if len(group) >= k:
            left = [row for t, row in enumerate(rest) if not mask >> t & 1]
            for others in partitions(left, k):
                yield [group, *others]


def squares(x):
    return ((x - x.mean(axis=0)) ** 2).sum()


def all_groups(n, k):
    return [rows for size in range(k, min(2 * k - 1, n) + 1) for rows in itertools.combinations(range(n), size)]


def least_squares(x, k):
    """The least sum of squares of any partition into groups of at least k, by looking at all."""

    def least(left):
        if not left:
            return 0.0
        first, rest = left[0], left[1:]
        found = np.inf
        for size in range(k, len(left) + 1):
            if 0 < len(left) - size < k:
                continue
            for others in itertools.combinations(rest, size - 1):
                group = [first, *others]
                cost = squares(x[group])
                if cost < found:
                    found = min(found, cost + least(tuple(row for row in rest if row not in others)))
        return found

    return least(tuple(range(len(x))))


def relaxation(x, k):
    """Value of the linear relaxation on all groups of k to 2k - 1."""
    groups = all_groups(len(x), k)
    matrix = np.zeros((len(x), len(groups)))
    for c, rows in enumerate(groups):
        matrix[list(rows), c] = 1.0
    costs = [squares(x[list(rows)]) for rows in groups]
    return linprog(costs, A_eq=matrix, b_eq=np.ones(len(x)), bounds=(0, None), method="highs").fun
