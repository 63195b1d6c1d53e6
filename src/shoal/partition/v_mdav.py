"""V-MDAV: groups of k to 2k - 1 records, extended while the next record is closer to the group than to anybody else.

The centroid is that of all records and is computed once. Round the record farthest from it, of those that
remain, a group of k is formed. Then, while the group has fewer than 2k - 1 records, let x be the remaining
record nearest to any member, d_in that distance and d_out the distance from x to its nearest remaining record:
x joins while d_in < gamma * d_out. Fewer than k records left over join the group with the nearest centroid.

Source: A. Solanas and A. Martinez-Balleste, V-MDAV: a multivariate microaggregation with variable group size,
COMPSTAT 2006. gamma = 0.2 suits scattered data, 1.1 clustered data.

Cost: O(n) searches for neighbours: O(d n^2) when every search looks at every record.

Groups have at least k records because one is only begun while k remain.
"""

from __future__ import annotations

import numpy as np

from shoal.columns.scaling import Records
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.pool import Pool, nearest, open_pool, remove, take_group
from shoal.kernels.watch import DONE, STOP
from shoal.partition.leftovers import join_nearest_group
from shoal.partition.reference_point import farthest_first


def v_mdav(records: Records, k: int, watch: Ints, gamma: float = 0.2) -> Ints:
    """Partition records with V-MDAV."""
    labels = np.full(len(records), -1)
    pool = open_pool(records.values)
    _v_mdav(pool, farthest_first(records, "centroid"), k, gamma, watch, labels)
    return join_nearest_group(records, labels)


@kernel
def _v_mdav(pool: Pool, order: Ints, k: int, gamma: float, watch: Ints, labels: Ints) -> None:
    """Label the records of a pool; ``order`` is all rows, farthest from the centroid first."""
    rows, distances = np.empty(2 * k, np.int64), np.empty(2 * k)
    members = np.empty(2 * k, np.int64)
    closest, closeness = np.empty(2 * k, np.int64), np.empty(2 * k)
    label, at = 0, 0
    while pool.size[0] >= k and watch[STOP] == 0:
        while labels[order[at]] >= 0:
            at += 1
        take_group(pool, order[at], k, label, labels, rows, distances)
        members[:k] = rows[:k]
        size = k
        closest[:k] = -1
        while size < 2 * k - 1 and pool.size[0] > 0:
            x, d_in = _next_record(pool, members, size, labels, closest, closeness, rows, distances)
            d_out = np.inf
            if pool.size[0] > 1:
                nearest(pool, x, 2, rows, distances)
                d_out = distances[1]
            if not d_in < gamma * gamma * d_out:
                break
            labels[x] = label
            remove(pool, x)
            members[size], closest[size] = x, -1
            size += 1
        label += 1
        watch[DONE] = labels.shape[0] - pool.size[0]


@kernel
def _next_record(
    pool: Pool,
    members: Ints,
    size: int,
    labels: Ints,
    closest: Ints,
    closeness: Floats,
    rows: Ints,
    distances: Floats,
) -> tuple[int, float]:
    """Remaining record nearest to any member, and its squared distance; ties go to the lowest row.

    Each member remembers its ``closest`` remaining record, and looks again only once that one has been taken.
    """
    best_row, best = -1, np.inf
    for t in range(size):
        if closest[t] < 0 or labels[closest[t]] >= 0:
            nearest(pool, members[t], 1, rows, distances)
            closest[t], closeness[t] = rows[0], distances[0]
        if closeness[t] < best or (closeness[t] == best and closest[t] < best_row):
            best_row, best = closest[t], closeness[t]
    return best_row, best
