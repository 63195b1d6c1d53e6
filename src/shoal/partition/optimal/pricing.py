"""Pricing: for each record the group that undercuts the prices of its members by most, found exactly.

Every record has a price. The reduced cost of a group is its sum of squares, the sum of the squared distances of its
pairs over its size, less the prices of its members. Its root is the member with the highest price, of equal ones the
last. For each root and each size s from k to 2k - 1 groups are grown depth first, member by member. A candidate j adds
its term, the distances to the members so far over s less its price. What q more members add is at least the sum of the
q least terms, and each of the q also has q - 1 distances to the others, of which half counts: no less than those to the
records nearest to it. Candidates are kept sorted by the two together, so that a branch ends at the first one that
cannot reach what was found already.

Cost: exponential in k at worst; a few candidates for each root where the prices are near the best ones.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.watch import DONE, STOP

_LOOK = 1024  # branches between two looks at the watch
_SHORT = 40  # candidates up to which sorting by insertion is the fastest


@kernel
def squared_distances(values: Floats) -> Floats:
    """Squared distance of each pair (n, n) of ``values`` (n, d)."""
    n, d = values.shape
    distances = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            total = 0.0
            for column in range(d):
                total += (values[i, column] - values[j, column]) ** 2
            distances[i, j] = total
            distances[j, i] = total
    return distances


@kernel
def price_roots(  # noqa: PLR0915 - a search loop in one piece
    distances: Floats,
    crowd: Floats,
    prices: Floats,
    rank: Ints,
    near: Ints,
    k: int,
    roots: Ints,
    most: float,
    least: Floats,
    found: Ints,
    sizes: Ints,
    watch: Ints,
) -> None:
    """Fill ``least`` (n,) at ``roots`` with the least reduced cost of a group of that root, at most ``most``.

    ``distances`` is (n, n), ``crowd`` (n, 2k - 1) the sum of the distances of a record to the m nearest others,
    ``prices`` (n,), ``rank`` (n,) the places of records by price, ``near`` (n, m) the candidates of each root, all
    records where m is 0. ``found`` (n, t, 2k - 1) and ``sizes`` (n, t), 0 before, take the t last improvements of each
    root, the best first. Returns early where the watch says so: nothing is then known about roots not finished.
    """
    n = len(prices)
    width = near.shape[1] if near.shape[1] > 0 else n
    depth = 2 * k
    rows, terms, keys = np.empty((depth, width), np.int64), np.empty((depth, width)), np.empty((depth, width))
    counts, place, value = np.zeros(depth, np.int64), np.zeros(depth, np.int64), np.zeros(depth)
    smallest = np.empty(depth)
    chosen = np.empty(depth, np.int64)
    branches = 0
    for root in roots:
        best = most
        for size in range(k, min(2 * k - 1, n) + 1):
            left = size - 1
            # the candidates of the root alone
            smallest[:left] = np.inf
            for c in range(width):
                j = near[root, c] if near.shape[1] > 0 else c
                if rank[j] < rank[root]:
                    _into(smallest, left, distances[root, j] / size - prices[j] + crowd[j, left - 1] / (2 * size))
            limit = best + prices[root] - smallest[: left - 1].sum()
            count = 0
            for c in range(width):
                j = near[root, c] if near.shape[1] > 0 else c
                if rank[j] < rank[root]:
                    term = distances[root, j] / size - prices[j]
                    key = term + crowd[j, left - 1] / (2 * size)
                    if key < limit:
                        rows[0, count], terms[0, count], keys[0, count] = j, term, key
                        count += 1
            _sort(rows[0], terms[0], keys[0], count)
            chosen[0] = root
            counts[0], place[0], value[0] = count, 0, -prices[root]
            level = 0
            while level >= 0:
                left = size - 1 - level
                p = place[level]
                reached = value[level]
                if p + left <= counts[level]:
                    for c in range(p, p + left):
                        reached += keys[level, c]
                if p + left > counts[level] or reached >= best:
                    level -= 1
                    continue
                branches += 1
                if branches % _LOOK == 0 and watch[STOP] != 0:
                    return
                place[level] = p + 1
                i = rows[level, p]
                chosen[level + 1] = i
                base = value[level] + terms[level, p]
                if left == 1:
                    best = base
                    _keep(found[root], sizes[root], chosen, size)
                    continue
                # a candidate goes on if it and the best of the others can still reach the best
                others = value[level] + keys[level, p]
                for c in range(p + 1, p + left - 1):
                    others += keys[level, c]
                smallest[: left - 1] = np.inf
                count = 0
                deeper = level + 1
                for c in range(p + 1, counts[level]):
                    if others + keys[level, c] >= best:
                        break
                    j = rows[level, c]
                    term = terms[level, c] + distances[i, j] / size
                    key = term + crowd[j, left - 2] / (2 * size)
                    _into(smallest, left - 1, key)
                    rows[deeper, count], terms[deeper, count], keys[deeper, count] = j, term, key
                    count += 1
                if count < left - 1:
                    continue
                limit = best - base - smallest[: left - 2].sum()
                kept = 0
                for c in range(count):
                    if keys[deeper, c] < limit:
                        rows[deeper, kept] = rows[deeper, c]
                        terms[deeper, kept] = terms[deeper, c]
                        keys[deeper, kept] = keys[deeper, c]
                        kept += 1
                if kept < left - 1:
                    continue
                _sort(rows[deeper], terms[deeper], keys[deeper], kept)
                counts[deeper], place[deeper], value[deeper] = kept, 0, base
                level = deeper
        least[root] = best
        watch[DONE] += 1


@kernel
def _into(smallest: Floats, count: int, key: float) -> None:
    """Keep the ``count`` smallest keys, sorted."""
    if key >= smallest[count - 1]:
        return
    c = count - 1
    while c > 0 and smallest[c - 1] > key:
        smallest[c] = smallest[c - 1]
        c -= 1
    smallest[c] = key


@kernel
def _sort(rows: Ints, terms: Floats, keys: Floats, count: int) -> None:
    """Sort the first ``count`` candidates by key, stable."""
    if count > _SHORT:
        order = np.argsort(keys[:count], kind="mergesort")
        rows[:count], terms[:count], keys[:count] = rows[order], terms[order], keys[order]
        return
    for a in range(1, count):
        row, term, key = rows[a], terms[a], keys[a]
        b = a
        while b > 0 and keys[b - 1] > key:
            rows[b], terms[b], keys[b] = rows[b - 1], terms[b - 1], keys[b - 1]
            b -= 1
        rows[b], terms[b], keys[b] = row, term, key


@kernel
def _keep(found: Ints, sizes: Ints, chosen: Ints, size: int) -> None:
    """Write a group into the first slot, and move the others on; ``found`` (t, 2k - 1), ``sizes`` (t,)."""
    for slot in range(len(sizes) - 1, 0, -1):
        sizes[slot] = sizes[slot - 1]
        for c in range(sizes[slot]):
            found[slot, c] = found[slot - 1, c]
    sizes[0] = size
    for c in range(size):
        found[0, c] = chosen[c]
