"""Groups that pay for a set: the one that undercuts its prices by most, found exactly from its records in the set.

A group of up to 2k - 1 records pays the multiplier of a set of fewer than 2k records once it holds q of them, more than
half. Its records in the set, A, are one of the subsets of the set, and these are few enough to be looked at one by one.
With the other members B, s records in all, it costs

    cost(A) + sum over b in B of (sum over a in A of d(a, b) - cost(A)) / s + sum over pairs of B of d / s

so that each of B has what it costs alone, and pairs of B add to that. Groups with A cost at least cost(A) and the least
of what the others cost alone, which mostly is enough to see that none is cheap; where it is not, B is put together one
by one in the same way.

Others are looked at in the order of the least that they may cost with any A, and only so many. For the rest there are
two lower bounds. The mean of A is no farther from the mean of the set than the record of the set that is farthest from
it, and the distances of b to A are no less than those to the nearest records of the set.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.partition.optimal.candidates import into_smallest

_WIDE = (64, 1024, 20)  # others that are looked at, at least and at most, and bits of the number for all subsets
_MARGIN = 1e-7  # part of a distance by which one between means may be wrong


@kernel
def price_paying(
    distances: Floats,
    prices: Floats,
    rows: Ints,
    step: int,
    multiplier: float,
    k: int,
    limit: int,
    least: Floats,
    found: Ints,
    sizes: Ints,
) -> int:
    """Lower ``least`` (1,) to a lower bound on the reduced costs of groups with ``step`` of ``rows`` or more.

    It is exact where at most ``limit`` steps are needed to put others together. The last improvements are written into
    ``found`` (t, 2k - 1) and ``sizes`` (t,), the best first; returns how many there are.
    """
    s, largest, many = len(rows), min(2 * k - 1, len(prices)), 0
    others, by_mean, by_nearest = _others_of(distances, prices, rows, step, k, largest)
    width = len(others)
    sums, linear = np.zeros((s + 1, width)), np.empty((largest + 1, width))
    pairs, total = np.zeros(s + 1), np.zeros(s + 1)
    taken, chosen = np.empty(s + 1, np.int64), np.empty(largest, np.int64)
    held, place = 0, 0
    while True:
        if place == s or held + s - place < step:
            if held == 0:
                return many
            held -= 1
            place = taken[held] + 1
            continue
        row = rows[place]
        taken[held], chosen[held] = place, row
        pairs[held + 1], total[held + 1] = pairs[held], total[held] + prices[row]
        for t in range(held):
            pairs[held + 1] += distances[row, chosen[t]]
        for b in range(width):
            sums[held + 1, b] = sums[held, b] + distances[row, others[b]]
        held, place = held + 1, place + 1
        if held < step:
            continue
        cost = pairs[held] / held
        base = cost - total[held] + multiplier
        gain = (largest - held) * min(0.0, by_mean[held, largest])
        for b in range(width):
            gain += min(0.0, (sums[held, b] - cost) / largest - prices[others[b]])
        if base + gain >= least[0]:
            continue  # others cost least in the largest group
        for size in range(max(k, held), largest + 1):
            for b in range(width):
                linear[0, b] = (sums[held, b] - cost) / size - prices[others[b]]
            floor = max(by_mean[held, size], by_nearest[held, size] - cost / size)
            many, limit = _with_others(
                distances, others, floor, linear, base, held, size, chosen, limit, least, found, sizes, many
            )


@kernel
def _others_of(
    distances: Floats, prices: Floats, rows: Ints, step: int, k: int, largest: int
) -> tuple[Ints, Floats, Floats]:
    """Return the records outside a set that may cost least, and what all others cost at least in a group.

    That is in two tables (s + 1, largest + 1) by the number of records in the set and the size; what is in the second
    is less what these records cost, over the size.
    """
    n, s, cost, radius = len(prices), len(rows), 0.0, 0.0
    inside, away, keys, near = np.zeros(n, np.bool_), np.zeros(n), np.full(n, np.inf), np.empty((n, s))
    for i in rows:
        inside[i] = True
        for j in rows:
            cost += distances[i, j] / (2 * s)
    for j in range(n):
        for t in range(s):
            near[j, t] = distances[rows[t], j]
        near[j] = np.cumsum(np.sort(near[j]))
        away[j] = np.sqrt(max(0.0, (near[j, s - 1] - cost) / s))  # the distance to the mean of the set
        if inside[j]:
            radius = max(radius, away[j])
    for j in range(n):
        away[j] = (1.0 - _MARGIN) * max(0.0, (1.0 - _MARGIN) * away[j] - (1.0 + _MARGIN) * radius) ** 2
        if not inside[j]:
            keys[j] = max(step * away[j], near[j, step - 1] - cost) / largest - prices[j]
    order = np.argsort(keys, kind="mergesort")
    width = min(max(_WIDE[0], min(_WIDE[1], 2 ** _WIDE[2] >> s)), n - s)
    by_mean, by_nearest = np.full((s + 1, largest + 1), np.inf), np.full((s + 1, largest + 1), np.inf)
    for held in range(step, s + 1):
        for size in range(max(k, held), largest + 1):
            for j in order[width : n - s]:
                by_mean[held, size] = min(by_mean[held, size], held * away[j] / size - prices[j])
                by_nearest[held, size] = min(by_nearest[held, size], near[j, held - 1] / size - prices[j])
    return order[:width].copy(), by_mean, by_nearest


@kernel
def _with_others(
    distances: Floats,
    others: Ints,
    floor: float,
    linear: Floats,
    base: float,
    held: int,
    size: int,
    chosen: Ints,
    limit: int,
    least: Floats,
    found: Ints,
    sizes: Ints,
    many: int,
) -> tuple[int, int]:
    """Lower ``least`` to what the chosen of a set cost with others in a group of a size.

    ``linear`` (largest + 1, m) has what each of ``others`` (m,) costs alone in its first row, and room in the rest;
    ``floor`` is what records that are not among these cost at least. Returns how many groups are found so far, and the
    steps that are left.
    """
    free, width = size - held, len(others)
    if free == 0:
        if base < least[0]:
            least[0] = base
            many = _keep(found, sizes, chosen, size, many)
        return many, limit
    smallest = np.empty(free)
    _least_of(linear[0], 0, free, smallest)
    bound, apart = base, base + floor
    for t in range(free):
        bound += min(smallest[t], floor)
        if t < free - 1:
            apart += min(smallest[t], floor)
    if bound >= least[0]:
        return many, limit
    least[0] = min(least[0], apart)  # groups with a record that is not among the others
    place, total = np.empty(free, np.int64), np.empty(free + 1)
    level, b = 0, 0
    total[0] = base
    while True:
        left = free - level
        whole = np.inf
        if b + left <= width:
            limit -= 1
            _least_of(linear[level], b, left, smallest)
            whole = total[level] + smallest[:left].sum()
            if whole < least[0] and limit < 0:
                least[0] = min(least[0], bound)
                return many, limit
        if whole >= least[0]:
            if level == 0:
                return many, limit
            level -= 1
            b = place[level] + 1
            continue
        place[level], chosen[held + level] = b, others[b]
        total[level + 1] = total[level] + linear[level, b]
        b += 1
        if left > 1:
            for c in range(b, width):
                linear[level + 1, c] = linear[level, c] + distances[others[b - 1], others[c]] / size
            level += 1
        elif total[level + 1] < least[0]:
            least[0] = total[level + 1]
            many = _keep(found, sizes, chosen, size, many)


@kernel
def _least_of(keys: Floats, first: int, count: int, smallest: Floats) -> None:
    """Write the ``count`` smallest of the keys from the first on, sorted, infinite where there are fewer."""
    smallest[:count] = np.inf
    for b in range(first, len(keys)):
        into_smallest(smallest, count, keys[b])


@kernel
def _keep(found: Ints, sizes: Ints, chosen: Ints, size: int, many: int) -> int:
    """Write a group into the first slot, and move the others on; return how many there are."""
    for slot in range(len(found) - 1, 0, -1):
        found[slot], sizes[slot] = found[slot - 1], sizes[slot - 1]
    found[0, :size], sizes[0] = chosen[:size], size
    return min(many + 1, len(found))
