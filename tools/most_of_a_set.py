"""Look for groups that hold most of a set of records and may cost less than their prices say, in whole numbers.

The records of a group that are in the set, A, are one of its subsets, and all of these are looked at. With others B, s
records in all, a group costs less if the distances of all its pairs are below s times its prices less the fine of the
set. For a records in A and with P, the distances of their pairs, a times the difference is

    s (P - a (prices of A - fine)) + sum over b in B of (a (distances of b to A) - P - a s (price of b))
        + a (distances of pairs of B)

The last is at least 0, so where the first and the s - a least of the sum are not below 0 together, there is no such
group. What is summed is a^2 times the squared distance of b to the mean of A less a s prices. Where subsets are many it
is made for those others only that can be near enough for it to be negative, and is 0 for the rest: the distance of b to
a record i of A is at most twice those of both to the mean, squared, and that of i to the mean is at most the largest of
a pair of the set.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy import ndarray

from cheaper_groups import insert

FEW = 14  # records of a set up to which all others are looked at with each of its subsets
LARGE = 2**58  # above what a record adds where it matters: with this it is not below 0


@numba.njit
def suspects(
    distances: ndarray, prices: ndarray, rows: ndarray, least: int, fine: int, k: int, found: ndarray, sizes: ndarray
) -> int:
    """Return how many subsets of at least ``least`` of ``rows`` may be in a group that costs less, of k + 1 to 2k - 1.

    ``found`` (m, s) takes the subsets, as many as it has room for, and ``sizes`` (m, 2) how many records each has and
    how many the group.
    """
    n, s, many = len(prices), len(rows), 0
    inside, others, count, widest = np.zeros(n, np.bool_), np.empty(n, np.int64), 0, 0
    for i in rows:
        inside[i] = True
        for j in rows:
            widest = max(widest, distances[i, j])
    for b in range(n):
        nearest = distances[rows[0], b]
        for i in rows:
            nearest = min(nearest, distances[i, b])
        if not inside[b] and (s <= FEW or least * max(0, nearest // 2 - widest) < (2 * k - 1) * prices[b]):
            others[count] = b
            count += 1
    members, sums, least_keys = np.empty(s, np.int64), np.empty(count, np.int64), np.empty(2 * k, np.int64)
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
            least_keys[: size - held] = LARGE if s <= FEW else 0
            for b in range(count if size > held else 0):
                insert(least_keys, size - held, size - held, held * (sums[b] - size * prices[others[b]]) - pairs)
            if size * (pairs - held * own) + least_keys[: size - held].sum() < 0:
                if many < len(found):
                    found[many, :held] = members[:held]
                    sizes[many, 0], sizes[many, 1] = held, size
                many += 1
    return many
