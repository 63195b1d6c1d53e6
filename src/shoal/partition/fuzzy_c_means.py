"""Fuzzy c-means: clusters to which every record belongs by degrees, and whose centres keep linear constraints.

For c centres v and memberships u that add up to 1 for each record, the sum of u^m |x - v|^2 is lowered in turn by

    u_ij = 1 / sum over l of (|x_j - v_i| / |x_j - v_l|)^(2 / (m - 1))
    v_i  = sum over j of u_ij^m x_j  /  sum over j of u_ij^m

A centre is a weighted arithmetic mean of complete records, so any linear equation or inequality that holds for all
records holds for all centres, in every step: this is what the constrained version asks of them (Torra 2009). Columns
that are scaled each by their own factor keep it, with other coefficients.

Every record goes to the cluster that it belongs to most. A cluster of fewer than k records is dissolved, the smallest
first, its records going where they belong most of what is left; a cluster of 2k or more is divided again in the same
way, into at most ``clusters`` and never into more than would leave k each. What is released for a group is the
aggregator's value over its k records or more, never a centre that may stand for fewer. A part that c-means leaves
in one piece (all of its records are equal, for example) is cut in halves along its widest column.

Sources: J. C. Bezdek, Pattern Recognition with Fuzzy Objective Function Algorithms, 1981; V. Torra and S. Miyamoto,
Evaluating fuzzy clustering algorithms for microdata protection, PSD 2004; V. Torra, On the definition of linear
constrained fuzzy c-means, EUROFUSE 2009, 61-66.

Cost: O(c d n) a step, at most 50 steps a level, and log n / log c levels.

Every group has k records or more, because no cluster is kept with fewer, and no part of fewer than 2k is divided.
"""

from __future__ import annotations

import numpy as np

from shoal.columns.scaling import Records
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.watch import DONE, STOP

_STEPS = 50
_STILL = 1e-6  # squared move of all centres, per column, at which they stand still


def fuzzy_c_means(records: Records, k: int, watch: Ints, fuzziness: float = 1.2, clusters: int = 10) -> Ints:
    """Partition records by fuzzy c-means."""
    labels = np.full(len(records), -1)
    _divide(records.values, k, fuzziness, clusters, watch, labels)
    return labels


def fuzzy_centres(values: Floats, centres: Floats, fuzziness: float) -> Floats:
    """Return the centres (c, d) that fuzzy c-means reaches from these, for complete records (n, d).

    >>> fuzzy_centres(np.array([[0.0], [1.0], [9.0], [10.0]]), np.array([[0.0], [10.0]]), 1.2).round(1).tolist()
    [[0.5], [9.5]]
    """
    reached = centres.copy()
    n, c = len(values), len(centres)
    _settle(values, np.arange(n), reached, np.empty((n, c)), 1.0 / (fuzziness - 1.0), fuzziness)
    return reached


@kernel
def _divide(values: Floats, k: int, fuzziness: float, clusters: int, watch: Ints, labels: Ints) -> None:
    """Label all records: ``order`` holds the rows, a part is a range of it, and parts wait on a stack."""
    n, d = values.shape
    order, sorted_rows = np.arange(n), np.empty(n, np.int64)
    home = np.empty(n, np.int64)
    membership = np.empty((n, clusters))
    centres = np.empty((clusters, d))
    stack = [(0, n)]
    label = 0
    power = 1.0 / (fuzziness - 1.0)
    while len(stack) > 0 and watch[STOP] == 0:
        start, stop = stack.pop()
        size = stop - start
        if size < 2 * k:
            labels[order[start:stop]] = label
            label += 1
            watch[DONE] += size
            continue
        rows = order[start:stop]
        c = min(clusters, size // k)
        along = _widest(values, rows)
        rows[:] = rows[np.argsort(values[rows, along], kind="mergesort")]
        for i in range(c):
            centres[i] = values[rows[(2 * i + 1) * size // (2 * c)]]
        _settle(values, rows, centres[:c], membership[:size, :c], power, fuzziness)
        parts = _homes(membership[:size, :c], k, home[:size])
        if parts == 1:
            middle = start + size // 2
            stack.append((middle, stop))
            stack.append((start, middle))
            continue
        at = start
        for i in range(c):
            first = at
            for j in range(size):
                if home[j] == i:
                    sorted_rows[at] = rows[j]
                    at += 1
            if at > first:
                stack.append((first, at))
        order[start:stop] = sorted_rows[start:stop]


@kernel
def _widest(values: Floats, rows: Ints) -> int:
    """Column with the largest spread among these rows."""
    best, chosen = -1.0, 0
    for j in range(values.shape[1]):
        low, high = np.inf, -np.inf
        for row in rows:
            low, high = min(low, values[row, j]), max(high, values[row, j])
        if high - low > best:
            best, chosen = high - low, j
    return chosen


@kernel
def _settle(values: Floats, rows: Ints, centres: Floats, membership: Floats, power: float, fuzziness: float) -> None:
    """Move centres (c, d) until they stand still, and leave the membership (size, c) of each row to each centre."""
    c, d = centres.shape
    sums, weights = np.empty((c, d)), np.empty(c)
    for _ in range(_STEPS):
        sums[:] = 0.0
        weights[:] = 0.0
        for j in range(len(rows)):
            row = rows[j]
            _belong(values[row], centres, power, membership[j])
            for i in range(c):
                u = membership[j, i] ** fuzziness
                weights[i] += u
                for column in range(d):
                    sums[i, column] += u * values[row, column]
        moved = 0.0
        for i in range(c):
            if weights[i] == 0.0:
                continue
            for column in range(d):
                to = sums[i, column] / weights[i]
                moved += (to - centres[i, column]) ** 2
                centres[i, column] = to
        if moved <= _STILL * d:
            break


@kernel
def _belong(record: Floats, centres: Floats, power: float, out: Floats) -> None:
    """Membership of a record to each centre; shared by all centres at which it lies."""
    c, d = centres.shape
    least = np.inf
    for i in range(c):
        out[i] = 0.0
        for column in range(d):
            out[i] += (record[column] - centres[i, column]) ** 2
        least = min(least, out[i])
    total = 0.0
    for i in range(c):
        # relative to the nearest centre, so that no power overflows
        if least > 0.0:
            out[i] = (least / out[i]) ** power
        else:
            out[i] = 1.0 if out[i] == 0.0 else 0.0
        total += out[i]
    for i in range(c):
        out[i] /= total


@kernel
def _homes(membership: Floats, k: int, home: Ints) -> int:
    """Cluster that each record belongs to most, of those with at least k; returns how many there are."""
    size, c = membership.shape
    alive = np.ones(c, np.bool_)
    counts = np.zeros(c, np.int64)
    for j in range(size):
        home[j] = np.argmax(membership[j])
        counts[home[j]] += 1
    parts = c
    while parts > 1:
        smallest = -1
        for i in range(c):
            if alive[i] and (smallest < 0 or counts[i] < counts[smallest]):
                smallest = i
        if counts[smallest] >= k:
            break
        alive[smallest] = False
        parts -= 1
        for j in range(size):
            if home[j] == smallest:
                best = -1
                for i in range(c):
                    if alive[i] and (best < 0 or membership[j, i] > membership[j, best]):
                        best = i
                home[j] = best
                counts[best] += 1
        counts[smallest] = 0
    return parts
