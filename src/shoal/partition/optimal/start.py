"""Start: the better of two fast partitions, MDAV-single of all records and of the cells of a spread tree.

On clustered data cutting between clusters first loses far less; on evenly spread data MDAV-single of all records is a
little better. Both give groups of k to 2k - 1 records.
"""

from __future__ import annotations

import numpy as np

from shoal.blocking.spread_tree import spread_tree
from shoal.columns.scaling import Records
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.representatives import group_rows
from shoal.kernels.watch import new_watch
from shoal.partition.mdav import mdav, mdav_single
from shoal.partition.optimal.problem import Problem

_WHOLE = 200_000  # records up to which MDAV-single of all of them is tried
_FEW_COLUMNS = 6  # up to which MDAV of any number of records is quick, and loses less than blocks
_BLOCK = 1000


def start(problem: Problem) -> Ints:
    """Return groups of k to 2k - 1 records of one block, which has at least k."""
    points, k, n = problem.points, problem.k, len(problem)
    if n < 2 * k:
        return np.zeros(n, dtype=np.int64)
    many, quick = n > _WHOLE, points.shape[1] <= _FEW_COLUMNS
    tried = []
    if not many or quick:
        method = mdav if many else mdav_single  # a million records: half the time for the same loss
        tried.append(method(Records(points), k, new_watch()))
    if not many or not quick:
        tried.append(_by_block(points, spread_tree(points, k, max(_BLOCK, 2 * k)), k))
    return tried[int(np.argmin([problem.cost(groups) for groups in tried]))]


def _by_block(points: Floats, blocks: Ints, k: int) -> Ints:
    groups = np.empty(len(points), dtype=np.int64)
    order, starts = group_rows(blocks)
    first = 0
    for b in range(len(starts) - 1):
        rows = order[starts[b] : starts[b + 1]]
        groups[rows] = mdav_single(Records(np.ascontiguousarray(points[rows])), k, new_watch()) + first
        first = int(groups[rows].max()) + 1
    return groups
