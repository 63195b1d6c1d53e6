"""Partitions of a few records: whether two are the same, all that there are, and the best of them."""

from __future__ import annotations

import numpy as np


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


def least_squares(values, k):
    """The least sum of squares of any partition, by looking at all."""
    return min(
        sum(((values[g] - values[g].mean(axis=0)) ** 2).sum() for g in parts)
        for parts in partitions(list(range(len(values))), k)
    )
