"""The pool of complete records, searched by looking at every one of them.

Records that remain are kept in the first slots of each column, without holes, so that the distance loops run over
contiguous memory and vectorise. A record that leaves is swapped with the last one.
Cost: O(d m) a search with m records remaining, O(d) a removal; memory O(d n).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.selection import insert_nearest, sort_nearest

CHUNK = 512  # slots whose distances are held at a time: they stay in the first-level cache


class BrutePool(NamedTuple):
    """Complete records that have no group yet.

    Attributes
    ----------
    values : float64 (n, d)
        The records by row number; never changed.
    columns : float64 (d, n)
        The same by slot; the first ``size[0]`` slots of each column hold the records that remain.
    rows : int64 (n,)
        Row number in each slot.
    slots : int64 (n,)
        Slot of each row number.
    size : int64 (1,)
        How many records remain.
    total : float64 (d,)
        Sum of the records that remain.
    centroid : float64 (d,)
        Working space.
    chunk : float64 (CHUNK,)
        Working space.
    """

    values: Floats
    columns: Floats
    rows: Ints
    slots: Ints
    size: Ints
    total: Floats
    centroid: Floats
    chunk: Floats


def open_brute_pool(values: Floats) -> BrutePool:
    """Put all records, a (n, d) array, into a pool."""
    n, d = values.shape
    return BrutePool(
        values=values,
        columns=np.array(values.T, order="C", copy=True),
        rows=np.arange(n),
        slots=np.arange(n),
        size=np.array([n]),
        total=values.sum(axis=0),
        centroid=np.empty(d),
        chunk=np.empty(CHUNK),
    )


@kernel
def _fill_distances(columns: Floats, start: int, stop: int, point: Floats, out: Floats) -> None:
    """Squared distances of the slots from start to stop to a point, summed in the order of the columns."""
    width = stop - start
    for a in range(width):
        out[a] = 0.0
    for j in range(columns.shape[0]):
        column = columns[j, start:stop]
        p = point[j]
        for a in range(width):
            t = column[a] - p
            out[a] += t * t


@kernel
def distance(pool: BrutePool, a: int, b: int) -> float:
    """Squared distance of two records."""
    total = 0.0
    for j in range(pool.values.shape[1]):
        t = pool.values[a, j] - pool.values[b, j]
        total += t * t
    return total


@kernel
def _farthest_from_point(pool: BrutePool, point: Floats) -> int:
    """Row of the remaining record farthest from a point; ties go to the lowest row."""
    best, best_row = -1.0, -1
    size = pool.size[0]
    for start in range(0, size, CHUNK):
        stop = min(start + CHUNK, size)
        _fill_distances(pool.columns, start, stop, point, pool.chunk)
        for a in range(stop - start):
            s = pool.chunk[a]
            if s >= best:
                row = pool.rows[start + a]
                if s > best or row < best_row:
                    best, best_row = s, row
    return best_row


@kernel
def farthest_from_centroid(pool: BrutePool) -> int:
    """Row of the remaining record farthest from the centroid of those that remain."""
    for j in range(pool.total.shape[0]):
        pool.centroid[j] = pool.total[j] / pool.size[0]
    return _farthest_from_point(pool, pool.centroid)


@kernel
def farthest(pool: BrutePool, row: int) -> int:
    """Row of the remaining record farthest from a record."""
    return _farthest_from_point(pool, pool.values[row])


@kernel
def nearest(pool: BrutePool, row: int, count: int, rows: Ints, distances: Floats) -> None:
    """Fill ``rows`` and ``distances`` with the ``count`` remaining records nearest to a record, nearest first."""
    nearest_to_point(pool, pool.values[row], count, rows, distances)


@kernel
def nearly_nearest(pool: BrutePool, row: int, count: int, slack: np.float32, rows: Ints, distances: Floats) -> None:
    """Fill ``rows`` and ``distances`` as :func:`nearest` does: all records are looked at, whatever the ``slack``."""
    nearest_to_point(pool, pool.values[row], count, rows, distances)


@kernel
def nearest_to_point(pool: BrutePool, point: Floats, count: int, rows: Ints, distances: Floats) -> None:
    """Fill ``rows`` and ``distances`` with the ``count`` remaining records nearest to a point, nearest first."""
    for t in range(count):
        distances[t] = np.inf
        rows[t] = np.iinfo(np.int64).max
    size = pool.size[0]
    for start in range(0, size, CHUNK):
        stop = min(start + CHUNK, size)
        _fill_distances(pool.columns, start, stop, point, pool.chunk)
        for a in range(stop - start):
            if pool.chunk[a] <= distances[count - 1]:
                insert_nearest(pool.chunk[a], pool.rows[start + a], count, rows, distances)
    sort_nearest(count, rows, distances)


@kernel
def remove(pool: BrutePool, row: int) -> None:
    """Take a record out of the pool."""
    last = pool.size[0] - 1
    slot, moved = pool.slots[row], pool.rows[last]
    for j in range(pool.columns.shape[0]):
        pool.total[j] -= pool.columns[j, slot]
        pool.columns[j, slot], pool.columns[j, last] = pool.columns[j, last], pool.columns[j, slot]
    pool.rows[slot], pool.rows[last] = moved, row
    pool.slots[moved], pool.slots[row] = slot, last
    pool.size[0] = last
