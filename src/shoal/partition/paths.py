"""Path methods: the records are put into an order in which neighbours are close, and the order is cut optimally.

The cut is that of Hansen and Mukherjee along any order (MHM): of all ways to cut it into runs of at least k, the one
with the least sum of squares over all columns. The methods differ in the order.

- ``npn-mhm``, nearest point next: from the record farthest from the centroid always to the nearest one not yet visited.
- ``md-mhm``, ``mdav-mhm``, ``cbfs-mhm``: the groups of a fixed-size heuristic one after the other. The heuristics are
  maximum distance (``dbfs`` here), ``mdav`` and centroid-based fixed size (``mdav-single`` here). The groups are
  visited by nearest point next over their centroids, and so are the records within a group, beginning with the one
  nearest to the last record of the group before.

The groups of the heuristic are runs of the order, so these three never lose more than the heuristic itself.

Sources: J. Domingo-Ferrer, A. Martinez-Balleste, J. M. Mateo-Sanz and F. Sebe, Efficient multivariate data-oriented
microaggregation, The VLDB Journal 15(4), 2006; S. L. Hansen and S. Mukherjee, IEEE TKDE 15(4), 2003 (the cut).

Cost: n searches for the nearest record, or what the heuristic costs and n / k searches over centroids: O(d n^2) and
O(d n^2 / k) when every search looks at everything; the cut takes O(k d n).

Every run of the cut has k to 2k - 1 records: see :mod:`shoal.partition.univariate`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shoal.columns.scaling import Records
from shoal.kernels.arrays import Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.pool import Pool, distance, farthest_from_centroid, nearest, open_pool, remove
from shoal.kernels.representatives import group_rows
from shoal.kernels.watch import DONE, STOP, new_watch
from shoal.partition.dbfs import dbfs
from shoal.partition.leftovers import group_centroids
from shoal.partition.mdav import mdav, mdav_single
from shoal.partition.univariate import optimal_along


def npn_mhm(records: Records, k: int, watch: Ints) -> Ints:
    """Cut the nearest-point-next path."""
    return optimal_along(records, nearest_point_next(records, watch), k)


def md_mhm(records: Records, k: int, watch: Ints) -> Ints:
    """Cut the path through the groups of maximum distance."""
    return _cut_groups(records, k, watch, dbfs)


def mdav_mhm(records: Records, k: int, watch: Ints) -> Ints:
    """Cut the path through the groups of MDAV."""
    return _cut_groups(records, k, watch, mdav)


def cbfs_mhm(records: Records, k: int, watch: Ints) -> Ints:
    """Cut the path through the groups of MDAV-single."""
    return _cut_groups(records, k, watch, mdav_single)


def nearest_point_next(records: Records, watch: Ints) -> Ints:
    """Return the rows in nearest-point-next order; as many as there was time for, then the rest, when stopped.

    >>> nearest_point_next(Records(np.array([[1.0], [9.0], [0.0], [2.0]])), new_watch())
    array([1, 3, 0, 2])
    """
    order = np.empty(len(records), dtype=np.int64)
    visited = _visit_nearest(open_pool(records.values), watch, order)
    if visited < len(order):
        order[visited:] = np.setdiff1d(np.arange(len(order)), order[:visited])
    return order


def _cut_groups(records: Records, k: int, watch: Ints, heuristic: Callable[[Records, int, Ints], Ints]) -> Ints:
    """Put the groups of a heuristic into an order, and cut it."""
    labels = heuristic(records, k, watch)
    path = nearest_point_next(Records(group_centroids(records.values, labels)), new_watch())
    rows, starts = group_rows(labels)
    order = np.empty(len(records), dtype=np.int64)
    _visit_groups(open_pool(records.values), path, rows, starts, order)
    return optimal_along(records, order, k)


@kernel
def _visit_nearest(pool: Pool, watch: Ints, order: Ints) -> int:
    """Fill ``order`` (n,) with the rows of a pool, nearest point next; returns how many were visited."""
    rows, distances = np.empty(1, np.int64), np.empty(1)
    if watch[STOP] != 0:
        return 0
    row = farthest_from_centroid(pool)
    for at in range(order.shape[0]):
        order[at] = row
        remove(pool, row)
        if pool.size[0] == 0 or watch[STOP] != 0:
            return at + 1
        nearest(pool, row, 1, rows, distances)
        row = rows[0]
        watch[DONE] = at + 1
    return order.shape[0]


@kernel
def _visit_groups(pool: Pool, path: Ints, rows: Ints, starts: Ints, order: Ints) -> None:
    """Fill ``order`` (n,) with the rows of the groups in the order of ``path``, nearest point next within each.

    ``rows`` and ``starts`` are the rows sorted by group; the path begins with the lowest row of the first.
    """
    at = 0
    for g in path:
        members = rows[starts[g] : starts[g + 1]]
        for t in range(len(members)):
            best, gap = t, np.inf
            if at > 0:
                for s in range(t, len(members)):
                    away = distance(pool, members[s], order[at - 1])
                    if away < gap or (away == gap and members[s] < members[best]):
                        best, gap = s, away
            members[t], members[best] = members[best], members[t]
            order[at] = members[t]
            at += 1
