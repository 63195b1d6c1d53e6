"""Optimal microaggregation along an order, and individual ranking.

``univariate`` sorts the records by one number and cuts the sequence where the sum of squares is least: the best
partition into consecutive groups, found as a shortest path. With one column this is the optimum over all
partitions. With several columns the order is that of a projection, the first principal component (``by="pca"``)
or the sum of the scaled columns (``by="sum"``), and the sum of squares is that of all columns.

``individual-ranking`` treats each column by itself: consecutive runs of k in sorted order, or the optimal cut
with ``optimal=true``. It loses least of all and protects least: k holds for each column, not for their
combination.

Sources: S. L. Hansen and S. Mukherjee, A polynomial algorithm for optimal univariate microaggregation, IEEE
TKDE 15(4), 2003; D. Defays and P. Nanopoulos, Panels of enterprises and confidentiality: the small aggregates
method, 1993 (individual ranking).

Cost: O(n log n + k d n).

Records whose only column is missing have no place in its order: they join the last group, which has k observed
values of its own.

No optimal group is larger than 2k - 1: a larger one splits into two of at least k without a higher sum of
squares.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from shoal.columns.scaling import Records
from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.kernels.compiling import kernel


def univariate(records: Records, k: int, watch: Ints, by: str = "pca") -> Ints:
    """Partition records optimally along their order on one column or on a projection."""
    if records.values.shape[1] == 1:
        return _cut_column(records, k, optimal=True)
    return optimal_along(records, np.argsort(_projection(records, by), kind="stable"), k)


def individual_ranking(records: Records, k: int, watch: Ints, optimal: bool = False) -> Ints:
    """Partition records of one column into runs of their sorted order."""
    return _cut_column(records, k, optimal)


def _cut_column(records: Records, k: int, optimal: bool) -> Ints:
    """Cut the sorted values of a column optimally, or into runs of k of which the last one has the rest."""
    labels = np.zeros(len(records), dtype=np.int64)
    seen = np.arange(len(records)) if records.observed is None else np.flatnonzero(records.observed[:, 0])
    if len(seen) < 2 * k:
        return labels
    values = records.values[seen]
    order = np.argsort(values[:, 0], kind="stable")
    if optimal:
        labels[seen] = optimal_along(Records(values), order, k)
    else:
        labels[seen[order]] = np.minimum(np.arange(len(seen)) // k, len(seen) // k - 1)
    missing = np.ones(len(records), dtype=bool)
    missing[seen] = False
    labels[missing] = labels[seen[order[-1]]]
    return labels


def optimal_along(records: Records, order: Ints, k: int) -> Ints:
    """Cut an order of the records into consecutive groups of k to 2k - 1 with the least sum of squares."""
    return cut_along(records, order, k)[0]


def cut_along(records: Records, order: Ints, k: int) -> tuple[Ints, float]:
    """Return the groups of the optimal cut of an order, and their sum of squares."""
    n = len(records)
    values = np.ascontiguousarray(records.values[order])
    if records.observed is None:
        observed = np.ones((0, 0), dtype=np.bool_)
    else:
        observed = np.ascontiguousarray(records.observed[order])
    start, squares = _shortest_path(values, observed, k)
    labels = np.empty(n, dtype=np.int64)
    stop, label = n, 0
    while stop > 0:
        labels[order[start[stop] : stop]] = label
        stop, label = int(start[stop]), label + 1
    return labels, squares


def _projection(records: Records, by: str) -> Floats:
    """One number for each record: its first principal component or the sum of its columns.

    A missing value counts as the mean of its column.
    """
    values = records.values
    if by == "sum":
        return cast("Floats", values.sum(axis=1))
    centred = values - values.mean(axis=0)
    axis = np.linalg.eigh(centred.T @ centred)[1][:, -1]
    axis = axis * np.sign(axis[np.argmax(np.abs(axis))])  # eigenvectors have no direction of their own
    return cast("Floats", centred @ axis)


@kernel
def _shortest_path(values: Floats, observed: Flags, k: int) -> tuple[Ints, float]:
    """Where the last group of the best partition of the first i records starts, for each i; its sum of squares for all.

    ``values`` is (n, d) in order, ``observed`` (n, d), or (0, 0) where nothing is missing. The sum of squares
    of the groups that end at a record grows member by member, backwards, by Welford's update: no differences of
    large sums.
    """
    n, d = values.shape
    cost = np.full(n + 1, np.inf)
    cost[0] = 0.0
    start = np.zeros(n + 1, np.int64)
    mean, count = np.empty(d), np.empty(d)
    for stop in range(k, n + 1):
        mean[:] = 0.0
        count[:] = 0.0
        squares = 0.0
        for first in range(stop - 1, max(stop - 2 * k, -1), -1):
            for j in range(d):
                if observed.shape[0] == 0 or observed[first, j]:
                    count[j] += 1.0
                    delta = values[first, j] - mean[j]
                    mean[j] += delta / count[j]
                    squares += delta * (values[first, j] - mean[j])
            if stop - first >= k and cost[first] + squares < cost[stop]:
                cost[stop] = cost[first] + squares
                start[stop] = first
    return start, float(cost[n])
