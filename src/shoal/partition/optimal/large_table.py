"""A large table laid out for annealing: its records in an order in which neighbours follow each other, and these.

Finding neighbours takes most of the time that a short search has. How long it takes is told beforehand
(``expected_work``), and neighbours are as near, and as many, as there is time for.

Memory: 4 m n bytes for m neighbours of each record.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.chunks import search_in_chunks
from shoal.kernels.equal_records import find_equal
from shoal.kernels.pool import Pool, open_still_pool
from shoal.kernels.tree import TreePool, open_tree_pool
from shoal.partition.optimal.expected_work import (
    SLACKS,
    allowed,
    of_densest_groups,
    of_laying_out,
    of_neighbours,
    of_proposal,
)
from shoal.partition.optimal.improve import find_neighbours
from shoal.partition.optimal.neighbour_counts import reach, usual_width
from shoal.partition.optimal.problem import Problem, blocks_by_number

_LOOKING, _BETTER = 0.4, 0.1  # part of the seconds allowed, and of those of a cycle, that neighbours may take
_SOONER = 1.3  # times the seconds of a lesser slack, from which a larger one saves enough
_LEAST, _GREATEST = 0.01, 1e6  # times the median square: nearer and farther neighbours count as that far


class Outlook(NamedTuple):
    """What is known of a table before neighbours are looked for.

    Attributes
    ----------
    order : int64 (n,)
        Its rows in an order in which neighbours follow each other, and so do the records of a block.
    looking : float64 (slacks,)
        Seconds that finding neighbours takes with each slack.
    allowed : float
        Seconds that a search may take beside MDAV where nothing is said.
    slack : int
        With which of ``SLACKS`` neighbours are found in the time of such a search.
    laying_out, densest : float
        Seconds of laying the table out with the shortest search, and of making the densest groups.
    """

    order: Ints
    looking: Floats
    allowed: float
    slack: int
    laying_out: float
    densest: float

    @property
    def left(self) -> float:
        """Seconds that are left after these, the densest groups included where there is time for them."""
        left = self.allowed - self.laying_out
        return left - self.densest if self.densest <= left else left


@dataclass(frozen=True)
class LargeTable:
    """A table in an order in which neighbours follow each other.

    Attributes
    ----------
    outlook : Outlook
        The order, and how long things take.
    values : float64 (n, d)
        The records in that order.
    neighbours : int32 (n, m)
        Places near each place, nearest first, of its own block.
    scales : float64 (n,)
        Squared distance to the k-th neighbour.
    k : int
        Smallest group.
    slack : int
        By how much neighbours may be off, one of ``SLACKS``.
    """

    outlook: Outlook
    values: Floats
    neighbours: NDArray[np.int32]
    scales: Floats
    k: int
    slack: int

    @property
    def order(self) -> Ints:
        """The row of the table at each place."""
        return self.outlook.order


def look_ahead(problem: Problem) -> Outlook:
    """Put the rows of a table into an order, that of the leaves of a tree, and tell how long things take."""
    (n, d), k = problem.points.shape, problem.k
    orders, looking = [], np.zeros(len(SLACKS))
    for rows in blocks_by_number(problem.blocks):
        pool = open_still_pool(problem.points[rows])
        tree = pool if isinstance(pool, TreePool) else open_tree_pool(pool.values)
        orders.append(rows[np.argsort(tree.slots[tree.place_of], kind="stable")])
        looking += of_neighbours(pool, reach(n, k, usual_width(n, k), len(rows)))
    distinct = (int(find_equal(problem.points)[0].max()) + 1) / n
    seconds = allowed(n, d, k, distinct, float(looking[0]))
    slack = affordable(looking, _LOOKING * seconds)
    return Outlook(
        np.concatenate(orders),
        looking,
        seconds,
        slack,
        of_laying_out(n, d, k, float(looking[slack])),
        of_densest_groups(n, d, k, distinct),
    )


def lay_out(problem: Problem, outlook: Outlook, threads: int, passes: int = 0) -> LargeTable:
    """Find the neighbours of all records.

    They are as near as there is time for in a search of the usual length, or in a cycle of so many ``passes``.
    """
    values, k = np.ascontiguousarray(problem.points[outlook.order]), problem.k
    n, d = values.shape
    width = usual_width(n, k)
    slack = affordable(outlook.looking, _seconds(n, d, k, passes)) if passes else outlook.slack
    neighbours, scales = np.empty((n, width), dtype=np.int32), np.zeros(n)
    starts = np.flatnonzero(np.diff(problem.blocks[outlook.order], prepend=-1, append=-1)).tolist()
    for start, stop in pairwise(starts):
        found = reach(n, k, width, stop - start)
        near = np.zeros((stop - start, max(1, found)), dtype=np.int32)  # a single record is its own neighbour
        if found:
            _find(open_still_pool(values[start:stop]), near, scales[start:stop], min(k, found), SLACKS[slack], threads)
        if found > width:  # every one of the nearest, and some of those beyond, where other groups are
            half = width // 2
            beyond = np.linspace(half, found - 1, width - half).astype(np.int64)
            near = near[:, np.concatenate([np.arange(half), beyond])]
        # a block smaller than that has its records several times
        neighbours[start:stop] = np.tile(near, (1, -(-width // near.shape[1])))[:, :width] + start
    usual = scales[(scales > 0.0) & np.isfinite(scales)]
    median = float(np.median(usual)) if len(usual) else 1.0
    scales = np.clip(scales, _LEAST * median, _GREATEST * median)
    return LargeTable(outlook, values, neighbours, scales, k, slack)


def with_nearer_neighbours(problem: Problem, table: LargeTable, passes: int, threads: int) -> LargeTable:
    """Return a table whose neighbours are as near as there is time for in a cycle: the longer it is, the nearer."""
    n, d = table.values.shape
    seconds = _seconds(n, d, table.k, passes)
    if affordable(table.outlook.looking, seconds) >= table.slack:
        return table
    return lay_out(problem, table.outlook, threads, passes)


def affordable(looking: Floats, seconds: float) -> int:
    """Return which slack is the least with which neighbours are found in so many seconds, the exact ones left out.

    One that saves little time beside a lesser one is not taken: groups of far neighbours are a bad start.
    """
    enough = np.flatnonzero(looking[1:] <= seconds)
    soonest = looking[1 + enough[0]] if len(enough) else looking[-1]
    return 1 + int(np.flatnonzero(looking[1:] <= _SOONER * soonest)[0])


def _seconds(n: int, d: int, k: int, passes: int) -> float:
    """Return the seconds that neighbours may take in a cycle."""
    return _BETTER * passes * n * of_proposal(n, d, k)


def _find(pool: Pool, neighbours: NDArray[np.int32], scales: Floats, rank: int, slack: float, threads: int) -> None:
    """Fill in the neighbours of all rows, and the squared distances to those of a rank."""

    def find(pool: Pool, start: int, stop: int) -> None:
        find_neighbours(pool, start, stop, neighbours, scales, rank, slack)

    search_in_chunks(pool, find, len(neighbours), threads)
