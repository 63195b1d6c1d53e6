"""Mondrian: the records are cut in two along one column, again and again, while both parts keep k.

Sources: K. LeFevre, D. DeWitt and R. Ramakrishnan, Mondrian multidimensional k-anonymity, ICDE 2006 (``mondrian``);
MOSAICrOWN, deliverable D5.5, 2021 (``mondrian-mixed``); A. Veltmann, Implementation and
evaluation of microaggregation algorithms for categorical data, UPC Barcelona, 2022 (``mondrian-strict``,
``mondrian-ordered``, ``sa-mondrian``).

What differs is which column is tried first and where it is cut:

- ``mondrian``, ``mondrian-mixed``: the column with the widest range, at its median; equal values stay together.
- ``mondrian-ordered``: the column with the largest mean distance from its centroid, before the centroid, or else after
  it. Categories are in the post-order of their hierarchy, near siblings side by side
  (:mod:`shoal.columns.hierarchy.sibling_order`), or in its mixed traversal.
- ``mondrian-strict``: the same with categories in an arbitrary order, drawn with the seed: a control.
- ``sa-mondrian``: the same columns, cut between the two neighbouring values that are farthest apart.

A column that cannot be cut there is passed over for the next. With ``persist`` the other places of a column are tried
as well, those nearest to the median, nearest to the centroid or with the widest gap first, so that a part remains whole
only where no cut of any column leaves k on both sides.

Missing values come after all others. Cost: O(d m log m) for each level of cuts, for m distinct records. Every group has
at least k records: a cut is made only where both parts have.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shoal.columns.mixed import Mixed
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.mixed import NUMBER, Metric, add_sums, cell_distance, centre_of
from shoal.kernels.watch import DONE, STOP

_MEDIAN, _CENTROID, _GAP = range(3)
POST_ORDER, MIXED = "post-order", "mixed"  # traversals of a hierarchy, see shoal.columns.hierarchy.sibling_order


def mondrian(records: Mixed, k: int, watch: Ints, persist: bool = True) -> Ints:
    """Partition records by strict Mondrian, at medians."""
    return _partition(records, k, watch, _MEDIAN, persist)


def mondrian_mixed(records: Mixed, k: int, watch: Ints, persist: bool = True, traversal: str = POST_ORDER) -> Ints:
    """Partition records by strict Mondrian, at medians, with hierarchies in an order."""
    return mondrian(_traversed(records, traversal), k, watch, persist)


def mondrian_ordered(records: Mixed, k: int, watch: Ints, persist: bool = True, traversal: str = POST_ORDER) -> Ints:
    """Partition records by Mondrian with cuts at centroids."""
    return _partition(_traversed(records, traversal), k, watch, _CENTROID, persist)


def mondrian_strict(records: Mixed, k: int, watch: Ints, seed: int = 0, persist: bool = True) -> Ints:
    """Partition records as ``mondrian_ordered`` does, with the categories in an arbitrary order."""
    rng = np.random.default_rng(seed)
    order = records.order.copy()
    for j, kind in enumerate(records.metric.kinds):
        seen = ~np.isnan(records.values[:, j])
        if kind != NUMBER and seen.any():
            order[seen, j] = rng.permutation(records.metric.width[j])[records.values[seen, j].astype(np.int64)]
    return mondrian_ordered(replace(records, order=order), k, watch, persist)


def sa_mondrian(records: Mixed, k: int, watch: Ints, persist: bool = True, traversal: str = POST_ORDER) -> Ints:
    """Partition records by Mondrian with cuts at the widest gaps."""
    return _partition(_traversed(records, traversal), k, watch, _GAP, persist)


def _traversed(records: Mixed, traversal: str) -> Mixed:
    return records if traversal == POST_ORDER else replace(records, order=records.mixed_order)


def _partition(records: Mixed, k: int, watch: Ints, where: int, persist: bool) -> Ints:
    order = np.where(np.isnan(records.order), np.inf, records.order)
    return records.spread(_cut(records.values, order, records.counts, records.by_distance, k, where, persist, watch))


@kernel
def _cut(
    values: Floats,
    order: Floats,
    counts: Ints,
    metric: Metric,
    k: int,
    where: int,
    persist: bool,
    watch: Ints,
) -> Ints:
    """Group (m,) of each distinct record; ``order`` (m, d) is what columns are sorted by, infinite where missing."""
    m, d = values.shape
    record = np.arange(m)  # a part is a run of these
    spans = widths(order, record, np.full(d, -1.0))
    lows, highs = [0], [m]
    group, made = np.empty(m, np.int64), 0
    while len(lows) > 0:
        low, high = lows.pop(), highs.pop()
        part = record[low:high].copy()
        total = counts[part].sum()
        at = 0
        if total >= 2 * k and watch[STOP] == 0:
            centre = np.empty(d)
            if where == _MEDIAN:
                wide = metric.weights * widths(order, part, spans)
            else:
                wide = _far(values, part, counts, metric, centre)
            for j in np.argsort(-wide, kind="mergesort"):
                keys = order[part, j]
                # a part that was cut along this column before is in its order already
                by_key = np.arange(len(part)) if _ascending(keys) else np.argsort(keys, kind="mergesort")
                at = _place(values[:, j], order[:, j], part[by_key], counts, k, where, persist, centre[j], metric, j)
                if at > 0:
                    record[low:high] = part[by_key]
                    break
        if at > 0:
            lows.append(low + at)
            highs.append(high)
            lows.append(low)
            highs.append(low + at)
        else:
            group[part] = made
            made += 1
            watch[DONE] += total
    return group


@kernel
def _far(
    values: Floats,
    part: Ints,
    counts: Ints,
    metric: Metric,
    centre: Floats,
) -> Floats:
    """Weighted distance of a part from its centre (d,), which is written, in each column."""
    d = len(metric.kinds)
    sums, seen, far = np.zeros(metric.start[d]), np.zeros(d), np.zeros(d)
    for i in part:
        add_sums(values[i], counts[i], metric, sums, seen)
    centre_of(metric, sums, seen, centre)
    for i in part:
        for j in range(d):
            off = cell_distance(values[i, j], centre[j], metric, j)
            far[j] += metric.weights[j] * off * counts[i]
    return far


@kernel
def _place(
    values: Floats,
    order: Floats,
    part: Ints,
    counts: Ints,
    k: int,
    where: int,
    persist: bool,
    centre: float,
    metric: Metric,
    j: int,
) -> int:
    """How many records of a part, in its order, go to the left; 0 where no cut that is tried leaves k on both sides.

    ``values`` (m,) and ``order`` (m,) are of column ``j``.
    """
    m = len(part)
    below = np.zeros(m + 1, np.int64)
    for b in range(m):
        below[b + 1] = below[b] + counts[part[b]]
    total = below[m]
    # merit of a cut before each record, higher first; minus infinity where equal values would be separated
    merit = np.full(m, -np.inf)
    tries = 1
    if where == _GAP:
        for b in range(1, m):
            if order[part[b]] != order[part[b - 1]]:
                merit[b] = cell_distance(values[part[b - 1]], values[part[b]], metric, j)
    elif where == _MEDIAN:
        # values up to the median go left; with `persist`, the cut that is nearest to the middle
        middle = order[part[np.searchsorted(2 * below[1:], total)]]
        for b in range(1, m):
            if order[part[b]] != order[part[b - 1]] and (persist or order[part[b - 1]] == middle):
                merit[b] = -abs(2.0 * below[b] - total)
    else:
        # before the first record with the centroid's value, after the last, then ever farther from both
        nearest, least = 0, np.inf
        for b in range(m):
            off = cell_distance(values[part[b]], centre, metric, j)
            if off < least:
                nearest, least = b, off
        value = order[part[nearest]]
        steps = np.zeros(m, np.int64)  # number of each value in the order
        for b in range(1, m):
            steps[b] = steps[b - 1] + (order[part[b]] != order[part[b - 1]])
        for b in range(1, m):
            if steps[b] != steps[b - 1]:
                if order[part[b]] <= value:
                    merit[b] = -2.0 * (steps[nearest] - steps[b])
                else:
                    merit[b] = -2.0 * (steps[b - 1] - steps[nearest]) - 1.0
        tries = 2
    if persist:  # all of them are tried: the best that leaves k, without putting the others in order
        best, at = -np.inf, 0
        for b in range(1, m):
            if merit[b] > best and below[b] >= k and total - below[b] >= k:
                best, at = merit[b], b
        return at
    for b in np.argsort(-merit, kind="mergesort")[:tries]:
        allowed = merit[b] >= -1.0 or where != _CENTROID
        if merit[b] > -np.inf and allowed and below[b] >= k and total - below[b] >= k:
            return int(b)
    return 0


@kernel
def _ascending(keys: Floats) -> bool:
    """Whether no key is below the one before it."""
    for b in range(1, len(keys)):  # noqa: SIM110 - numba compiles no generators
        if keys[b] < keys[b - 1]:
            return False
    return True


@kernel
def widths(order: Floats, part: Ints, spans: Floats) -> Floats:
    """Range of each column (d,) in a part of the records, as a part of ``spans`` (d,); as it is where those are -1.

    Missing values beside others count as the whole range: they are as far from any value as can be.
    """
    d = order.shape[1]
    found = np.zeros(d)
    for j in range(d):
        low, high, missing = np.inf, -np.inf, False
        for i in part:
            if order[i, j] == np.inf:
                missing = True
            else:
                low, high = min(low, order[i, j]), max(high, order[i, j])
        if low <= high and spans[j] >= 0.0:
            found[j] = 1.0 if missing else (high - low) / max(spans[j], 1e-300)
        elif low <= high:
            found[j] = high - low
    return found
