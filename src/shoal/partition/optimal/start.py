"""Start of a small table: the better of MDAV-single of all records and of the cells of a spread tree.

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
from shoal.partition.mdav import mdav_single
from shoal.partition.optimal.problem import Problem

_BLOCK = 1000


def start(problem: Problem) -> Ints:
    """Return groups of k to 2k - 1 records of one block, which has at least k."""
    points, k, n = problem.points, problem.k, len(problem)
    if n < 2 * k:
        return np.zeros(n, dtype=np.int64)
    blocks = spread_tree(points, k, max(_BLOCK, 2 * k))
    tried = [mdav_single(Records(points), k, new_watch()), _by_block(points, blocks, k)]
    return min(tried, key=problem.cost)


def _by_block(points: Floats, blocks: Ints, k: int) -> Ints:
    groups = np.empty(len(points), dtype=np.int64)
    order, starts = group_rows(blocks)
    first = 0
    for b in range(len(starts) - 1):
        rows = order[starts[b] : starts[b + 1]]
        groups[rows] = mdav_single(Records(np.ascontiguousarray(points[rows])), k, new_watch()) + first
        first = int(groups[rows].max()) + 1
    return groups
