"""What the records of a group contribute: the largest parts of its total, and how many persons they are of."""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Flags, Floats, Ints, Numbers
from shoal.kernels.compiling import kernel


@kernel
def largest_contributions(
    values: Numbers,
    there: Flags,
    weights: Floats,
    order: Ints,
    starts: Ints,
    offset: float,
    unit: float,
    many: int,
) -> tuple[Floats, Floats, Floats, Floats, Ints]:
    """Largest contribution of each group, the sum without the two largest, of the ``many`` largest, of all, and counts.

    A contribution is ``abs(value + offset) / unit`` times the weight of its row; ``weights`` has one entry where there
    are none. Rows that are not ``there`` contribute nothing. Where two rows contribute, the sum without the two largest
    is that without the largest.
    """
    groups = len(starts) - 1
    largest, others = np.zeros(groups), np.zeros(groups)
    most, total, counts = np.zeros(groups), np.zeros(groups), np.zeros(groups, np.int64)
    top = np.zeros(max(many, 2))
    for g in range(groups):
        for q in range(len(top)):
            top[q] = 0.0
        beyond = 0.0
        for a in range(starts[g], starts[g + 1]):
            row = order[a]
            if not there[row]:
                continue
            counts[g] += 1
            c = abs(values[row] + offset) / unit
            if len(weights) > 1:
                c *= weights[row]
            if c <= top[-1]:
                beyond += c
                continue
            beyond += top[-1]
            q = len(top) - 1
            while q > 0 and top[q - 1] < c:
                top[q] = top[q - 1]
                q -= 1
            top[q] = c
        rest = beyond
        for q in range(2, len(top)):
            rest += top[q]
        for q in range(many):
            most[g] += top[q]
        largest[g], total[g] = top[0], top[0] + (top[1] + rest)
        others[g] = top[1] if counts[g] == 2 else rest
    return largest, others, most, total, counts


@kernel
def count_distinct(codes: Ints, there: Flags, order: Ints, starts: Ints, size: int) -> Ints:
    """How many of ``size`` codes occur in each group, among the rows that are ``there`` (one entry: all)."""
    last = np.full(size, -1)
    counts = np.zeros(len(starts) - 1, np.int64)
    for g in range(len(starts) - 1):
        for a in range(starts[g], starts[g + 1]):
            row = order[a]
            if (len(there) == 1 or there[row]) and last[codes[row]] != g:
                last[codes[row]] = g
                counts[g] += 1
    return counts
