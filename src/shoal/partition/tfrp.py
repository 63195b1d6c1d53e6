"""TFRP: groups of k round the records farthest from two fixed points; then groups that do not pay are dissolved.

First phase: the reference points are the corner of the highest and the corner of the lowest values of all
columns. In turn, the remaining record farthest from one of them forms a group with its k - 1 nearest, while at
least k remain; the others join the group with the nearest centroid. Second phase (``dissolve``): the groups are
taken by falling sum of squares; each is dissolved, its records joining the groups with the nearest centroids,
if that lowers the total sum of squares.

Source: C.-C. Chang, Y.-C. Li and W.-H. Huang, TFRP: an efficient microaggregation algorithm for statistical
disclosure control, Journal of Systems and Software 80(11), 2007.

Cost: two sorts and n / k searches for neighbours, then n searches over n / k centroids: O(d n^2 / k).

The second phase only lets groups grow, so none falls below k; one group is always left.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Flags, Floats, Ints
from shoal.encode import Records
from shoal.kernels.compiling import kernel
from shoal.kernels.pool import Pool, open_pool, take_group
from shoal.partition.leftovers import join_nearest_group
from shoal.partition.method import DONE, STOP
from shoal.partition.reference_point import farthest_first


def tfrp(records: Records, k: int, watch: Ints, dissolve: bool = True) -> Ints:
    """Partition records with TFRP."""
    labels = np.full(len(records), -1)
    orders = np.stack([farthest_first(records, "highest"), farthest_first(records, "lowest")])
    _take_in_turn(open_pool(records.values, records.observed), orders, k, watch, labels)
    labels = join_nearest_group(records, labels)
    if dissolve:
        seen = np.ones(records.values.shape, np.bool_) if records.observed is None else records.observed
        _dissolve_groups(records.values, seen, watch, labels)
        labels = np.unique(labels, return_inverse=True)[1]
    return labels


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
def _dissolve_groups(values: Floats, seen: Flags, watch: Ints, labels: Ints) -> None:
    """Dissolve groups whose records lose less elsewhere; ``values`` and ``seen`` are (n, d)."""
    n, d = values.shape
    groups = labels.max() + 1
    counts, means = np.zeros((groups, d)), np.zeros((groups, d))
    squares, sizes = np.zeros(groups), np.zeros(groups, np.int64)
    for row in range(n):
        g = labels[row]
        sizes[g] += 1
        squares[g] += _join(values[row], seen[row], counts[g], means[g])
    by_group = np.argsort(labels, kind="mergesort")
    stops = np.cumsum(sizes)
    starts = stops - sizes
    for g in np.argsort(-squares, kind="mergesort"):
        members = by_group[starts[g] : stops[g]]
        # a group that others have joined has more records than the first phase gave it, and stays
        if watch[STOP] != 0 or sizes[g] != len(members):
            continue
        homes = np.empty(len(members), np.int64)
        for t in range(len(members)):
            homes[t] = _nearest_group(values[members[t]], seen[members[t]], counts, means, sizes, g)
        if homes[0] < 0 or _growth(values, seen, members, homes, counts, means) >= squares[g]:
            continue
        for t in range(len(members)):
            h = homes[t]
            squares[h] += _join(values[members[t]], seen[members[t]], counts[h], means[h])
            sizes[h] += 1
            labels[members[t]] = h
        sizes[g] = 0


@kernel
def _nearest_group(record: Floats, seen: Flags, counts: Floats, means: Floats, sizes: Ints, but: int) -> int:
    """Group with the nearest centroid, other than ``but``; -1 where there is none."""
    d = record.shape[0]
    best, nearest = np.inf, -1
    for g in range(sizes.shape[0]):
        if g == but or sizes[g] == 0:
            continue
        total, common = 0.0, 0
        for j in range(d):
            if seen[j] and counts[g, j] > 0.0:
                total += (record[j] - means[g, j]) ** 2
                common += 1
        total = total * (d / common) if common > 0 else 2.0 * d
        if total < best:
            best, nearest = total, g
    return nearest


@kernel
def _growth(values: Floats, seen: Flags, members: Ints, homes: Ints, counts: Floats, means: Floats) -> float:
    """By how much the sums of squares of the homes would grow if the members joined them."""
    growth = 0.0
    for t in range(len(members)):
        if t > 0 and (homes[:t] == homes[t]).any():
            continue
        count, mean = counts[homes[t]].copy(), means[homes[t]].copy()
        for s in range(t, len(members)):
            if homes[s] == homes[t]:
                growth += _join(values[members[s]], seen[members[s]], count, mean)
    return growth


@kernel
def _join(record: Floats, seen: Flags, counts: Floats, means: Floats) -> float:
    """Add a record to the counts and means of a group; returns by how much its sum of squares grows."""
    squares = 0.0
    for j in range(record.shape[0]):
        if seen[j]:
            counts[j] += 1.0
            delta = record[j] - means[j]
            means[j] += delta / counts[j]
            squares += delta * (record[j] - means[j])
    return squares
