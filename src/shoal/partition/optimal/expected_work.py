"""What the parts of a search of a large table take, told beforehand: a default must not take much longer than MDAV.

Everything here is a function of the table alone, never of a clock, so that the same search gives the same groups on any
machine. Constants are seconds of an ordinary core, measured on normal records, the hardest for a tree; those of MDAV on
clusters, which are easy, and rounded down. ``python benchmarks/run.py any-size`` records what was taken beside MDAV.

How many leaves of the index a search for neighbours looks at differs a hundredfold between tables of one size. It is
counted for some records: a leaf is looked at where its box is near enough for one of the neighbours to be in it.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Floats
from shoal.kernels.pool import Pool
from shoal.kernels.tree import LEAVES, LEVELS, TreePool
from shoal.partition.optimal.improve import EXACT, find_neighbours
from shoal.partition.optimal.neighbour_counts import usual_width

SLACKS = (EXACT, 2.25, 4.0, 9.0, 20.0, 50.0, 100.0)
"""By how much squared distances of neighbours may be off; groups are as good with the second as with the first."""

TRIED = 2
"""Members of a small group that a record looks at to change places with one."""

DESCENT = 10
"""The fewest proposals for each record that gain something."""

_SAMPLE = 40  # records of which the leaves are counted
_SPARE = 0.8  # seconds that a search may take in any case
_RECORD, _NEIGHBOUR = 1.2e-6, 6e-8  # of looking for neighbours: a record, and each neighbour
_LEAF, _COLUMN = 8e-8, 8e-9  # a leaf, and a column of it
_LAID, _LAID_COLUMN = 1.2e-6, 6e-8  # of putting a table into an order with an index: a record, and a column of it
_LATER = 1.15  # neighbours take so much longer than looking at leaves
_DENSE, _MEMBER, _CELL = 4e-7, 3e-8, 3e-8  # of the densest groups: a record, and for each in its group, and its cells
_SMALL = 12  # the largest group that is made at once
_TIES, _ALL = 3.0, 0.95  # times as long where less than this part of the records is distinct
_COLD = 0.6  # part of the seconds of a proposal, of one that takes improvements only
_EQUAL = 0.2  # power of the part of the records that are distinct with which MDAV takes shorter
_LOOKED = 0.7  # part of the seconds of the neighbours that MDAV finds which it takes at least
_LOOKED_AT = 1.1e-9  # of refining: a cell
_ALL_MOVED, _FOUNDED = 1.2, 15  # nanoseconds of a proposal for each of k, and k from which founding takes as many
_NONE_FOUNDED = 45  # nanoseconds for all of k where no group is founded
_MANY = 40  # neighbours that cost as much again as looking at the leaf


def least_of_mdav(n: int, d: int, k: int, distinct: float = 1.0, looking: float = 0.0) -> float:
    """Return the seconds that MDAV takes at least, if such a part of the records is ``distinct``.

    It finds the exact neighbours of every k-th record, of half of them on the mean; ``looking`` are the seconds of
    finding those of all.

    >>> least_of_mdav(100_000, 5, 3) < 0.3 < least_of_mdav(100_000, 10, 3)
    True
    """
    easy = 7e-7 * n * (n / 1e5) ** 0.4 * (0.5 + 0.03 * d + 1.3 * d / k)
    return float(max(easy, _LOOKED * looking / (2 * k)) * distinct**_EQUAL)


def allowed(n: int, d: int, k: int, distinct: float = 1.0, looking: float = 0.0) -> float:
    """Return the seconds that a search may take beside MDAV where nothing is said."""
    return _SPARE + least_of_mdav(n, d, k, distinct, looking)


def of_laying_out(n: int, d: int, k: int, looking: float) -> float:
    """Return the seconds of laying a table out, of which neighbours take ``looking``, and of the shortest search.

    That takes improvements only at first, and then has a cycle.
    """
    shortest = DESCENT * (of_descending(n, d, k) + n * of_proposal(n, d, k))
    return n * (_LAID + _LAID_COLUMN * d) + _LATER * looking + shortest


def of_densest_groups(n: int, d: int, k: int, distinct: float) -> float:
    """Return the seconds of making the densest groups: equal records have equal neighbours, which are soon used up."""
    size = min(k, _SMALL)
    return n * (_DENSE + size * (_MEMBER + _CELL * d)) * (_TIES if distinct < _ALL else 1.0)


def of_near_groups(n: int, d: int, looking: float) -> float:
    """Return the seconds of finding the groups near each record, of which near centroids take ``looking``."""
    return n * (_LAID + _LAID_COLUMN * d) + _LATER * looking


def of_descending(n: int, d: int, k: int) -> float:
    """Return the seconds of a proposal for each record that takes improvements only."""
    return n * _COLD * of_proposal(n, d, k)


def of_proposal(n: int, d: int, k: int) -> float:
    """Return the seconds of a proposal; those of a table that does not fit into the fast memory take longer.

    A record looks at some members of the other group. Now and then all of a group are moved, or one is founded, where
    a record has neighbours enough.
    """
    moved = k * (_ALL_MOVED + k / _FOUNDED) if usual_width(n, k) >= k else _NONE_FOUNDED
    return 1e-9 * (40 + d * tried_of(k) + moved) * _outside(n, d)


def _outside(n: int, d: int) -> float:
    """Return by how much steps take longer where a table does not fit into the fast memory."""
    return float(np.clip((n * d / 2e5) ** 0.3, 1.0, 3.0))


def tried_of(k: int) -> int:
    """Return how many members of a group a record looks at to change places with one."""
    return int(np.clip(k // 4, TRIED, 12))


def of_refining(n: int, d: int, k: int) -> float:
    """Return the seconds of refining annealed groups until nothing is gained; those of clusters take less."""
    return 2e-7 * n * k * d * (n / 1e4) ** 0.3


def cells_refined(n: int, d: int, seconds: float) -> int:
    """Return how many cells refining looks at in so many seconds."""
    return int(seconds / of_cells(n, d, 1))


def of_cells(n: int, d: int, cells: int) -> float:
    """Return the seconds in which refining looks at so many cells."""
    return cells * _LOOKED_AT * _outside(n, d)


def of_spanning_tree(n: int, d: int) -> float:
    """Return the seconds of a minimum spanning tree."""
    return n * (3e-6 + 1.5e-7 * d**2 * (n / 1e4) ** (d / 30))


def of_k_ward(n: int, d: int) -> float:
    """Return the seconds of merging groups by their variance."""
    return 1.25e-10 * n**2 * d**1.9


def of_neighbours(pool: Pool, width: int) -> Floats:
    """Return the seconds (slacks,) of looking for so many neighbours of each record, with each of the slacks.

    >>> from shoal.kernels.pool import open_pool
    >>> seconds = of_neighbours(open_pool(np.random.default_rng(0).normal(size=(6000, 9))), 8)
    >>> bool((np.diff(seconds) < 0.0).all())
    True
    """
    n, d = pool.values.shape
    looked_at = leaves_looked_at(pool, width) if isinstance(pool, TreePool) else np.full(len(SLACKS), n / 64)
    seconds: Floats = n * (_RECORD + _NEIGHBOUR * width + looked_at * (_LEAF + _COLUMN * d) * (1.0 + width / _MANY))
    return seconds


def leaves_looked_at(pool: TreePool, width: int) -> Floats:
    """Return how many leaves a search for so many neighbours looks at, on the mean of a sample, with each slack."""
    n, d = pool.values.shape
    level, leaves = int(pool.shape[LEVELS]), int(pool.shape[LEAVES])
    start, fan = int(pool.boxes[level]), int(pool.fans[level])
    low, high = (side[start : start + leaves * d].reshape(-1, d, fan) for side in (pool.low, pool.high))
    near, reach = np.empty((n, width), dtype=np.int32), np.empty(n)
    counted = np.zeros(len(SLACKS))
    rows = np.unique(np.linspace(0, n - 1, _SAMPLE).astype(np.int64))
    for row in rows.tolist():
        find_neighbours(pool, row, row + 1, near, reach, width, EXACT)
        point = ((pool.values[row] - pool.centre) / pool.unit[0]).astype(np.float32)[None, :, None]
        off = np.maximum(np.maximum(low - point, point - high), 0.0)
        squares = (off * off).sum(axis=1).ravel()
        counted += [(squares * slack <= reach[row] / pool.unit[0] ** 2).sum() for slack in SLACKS]
    return counted / len(rows)
