"""Candidates of a root: the records that can be with it in a group of k below a given reduced cost.

A group of a root has q = k - 1 other members. Each of them costs its distance to the root over k less its price, and
half of its distances to the q - 1 others over k, which are no less than those to the nearest candidates. The q least of
these keys say what a group costs at least, and a candidate with which that is too much is dropped. Then the nearest
candidates of the others may be farther away, and so on. What is left is tried as a second member each: its distances to
the other candidates count in full then.

Cost: O(m^2) for m candidates, a few times.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel


@kernel
def candidates_of(
    distances: Floats,
    crowd: Floats,
    prices: Floats,
    rank: Ints,
    k: int,
    root: int,
    best: float,
    rows: Ints,
    linear: Floats,
) -> tuple[int, float]:
    """Write records that can be in a group of a root that is below the best; return how many, and a lower bound.

    ``rows`` and ``linear`` (n,) get the candidates and what they cost alone; the others are as in ``price_roots``.
    """
    n, q = len(prices), k - 1
    keys, nearer, smallest = np.empty(n), np.empty(n), np.empty(q)
    m = 0
    for j in range(n):
        if rank[j] < rank[root]:
            rows[m], linear[m] = j, distances[root, j] / k - prices[j]
            keys[m] = linear[m] + crowd[j] / (2 * k)
            m += 1
    turn = 0
    while True:
        if m < q:
            return 0, best
        smallest[:] = np.inf
        for a in range(m):
            into_smallest(smallest, q, keys[a])
        first = -prices[root] + smallest.sum()
        if first >= best:
            return 0, best
        highest = best - (first - smallest[q - 1])
        kept = 0
        for a in range(m):
            if keys[a] < highest:
                rows[kept], linear[kept], nearer[kept] = rows[a], linear[a], nearer[a]
                kept += 1
        if q == 1:
            return kept, first
        if kept == m and turn > 0:
            kept = _seconds(distances, k, -prices[root], best, rows, linear, nearer, m)
            if kept == m:
                return m, first
        m = kept
        for a in range(m):
            smallest[: q - 1] = np.inf
            for b in range(m):
                if b != a:
                    into_smallest(smallest, q - 1, distances[rows[a], rows[b]])
            nearer[a] = smallest[: q - 2].sum() / (2 * k)
            keys[a] = linear[a] + nearer[a] + smallest[q - 2] / (2 * k)
        turn += 1


@kernel
def _seconds(
    distances: Floats, k: int, base: float, best: float, rows: Ints, linear: Floats, nearer: Floats, m: int
) -> int:
    """Drop candidates that cannot be a second member; return how many are left.

    ``nearer`` (m,) is half of the distances of a candidate to the k - 3 nearest others, over k.
    """
    others = k - 2
    dropped, smallest = np.zeros(m, np.bool_), np.empty(others)
    for a in range(m):
        smallest[:] = np.inf
        for b in range(m):
            if b != a and not dropped[b]:
                into_smallest(smallest, others, linear[b] + distances[rows[a], rows[b]] / k + nearer[b])
        dropped[a] = base + linear[a] + smallest.sum() >= best
    kept = 0
    for a in range(m):
        if not dropped[a]:
            rows[kept], linear[kept] = rows[a], linear[a]
            kept += 1
    return kept


@kernel
def into_smallest(smallest: Floats, count: int, key: float) -> None:
    """Keep the ``count`` smallest keys, sorted."""
    if key >= smallest[count - 1]:
        return
    c = count - 1
    while c > 0 and smallest[c - 1] > key:
        smallest[c] = smallest[c - 1]
        c -= 1
    smallest[c] = key
