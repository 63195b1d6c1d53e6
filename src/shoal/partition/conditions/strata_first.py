"""t-closeness first: every group has one record of each stratum of a confidential column, the nearest to its seed.

Records are sorted by the column and cut into as many strata as a group has records, equally large but for the middle
one, which has what is left over. Seeds are those of MDAV: the record farthest from the centre of those that remain, and
the one farthest from that. A group is the nearest remaining record of each stratum, and of the middle one two while
that has more than there are groups to form. So every group has values from all over the column.

Source: J. Soria-Comas, J. Domingo-Ferrer, D. Sanchez and S. Martinez, t-closeness through microaggregation: strict
privacy with enhanced utility preservation, IEEE Transactions on Knowledge and Data Engineering 27(11), 2015, algorithm
3. With strata of one size the distance of a group is at most (n - g) / (2 (n - 1) g). With a remainder it may be more
(n = 7, g = 3: 0.135, where that says 0.111), so that whoever needs a distance has to look.

Cost: O(d n^2 / g). Every group has at least g records.
"""

from __future__ import annotations

import math

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.mixed import Metric, distance


def group_size(n: int, k: int, t: float) -> int:
    """Return the records of a group for which one of each stratum is near enough, were all strata of one size.

    >>> group_size(1080, 2, 0.05), group_size(1080, 30, 0.05)
    (10, 30)
    """
    return min(max(k, math.ceil(n / (2.0 * (n - 1) * t + 1.0) - 1e-9)), n) if n > 1 else n


def strata_first(values: Floats, metric: Metric | None, centre: Floats, ranks: Ints, size: int) -> Ints:
    """Return groups (n,), numbered from 0, of one record of each of ``size`` strata, and some with one more.

    Parameters
    ----------
    values : float64 (n, d)
        Records, by which nearest is meant.
    metric : Metric or None
        How far apart they are; Euclidean where nothing is said.
    centre : float64 (d,)
        Centre of all of them; that of the records that remain is followed where they are numbers.
    ranks : int64 (n,)
        What records are sorted by; equal ones keep their order.
    size : int
        Number of strata, at most n. Where the remainder is larger than the groups there are, it is raised.

    Examples
    --------
    >>> x = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> strata_first(x, None, x.mean(axis=0), np.array([0, 1, 2, 3]), 2)
    array([0, 1, 0, 1])
    """
    n = len(values)
    size += (n % size) // (n // size)
    return _strata_first(values, metric, centre.copy(), np.argsort(ranks, kind="stable"), size)


@kernel
def _strata_first(values: Floats, metric: Metric | None, centre: Floats, order: Ints, size: int) -> Ints:
    n, d = values.shape
    made = n // size
    extra = n - made * size
    middle = size // 2
    first, left = np.empty(size, np.int64), np.full(size, made)
    left[middle] += extra
    at = 0
    for s in range(size):
        first[s] = at
        at += left[s]
    rows = order.copy()
    groups = np.full(n, -1)
    seed = np.empty(d)
    for g in range(made):
        if g % 2 == 0:
            if metric is None and g > 0:
                centre[:] = 0.0
                count = 0
                for s in range(size):
                    for a in range(first[s], first[s] + left[s]):
                        centre += values[rows[a]]
                    count += left[s]
                centre /= count
            far = _farthest(values, metric, centre, rows, first, left)
        else:
            far = _farthest(values, metric, seed, rows, first, left)
        seed[:] = values[far]
        for s in range(size):
            take = 2 if s == middle and left[s] > made - g else 1
            for _ in range(take):
                best, least = -1, np.inf
                for a in range(first[s], first[s] + left[s]):
                    away = off(values[rows[a]], seed, metric)
                    if away < least:
                        best, least = a, away
                groups[rows[best]] = g
                left[s] -= 1
                last = first[s] + left[s]
                rows[best], rows[last] = rows[last], rows[best]
    return groups


@kernel
def _farthest(values: Floats, metric: Metric | None, point: Floats, rows: Ints, first: Ints, left: Ints) -> int:
    """Record farthest from a point among those that remain."""
    found, most = -1, -1.0
    for s in range(len(first)):
        for a in range(first[s], first[s] + left[s]):
            away = off(values[rows[a]], point, metric)
            if away > most or (away == most and rows[a] < found):
                found, most = rows[a], away
    return found


@kernel(inline=True)
def off(one: Floats, centre: Floats, metric: Metric | None) -> float:
    """Squared distance of a record from a centre."""
    if metric is None:
        total = 0.0
        for j in range(len(one)):
            total += (one[j] - centre[j]) ** 2
        return total
    far = distance(one, centre, metric)
    return far * far
