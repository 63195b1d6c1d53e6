"""Look for groups that hold most of a set of records and may cost less than their prices say, in whole numbers.

The records of a group that are in the set, A, are one of its subsets, and all of these are looked at. With others B, s
records in all, a group costs less if the distances of all its pairs are below s times its prices less the fine of the
set. The distances inside B are at least 0, so without them each of B has what it adds alone, and where the sum of what
A comes to and of all that is negative is not below 0, there is no such group. Only others count whose distances to the
nearest records of the set are below their price times the largest size: what others add is not negative.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy import ndarray


@numba.njit
def suspects(
    distances: ndarray, prices: ndarray, rows: ndarray, least: int, fine: int, k: int, found: ndarray, sizes: ndarray
) -> int:
    """Return how many subsets of at least ``least`` of ``rows`` may be in a group that costs less, of k + 1 to 2k - 1.

    ``found`` (m, s) takes the subsets, as many as it has room for, and ``sizes`` (m, 2) how many records each has and
    how many the group.
    """
    n, s, many = len(prices), len(rows), 0
    inside, near = np.zeros(n, np.bool_), np.empty(s, np.int64)
    inside[rows] = True
    others = np.empty(n, np.int64)
    count = 0
    for b in range(n):
        for t in range(s):
            near[t] = distances[rows[t], b]
        if not inside[b] and np.sort(near)[:least].sum() < (2 * k - 1) * prices[b]:
            others[count] = b
            count += 1
    members, sums = np.empty(s, np.int64), np.empty(count, np.int64)
    for mask in range(1 << s):
        held = 0
        for t in range(s):
            if mask >> t & 1:
                members[held] = rows[t]
                held += 1
        if held < least:
            continue
        pairs, own = 0, -fine
        for i in range(held):
            own += prices[members[i]]
            for j in range(i):
                pairs += distances[members[i], members[j]]
        for b in range(count):
            sums[b] = 0
            for i in range(held):
                sums[b] += distances[members[i], others[b]]
        for size in range(max(k + 1, held), 2 * k):
            total = pairs - size * own
            if size > held:
                for b in range(count):
                    total += min(0, sums[b] - size * prices[others[b]])
            if total < 0:
                if many < len(found):
                    found[many, :held] = members[:held]
                    sizes[many, 0], sizes[many, 1] = held, size
                many += 1
    return many
