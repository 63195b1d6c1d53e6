"""t-closeness first: every group has one record of each stratum of a confidential column, the nearest to its seed.

Records are sorted by the column and cut into as many strata as a group has records, equally large but for the middle
one, which has what is left over. Seeds are those of MDAV: the record farthest from the centre of those that remain, and
the one farthest from that. A group is the nearest remaining record of each stratum, and of the middle one two while
that has more than there are groups to form. So every group has values from all over the column.

Source: J. Soria-Comas, J. Domingo-Ferrer, D. Sanchez and S. Martinez, t-closeness through microaggregation: strict
privacy with enhanced utility preservation, IEEE Transactions on Knowledge and Data Engineering 27(11), 2015, algorithm
3. With strata of one size the distance of a group is at most (n - g) / (2 (n - 1) g). With a remainder it may be more
(n = 7, g = 3: 0.135, where that says 0.111), so that whoever needs a distance has to look.

Numbers are looked up in two indexes: one of all records that remain, for seeds, and one with a further column, the
number of the stratum times more than any distance, in which the nearest of a stratum is the nearest to the seed there.

Cost: n / g searches for seeds and n for members, which are O(d n^2 / g) where every search looks at every record, as
for records that are no numbers. Every group has at least g records.
"""

from __future__ import annotations

import math

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.mixed import Metric, distance
from shoal.kernels.pool import Pool, farthest, farthest_from_centroid, nearest_to_point, open_pool, remove
from shoal.kernels.watch import DONE, STOP, new_watch


def group_size(n: int, k: int, t: float) -> int:
    """Return the records of a group for which one of each stratum is near enough, were all strata of one size.

    >>> group_size(1080, 2, 0.05), group_size(1080, 30, 0.05)
    (10, 30)
    """
    return min(max(k, math.ceil(n / (2.0 * (n - 1) * t + 1.0) - 1e-9)), n) if n > 1 else n


def strata_first(
    values: Floats, metric: Metric | None, centre: Floats, ranks: Ints, size: int, watch: Ints | None = None
) -> Ints:
    """Return groups (n,), numbered from 0, of one record of each of ``size`` strata, and some with one more.

    Parameters
    ----------
    values : float64 (n, d)
        Records, by which nearest is meant.
    metric : Metric or None
        How far apart they are; Euclidean where nothing is said.
    centre : float64 (d,)
        Centre of all of them, from which every other seed is farthest; where they are numbers it is the centre of those
        that remain instead.
    ranks : int64 (n,)
        What records are sorted by; equal ones keep their order.
    size : int
        Number of strata, at most n. Where the remainder is larger than the groups there are, it is raised.
    watch : int64 (2,) or None
        Of whoever waits.

    Examples
    --------
    >>> x = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> strata_first(x, None, x.mean(axis=0), np.array([0, 1, 2, 3]), 2)
    array([0, 1, 0, 1])
    """
    n = len(values)
    watch = new_watch() if watch is None else watch
    size += (n % size) // (n // size)
    first = strata_starts(n, size)
    order = np.argsort(ranks, kind="stable")
    if metric is not None:
        return _strata_of_any_kind(values, metric, centre, order, first, watch)
    stratum = np.empty(n)
    stratum[order] = np.repeat(np.arange(size), np.diff(first))
    apart = 2.0 * float(np.sqrt(((values.max(axis=0) - values.min(axis=0)) ** 2).sum())) + 1.0
    beside = np.column_stack([values, stratum * apart])
    groups = np.full(n, -1)
    _strata_of_numbers(open_pool(values), open_pool(beside), values, apart, np.diff(first), watch, groups)
    return groups


def strata_starts(n: int, size: int) -> Ints:
    """Return where each of some strata of sorted records starts, and n: of one size, but for the middle one.

    >>> strata_starts(11, 3)
    array([ 0,  3,  8, 11])
    """
    lengths = np.full(size, n // size)
    lengths[size // 2] += n - size * (n // size)
    return np.concatenate([[0], np.cumsum(lengths)])


@kernel
def _strata_of_numbers(
    pool: Pool, strata: Pool, values: Floats, apart: float, left: Ints, watch: Ints, groups: Ints
) -> None:
    """Label records (n,) that are in both pools; ``left`` are the records of each stratum, ``apart`` from the next."""
    d, size = values.shape[1], len(left)
    left = left.copy()
    made, middle = left.min(), size // 2
    point, row, away = np.empty(d + 1), np.empty(1, np.int64), np.empty(1)
    seed = -1
    for g in range(made):
        if watch[STOP] != 0:
            return
        seed = farthest_from_centroid(pool) if g % 2 == 0 else farthest(pool, seed)
        point[:d] = values[seed]
        for s in range(size):
            point[d] = s * apart
            for _ in range(2 if s == middle and left[s] > made - g else 1):
                nearest_to_point(strata, point, 1, row, away)
                groups[row[0]] = g
                remove(strata, row[0])
                remove(pool, row[0])
                left[s] -= 1
        watch[DONE] = len(groups) - pool.size[0]


@kernel
def _strata_of_any_kind(values: Floats, metric: Metric, centre: Floats, order: Ints, first: Ints, watch: Ints) -> Ints:
    """Groups (n,) of records in ``order`` whose strata start at ``first`` (strata + 1,)."""
    n, d = values.shape
    size = len(first) - 1
    left = np.diff(first)
    made, middle = left.min(), size // 2
    rows, groups, seed = order.copy(), np.full(n, -1), np.empty(d)
    for g in range(made):
        if watch[STOP] != 0:
            break
        seed[:] = values[_farthest(values, metric, centre if g % 2 == 0 else seed, rows, first, left)]
        for s in range(size):
            for _ in range(2 if s == middle and left[s] > made - g else 1):
                best, least = -1, np.inf
                for a in range(first[s], first[s] + left[s]):
                    away = off(values[rows[a]], seed, metric)
                    if away < least or (away == least and rows[a] < rows[best]):
                        best, least = a, away
                groups[rows[best]] = g
                left[s] -= 1
                last = first[s] + left[s]
                rows[best], rows[last] = rows[last], rows[best]
        watch[DONE] += size
    return groups


@kernel
def _farthest(values: Floats, metric: Metric, point: Floats, rows: Ints, first: Ints, left: Ints) -> int:
    """Record farthest from a point among those that remain."""
    found, most = -1, -1.0
    for s in range(len(left)):
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


@kernel
def squared_distances(values: Floats, metric: Metric | None, centres: Floats, groups: Ints) -> float:
    """Sum of the squared distances of records from the centres of their groups."""
    total = 0.0
    for row in range(len(groups)):
        total += off(values[row], centres[groups[row]], metric)
    return total
