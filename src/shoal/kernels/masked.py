"""The pool of records with missing values.

The squared distance of two records uses the columns that both have observed, scaled up to all of them:
d / c times the sum over the c common columns. Two records with no common column are 2 d apart, which is what two
unrelated standardised records are on average. A centroid has the mean of the observed values in each column.
These distances are no metric, so no tree can be put under this pool: every search looks at all records.
Cost: O(d m) a search, as for complete records, with a larger constant.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.selection import insert_nearest


class MaskedPool(NamedTuple):
    """Records with missing values that have no group yet.

    Attributes
    ----------
    values : float64 (n, d)
        The records by row number; 0 where missing, which no result depends on.
    observed : bool (n, d)
        Which values there are.
    rows : int64 (n,)
        Row number in each slot; the first ``size[0]`` slots hold the records that remain.
    slots : int64 (n,)
        Slot of each row number.
    size : int64 (1,)
        How many records remain.
    total : float64 (d,)
        Sum of the observed values that remain.
    counts : int64 (d,)
        How many they are.
    centroid : float64 (d,)
        Working space.
    has_centroid : bool (d,)
        Working space: columns of the centroid that exist.
    """

    values: Floats
    observed: Flags
    rows: Ints
    slots: Ints
    size: Ints
    total: Floats
    counts: Ints
    centroid: Floats
    has_centroid: Flags


def open_masked_pool(values: Floats, observed: Flags) -> MaskedPool:
    """Put all records, a (n, d) array and its mask of observed values, into a pool."""
    n, d = values.shape
    values = np.where(observed, values, 0.0)
    return MaskedPool(
        values=values,
        observed=observed,
        rows=np.arange(n),
        slots=np.arange(n),
        size=np.array([n]),
        total=values.sum(axis=0),
        counts=observed.sum(axis=0),
        centroid=np.empty(d),
        has_centroid=np.empty(d, dtype=np.bool_),
    )


@kernel
def masked_distance(a: Floats, has_a: Flags, b: Floats, has_b: Flags) -> float:
    """Squared distance of two records over the columns that both have, scaled to all columns."""
    total, common = 0.0, 0
    d = a.shape[0]
    for j in range(d):
        if has_a[j] and has_b[j]:
            t = a[j] - b[j]
            total += t * t
            common += 1
    if common == 0:
        return 2.0 * d
    return total * (d / common)


@kernel
def distance(pool: MaskedPool, a: int, b: int) -> float:
    """Squared distance of two records."""
    return masked_distance(pool.values[a], pool.observed[a], pool.values[b], pool.observed[b])


@kernel
def _farthest_from_point(pool: MaskedPool, point: Floats, has: Flags) -> int:
    """Row of the remaining record farthest from a point; ties go to the lowest row."""
    best, best_row = -1.0, -1
    for a in range(pool.size[0]):
        row = pool.rows[a]
        s = masked_distance(pool.values[row], pool.observed[row], point, has)
        if s > best or (s == best and row < best_row):
            best, best_row = s, row
    return best_row


@kernel
def farthest_from_centroid(pool: MaskedPool) -> int:
    """Row of the remaining record farthest from the centroid of those that remain."""
    for j in range(pool.total.shape[0]):
        pool.has_centroid[j] = pool.counts[j] > 0
        pool.centroid[j] = pool.total[j] / max(pool.counts[j], 1)
    return _farthest_from_point(pool, pool.centroid, pool.has_centroid)


@kernel
def farthest(pool: MaskedPool, row: int) -> int:
    """Row of the remaining record farthest from a record."""
    return _farthest_from_point(pool, pool.values[row], pool.observed[row])


@kernel
def nearest(pool: MaskedPool, row: int, count: int, rows: Ints, distances: Floats) -> None:
    """Fill ``rows`` and ``distances`` with the ``count`` remaining records nearest to a record, nearest first.

    The record itself, if it remains, is at distance 0 even when nothing of it is observed.
    """
    for t in range(count):
        distances[t] = np.inf
        rows[t] = np.iinfo(np.int64).max
    for a in range(pool.size[0]):
        other = pool.rows[a]
        s = 0.0
        if other != row:
            s = distance(pool, other, row)
        insert_nearest(s, other, count, rows, distances)


@kernel
def remove(pool: MaskedPool, row: int) -> None:
    """Take a record out of the pool."""
    last = pool.size[0] - 1
    slot, moved = pool.slots[row], pool.rows[last]
    for j in range(pool.total.shape[0]):
        if pool.observed[row, j]:
            pool.total[j] -= pool.values[row, j]
            pool.counts[j] -= 1
    pool.rows[slot], pool.rows[last] = moved, row
    pool.slots[moved], pool.slots[row] = slot, last
    pool.size[0] = last
