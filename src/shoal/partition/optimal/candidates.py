"""Candidates of a root: the records that can be with it in a group of a size below a given reduced cost.

A group of a root has q other members, one less than its size. Each of them costs its distance to the root over the size
less its price, and half of its distances to the q - 1 others over the size, which are no less than those to the nearest
candidates. The q least of these keys say what a group costs at least, and a candidate with which that is too much is
dropped. Then the nearest candidates of the others may be farther away, and so on. What is left is tried as a second
member each: its distances to the other candidates count in full then.

The others may hold only so many records of a set: then the least keys are those of the best number of records inside
the set and of others outside.

Cost: O(m^2) for m candidates, a few times.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.kernels.compiling import kernel


@kernel
def candidates_of(
    distances: Floats,
    crowd: Floats,
    prices: Floats,
    allowed: Flags,
    inside: Flags,
    size: int,
    high: int,
    root: int,
    base: float,
    best: float,
    rows: Ints,
    linear: Floats,
) -> tuple[int, float]:
    """Write records that can be in a group of a root that is below the best; return how many, and a lower bound.

    ``allowed`` (n,) are the records that may be with the root, at most ``high`` of those ``inside`` (n,);
    ``base`` is what the root costs alone, ``crowd`` (n,) the sum of the distances of a record to the size - 2 nearest
    others. ``rows`` and ``linear`` (n,) get the candidates and what they cost alone.
    """
    n, q = len(prices), size - 1
    keys, nearer, smallest = np.empty(n), np.empty(n), np.empty((2, q))
    m = 0
    for j in range(n):
        if allowed[j]:
            rows[m], linear[m] = j, distances[root, j] / size - prices[j]
            keys[m] = linear[m] + crowd[j] / (2 * size)
            m += 1
    turn = 0
    while True:
        if m < q:
            return 0, best
        smallest[:] = np.inf
        for a in range(m):
            into_smallest(smallest[int(inside[rows[a]])], q, keys[a])
        first = base + least_sum(smallest, high, q)
        if first >= best:
            return 0, best
        without = base + least_sum(smallest, high, q - 1)
        within = base + least_sum(smallest, high - 1, q - 1)
        kept = 0
        for a in range(m):
            if keys[a] + (within if inside[rows[a]] else without) < best:
                rows[kept], linear[kept], nearer[kept] = rows[a], linear[a], nearer[a]
                kept += 1
        if q == 1:
            return kept, first
        if kept == m and turn > 0:
            kept = _seconds(distances, inside, size, high, base, best, rows, linear, nearer, m)
            if kept == m:
                return m, first
        m = kept
        for a in range(m):
            closest = smallest[0, : q - 1]
            closest[:] = np.inf
            for b in range(m):
                if b != a:
                    into_smallest(closest, q - 1, distances[rows[a], rows[b]])
            nearer[a] = closest[: q - 2].sum() / (2 * size)
            keys[a] = linear[a] + nearer[a] + closest[q - 2] / (2 * size)
        turn += 1


@kernel
def _seconds(
    distances: Floats,
    inside: Flags,
    size: int,
    high: int,
    base: float,
    best: float,
    rows: Ints,
    linear: Floats,
    nearer: Floats,
    m: int,
) -> int:
    """Drop candidates that cannot be a second member; return how many are left.

    ``nearer`` (m,) is half of the distances of a candidate to the size - 3 nearest others, over the size.
    """
    others = size - 2
    dropped, smallest = np.zeros(m, np.bool_), np.empty((2, others))
    for a in range(m):
        smallest[:] = np.inf
        own = int(inside[rows[a]])
        for b in range(m):
            if b != a and not dropped[b]:
                key = linear[b] + distances[rows[a], rows[b]] / size + nearer[b]
                into_smallest(smallest[int(inside[rows[b]])], others, key)
        dropped[a] = base + linear[a] + least_sum(smallest, high - own, others) >= best
    kept = 0
    for a in range(m):
        if not dropped[a]:
            rows[kept], linear[kept] = rows[a], linear[a]
            kept += 1
    return kept


@kernel
def least_sum(smallest: Floats, high: int, count: int) -> float:
    """Return the least sum of ``count`` keys, see :func:`cheapest`."""
    return cheapest(smallest, high, count)[1]


@kernel
def cheapest(smallest: Floats, high: int, count: int) -> tuple[int, float]:
    """Return how many of the ``count`` keys with the least sum are inside a set, at most ``high``, and that sum.

    ``smallest`` (2, count or more) are the smallest keys outside and inside, sorted, and infinite where there are no
    more. The sum is infinite where there is no such choice.
    """
    held, least = 0, np.inf
    for inside in range(min(high, count) + 1):
        total = 0.0
        for t in range(inside):
            total += smallest[1, t]
        for t in range(count - inside):
            total += smallest[0, t]
        if total < least:
            held, least = inside, total
    return held, least


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
