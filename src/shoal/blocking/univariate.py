"""Blocking by one attribute: equal intervals of its range, equal counts of its sorted values, or a cut every L of them.

Equal intervals are the plain way that the 2^d-tree was compared with on uniform records: the range is divided into
n / L intervals. From the lowest on, an interval with fewer than k records is joined with the next ones until they have
k together; where fewer than k are left after that, they belong to the block before them.
A cut every L records is what its figures on EIA come from: see ``docs/results/blocking.md``.

Records that are equal in the column stay in the order of the table, and a cut may run between them.

Source of both: A. Solanas, A. Martinez-Balleste, J. Domingo-Ferrer, S. Bujalance and J. M. Mateo-Sanz, A 2^d-tree-based
blocking method for microaggregating very large data sets; J. Domingo-Ferrer, Blocking methods for microdata protection.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from shoal.blocking.counting import Counts, Over, Reach
from shoal.kernels.arrays import Floats, Ints


def equal_intervals(values: Floats, k: int, size: int) -> Ints:
    """Number the block of each record: intervals of the first column of ``values``.

    >>> equal_intervals(np.array([[0.0], [0.1], [0.9], [1.0]]), 2, 2)
    array([0, 0, 1, 1])
    """
    roots = np.zeros(len(values), dtype=np.int64)
    return cut_intervals(lambda part: part(values, roots), 1, k, size).blocks(values, roots)


@dataclass(frozen=True)
class Intervals:
    """Equal intervals of the first column of each stratum, fused where they have fewer than k records.

    Attributes
    ----------
    reach : Reach
        Limits of the strata.
    first : int64 (strata + 1,)
        Where the intervals of each stratum start among all.
    home : int64 (intervals,)
        The block of each interval.
    sizes : int64 (blocks,)
        How many records each block has.
    """

    reach: Reach
    first: Ints
    home: Ints
    sizes: Ints

    def blocks(self, values: Floats, roots: Ints) -> Ints:
        """Return the block of each record of a batch."""
        found: Ints = self.home[_interval(values, roots, self.reach, self.first)]
        return found


def cut_intervals(over: Over, roots: int, k: int, size: int) -> Intervals:
    """Cut the first column of so many strata into intervals of equal width, as many as there would be blocks."""
    reach = over(lambda values, root: Reach.of(values[:, :1], root, roots))
    constant = reach.high[:, 0] <= reach.low[:, 0]
    intervals = np.where(constant, 1, np.maximum(1, reach.counts // size))
    first = np.concatenate([[0], np.cumsum(intervals)])
    table = over(lambda values, root: Counts.of(_interval(values, root, reach, first)))
    counts = np.zeros(int(first[-1]), dtype=np.int64)
    counts[table.keys] = table.counts
    home, blocks = np.empty(len(counts), dtype=np.int64), 0
    for start, stop in pairwise(first.tolist()):
        home[start:stop] = blocks + fuse_neighbours(counts[start:stop], k)
        blocks = int(home[stop - 1]) + 1
    return Intervals(reach, first, home, np.bincount(home, counts, minlength=blocks).astype(np.int64))


def _interval(values: Floats, roots: Ints, reach: Reach, first: Ints) -> Ints:
    """Return the interval of each record among those of all strata."""
    many = np.diff(first)[roots]
    place = ((values[:, 0] - reach.low[roots, 0]) / reach.width[roots, 0] * many).astype(np.int64)
    found: Ints = first[roots] + np.minimum(place, many - 1)
    return found


def fuse_neighbours(counts: Ints, k: int) -> Ints:
    """Return the block of each interval: from the lowest on, joined with the next ones until they have k records."""
    home = np.empty(len(counts), dtype=np.int64)
    block, held, rest = 0, 0, int(counts.sum())
    for interval, count in enumerate(counts.tolist()):
        if held >= k and rest >= k:
            block, held = block + 1, 0
        home[interval] = block
        held += count
        rest -= count
    if held < k and block > 0:
        home[home == block] = block - 1
    return home


def equal_counts(values: Floats, k: int, size: int) -> Ints:
    """Number the block of each record: runs of equal length of the first column of ``values``, sorted.

    >>> equal_counts(np.array([[0.0], [9.0], [0.1], [0.2]]), 2, 2)
    array([0, 1, 0, 1])
    """
    n = len(values)
    count = max(1, min(-(-n // size), n // k))
    blocks = np.empty(n, dtype=np.int64)
    blocks[np.argsort(values[:, 0], kind="stable")] = np.arange(n) * count // n
    return blocks


def fixed_counts(values: Floats, k: int, size: int) -> Ints:
    """Number the block of each record: the first column of ``values``, sorted and cut every ``size`` records.

    The last block has the rest; fewer than k join the block before, the only one that may have more than ``size``.

    >>> fixed_counts(np.array([[0.0], [9.0], [0.1], [0.2], [0.3], [8.0]]), 2, 4)
    array([0, 1, 0, 0, 0, 1])
    """
    n = len(values)
    last = max(0, n // size - (n % size < k))
    blocks = np.empty(n, dtype=np.int64)
    blocks[np.argsort(values[:, 0], kind="stable")] = np.minimum(np.arange(n) // size, last)
    return blocks
