"""Groups of one record of each stratum, matched by place: all strata are cut at their own medians, again and again.

Records are sorted by a confidential column and cut into strata, as in :mod:`.strata_first`. A cell holds as many
records of every stratum as there will be groups in it. It is cut in two along the column in which its records differ
most inside their strata: every stratum gives the lower half of its own records to one side, whatever its values are.
What is left in a cell of one group is that group. So the lowest records of every stratum are put together, and the
highest: where a confidential column goes with a quasi-identifier, strata lie beside each other, and records are moved
no farther than these are apart. Taking the nearest of every stratum to a seed is nearer at first, and ends with records
that nobody wanted.

This is the rearrangement of M. Rosenblatt and H. Knothe, in cells: in one column it matches quantiles, which no other
matching of strata betters.

Cost: O(d n log n). Every group has at least as many records as there are strata.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.selection import select_rank
from shoal.partition.conditions.strata_first import strata_starts


def matched_cells(values: Floats, ranks: Floats, size: int) -> Ints:
    """Return groups (n,), numbered from 0, of one record of each of ``size`` strata, and some with one more.

    Parameters
    ----------
    values : float64 (n, d)
        Records, complete.
    ranks : float64 (n,)
        What records are sorted by; equal ones keep their order.
    size : int
        Number of strata, at most n. Where the remainder is larger than the groups there are, it is raised.

    Examples
    --------
    >>> x = np.array([[0.0], [1.0], [2.0], [5.0], [6.0], [7.0]])
    >>> matched_cells(x, np.arange(6.0), 2)
    array([0, 1, 2, 0, 1, 2])
    """
    n = len(values)
    size += (n % size) // (n // size)
    order, first = np.argsort(ranks, kind="stable"), strata_starts(n, size)
    return _cut(values, order, first, 1)


def cells_of(values: Floats, most: int) -> Ints:
    """Return the cell (n,) of each record, of at most so many records that are near to each other."""
    return _cut(values, np.arange(len(values)), np.array([0, len(values)]), most)


@kernel
def _cut(values: Floats, order: Ints, first: Ints, most: int) -> Ints:
    """Cells (n,) of records in ``order`` whose strata start at ``first`` (strata + 1,), of at most so many of each."""
    n = len(values)
    size = len(first) - 1
    middle, made = size // 2, n // size
    rows, groups = order.copy(), np.empty(n, np.int64)
    keys = np.empty(n)
    # a cell: where it starts in every stratum and in the middle one, its groups, and what the middle one has beside
    cells = np.empty((128, 4), np.int64)
    cells[0, 0], cells[0, 1], cells[0, 2], cells[0, 3] = 0, 0, made, n - size * made
    waiting, number = 1, 0
    while waiting > 0:
        waiting -= 1
        start, middle_start, count, extra = cells[waiting]
        if count <= most:
            for s in range(size):
                low = first[s] + (middle_start if s == middle else start)
                for a in range(low, low + count + (extra if s == middle else 0)):
                    groups[rows[a]] = number
            number += 1
            continue
        half = count // 2
        beside = (extra * half + count - 1) // count
        column = _widest(values, rows, first, start, middle_start, count, extra)
        for s in range(size):
            low = first[s] + (middle_start if s == middle else start)
            length = count + (extra if s == middle else 0)
            lower = half + (beside if s == middle else 0)
            for a in range(low, low + length):
                keys[a] = values[rows[a], column]
            if 0 < lower < length:
                select_rank(keys, rows, low, low + length - 1, low + lower)
        cells[waiting, 0], cells[waiting, 1] = start + half, middle_start + half + beside
        cells[waiting, 2], cells[waiting, 3] = count - half, extra - beside
        cells[waiting + 1, 0], cells[waiting + 1, 1] = start, middle_start
        cells[waiting + 1, 2], cells[waiting + 1, 3] = half, beside
        waiting += 2
    return groups


@kernel
def _widest(values: Floats, rows: Ints, first: Ints, start: int, middle_start: int, count: int, extra: int) -> int:
    """Column in which the records of a cell differ most from the means of their strata."""
    size, d = len(first) - 1, values.shape[1]
    spread, sums, squares = np.zeros(d), np.empty(d), np.empty(d)
    for s in range(size):
        low = first[s] + (middle_start if s == size // 2 else start)
        length = count + (extra if s == size // 2 else 0)
        sums[:], squares[:] = 0.0, 0.0
        for a in range(low, low + length):
            for j in range(d):
                v = values[rows[a], j]
                sums[j] += v
                squares[j] += v * v
        for j in range(d):
            spread[j] += squares[j] - sums[j] * sums[j] / length
    return int(np.argmax(spread))
