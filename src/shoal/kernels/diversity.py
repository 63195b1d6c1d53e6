"""The values of a confidential column within each group of equal keys."""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel


@kernel
def count_values(groups: Ints, codes: Ints) -> tuple[Ints, Ints]:
    """Group and count of each value within each group; both (n,), sorted by group and then by code."""
    n = len(groups)
    of, counts = np.empty(n, np.int64), np.empty(n, np.int64)
    found = 0
    for a in range(n):
        if a > 0 and groups[a] == groups[a - 1] and codes[a] == codes[a - 1]:
            counts[found - 1] += 1
        else:
            of[found], counts[found] = groups[a], 1
            found += 1
    return of[:found].copy(), counts[:found].copy()


@kernel
def ordered_distances(groups: Ints, codes: Ints, below: Floats) -> Floats:
    """Mean absolute difference of the distribution function of each group to that of the table.

    ``groups`` and ``codes`` (n,) are sorted by group and then by code; ``below`` (m,) is the share of the table up to
    each code. Between two codes of a group its function is constant and the table's grows, so that the sum of
    differences there comes from prefix sums, cut where the two cross. O(log m) a record.
    """
    m, n = len(below), len(groups)
    prefix = np.zeros(m + 1)
    for c in range(m):
        prefix[c + 1] = prefix[c] + below[c]
    distances = np.zeros(n)
    found, start = 0, 0
    while start < n:
        stop = start
        while stop < n and groups[stop] == groups[start]:
            stop += 1
        total, code = 0.0, 0
        for a in range(start, stop + 1):
            until = codes[a] if a < stop else m
            if until > code:
                level = (a - start) / (stop - start)
                cross = code + np.searchsorted(below[code:until], level)
                total += level * (cross - code) - (prefix[cross] - prefix[code])
                total += (prefix[until] - prefix[cross]) - level * (until - cross)
                code = until
        distances[found] = total / (m - 1)
        found += 1
        start = stop
    return distances[:found].copy()
