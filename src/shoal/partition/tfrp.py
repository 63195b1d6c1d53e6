"""TFRP: groups of k round the records farthest from two fixed points; then groups that do not pay are dissolved.

First phase: the reference points are the corner of the highest and the corner of the lowest values of all
columns. In turn, the remaining record farthest from one of them forms a group with its k - 1 nearest, while at
least k remain; the others join the group with the nearest centroid. Second phase (``dissolve``): the groups are
taken by falling sum of squares; each is dissolved, its records joining the groups with the nearest centroids,
if that lowers the total sum of squares.

Source: C.-C. Chang, Y.-C. Li and W.-H. Huang, TFRP: an efficient microaggregation algorithm for statistical
disclosure control, Journal of Systems and Software 80(11), 2007.

Cost: two sorts and n / k searches for neighbours, then n searches over n / k centroids: O(d n^2 / k) when every
search looks at every one. The centroids stand in a pool. One that changes, since records join its group, leaves the
pool and is kept in a list that is scanned; when the list is long, a new pool is opened. With missing values there is no
index for centroids, and all of them are in the list.

The second phase only lets groups grow, so none falls below k; one group is always left.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.columns.scaling import Records
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.pool import Pool, nearest_to_point, open_pool, remove, take_group
from shoal.kernels.representatives import group_rows
from shoal.kernels.watch import DONE, STOP
from shoal.partition.leftovers import join_nearest_group
from shoal.partition.reference_point import farthest_first

_LISTED = 256  # centroids that have changed before a new pool is opened: scanning more would cost more than opening


def tfrp(records: Records, k: int, watch: Ints, dissolve: bool = True) -> Ints:
    """Partition records with TFRP."""
    labels = np.full(len(records), -1)
    orders = np.stack([farthest_first(records, "highest"), farthest_first(records, "lowest")])
    _take_in_turn(open_pool(records.values), orders, k, watch, labels)
    labels = join_nearest_group(records, labels)
    if dissolve:
        _dissolve_groups(records, watch, labels)
        labels = np.unique(labels, return_inverse=True)[1]
    return labels


class _Groups(NamedTuple):
    """Groups of the second phase.

    Attributes
    ----------
    means : float64 (groups, d)
        Of the records of a group, now.
    squares, sizes : float64, int64 (groups,)
        Their sum of squares and number, now.
    order, starts : int64
        The records of the first phase, sorted by group: ``order[starts[g]:starts[g + 1]]``.
    """

    means: Floats
    squares: Floats
    sizes: Ints
    order: Ints
    starts: Ints


def _dissolve_groups(records: Records, watch: Ints, labels: Ints) -> None:
    """Dissolve groups whose records lose less elsewhere; ``labels`` are changed in place."""
    values = records.values
    order, starts = group_rows(labels)
    count, d = len(starts) - 1, values.shape[1]
    groups = _Groups(np.zeros((count, d)), np.zeros(count), np.zeros(count, np.int64), order, starts)
    _sum_groups(values, labels, groups)
    turns, turn = np.argsort(-groups.squares, kind="stable"), 0
    while turn < count and watch[STOP] == 0:
        pooled = np.flatnonzero(groups.sizes)
        changed = np.empty(len(pooled), np.int64)
        turn = _dissolve_in_turn(
            open_pool(groups.means[pooled]), pooled, changed, _LISTED, values, turns, turn, groups, watch, labels
        )


@kernel
def _sum_groups(values: Floats, labels: Ints, groups: _Groups) -> None:
    """Fill in means, sizes and sums of squares; ``values`` are (n, d)."""
    for row in range(len(labels)):
        g = labels[row]
        groups.squares[g] += _join(values[row], groups.sizes[g], groups.means[g])
        groups.sizes[g] += 1


@kernel
def _take_in_turn(pool: Pool, orders: Ints, k: int, watch: Ints, labels: Ints) -> None:
    """Label the records of a pool; ``orders`` (2, n) are all rows, farthest from each reference point first."""
    rows, distances = np.empty(k, np.int64), np.empty(k)
    at = np.zeros(2, np.int64)
    label = 0
    while pool.size[0] >= k and watch[STOP] == 0:
        turn = label % 2
        while labels[orders[turn, at[turn]]] >= 0:
            at[turn] += 1
        take_group(pool, orders[turn, at[turn]], k, label, labels, rows, distances)
        label += 1
        watch[DONE] = label * k


@kernel
def _dissolve_in_turn(
    pool: Pool,
    pooled: Ints,
    changed: Ints,
    most: int,
    values: Floats,
    turns: Ints,
    turn: int,
    groups: _Groups,
    watch: Ints,
    labels: Ints,
) -> int:
    """Go through the groups ``turns[turn:]`` until ``most`` have changed; returns the turn that is next.

    The pool holds the centroids of the groups ``pooled``, which rise, as all its records; those that changed leave it
    and are listed in ``changed``.
    """
    means, squares, sizes, order, starts = groups
    listed = 0
    row_of = np.full(len(sizes), -1)
    for row in range(len(pooled)):
        row_of[pooled[row]] = row
    rows, distances = np.empty(2, np.int64), np.empty(2)
    while turn < len(turns) and listed < most and watch[STOP] == 0:
        g = turns[turn]
        turn += 1
        members = order[starts[g] : starts[g + 1]]
        # a group that others have joined has more records than the first phase gave it, and stays
        if sizes[g] != len(members):
            continue
        homes = np.empty(len(members), np.int64)
        for t in range(len(members)):
            point = values[members[t]]
            home, least = _nearest_changed(point, means, sizes, changed[:listed], g)
            if pool.size[0] > 1:  # the group itself is in it
                nearest_to_point(pool, point, 2, rows, distances)
                best = 1 if pooled[rows[0]] == g else 0
                other = pooled[rows[best]]
                if distances[best] < least or (distances[best] == least and other < home):
                    home = other
            homes[t] = home
        if homes[0] < 0 or _growth(values, members, homes, sizes, means) >= squares[g]:
            continue
        if row_of[g] >= 0:
            remove(pool, row_of[g])
        for t in range(len(members)):
            h = homes[t]
            squares[h] += _join(values[members[t]], sizes[h], means[h])
            sizes[h] += 1
            labels[members[t]] = h
            if row_of[h] >= 0:
                remove(pool, row_of[h])
                row_of[h] = -1
                changed[listed] = h
                listed += 1
        sizes[g] = 0
    return turn


@kernel
def _nearest_changed(record: Floats, means: Floats, sizes: Ints, changed: Ints, but: int) -> tuple[int, float]:
    """Of the groups that changed the one with the nearest centroid, other than ``but``, and its distance; or -1."""
    best, nearest = np.inf, -1
    for g in changed:
        if g == but or sizes[g] == 0:
            continue
        total = 0.0
        for j in range(record.shape[0]):
            total += (record[j] - means[g, j]) ** 2
        if total < best or (total == best and g < nearest):
            best, nearest = total, g
    return nearest, best


@kernel
def _growth(values: Floats, members: Ints, homes: Ints, sizes: Ints, means: Floats) -> float:
    """By how much the sums of squares of the homes would grow if the members joined them."""
    growth = 0.0
    for t in range(len(members)):
        if t > 0 and (homes[:t] == homes[t]).any():
            continue
        size, mean = sizes[homes[t]], means[homes[t]].copy()
        for s in range(t, len(members)):
            if homes[s] == homes[t]:
                growth += _join(values[members[s]], size, mean)
                size += 1
    return growth


@kernel
def _join(record: Floats, size: int, means: Floats) -> float:
    """Add a record to the means of a group of some size; returns by how much its sum of squares grows."""
    squares = 0.0
    for j in range(record.shape[0]):
        delta = record[j] - means[j]
        means[j] += delta / (size + 1.0)
        squares += delta * (record[j] - means[j])
    return squares
