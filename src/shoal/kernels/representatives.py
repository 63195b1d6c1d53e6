"""The representative of each group: means, medians, modes of the observed values, and the rows sorted by group."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.arrays import Flags, Floats, Ints, Numbers
from shoal.kernels.compiling import kernel

MEAN, MEDIAN, GEOMETRIC, TRIMMED, MODE = range(5)
_SMALL = 64  # values that insertion sorts sooner
_SMALLER = 2.0**-64  # by which values are multiplied whose sums do not fit: no digit is lost


class Grouping(NamedTuple):
    """Rows sorted by group: those of group g are ``order[starts[g]:starts[g + 1]]``, in their order."""

    order: Ints
    starts: Ints


@kernel
def group_rows(groups: Ints) -> Grouping:
    """Sort rows by group, in O(n)."""
    starts = np.zeros(groups.max() + 2, np.int64)
    for g in groups:
        starts[g + 1] += 1
    for g in range(1, len(starts)):
        starts[g] += starts[g - 1]
    order, place = np.empty(len(groups), np.int64), starts.copy()
    for row in range(len(groups)):
        order[place[groups[row]]] = row
        place[groups[row]] += 1
    return Grouping(order, starts)


@kernel
def first_observed(values: Numbers, observed: Flags, order: Ints, starts: Ints, out: Numbers) -> None:
    """First observed value of each group; left as it is where a group has none."""
    for g in range(len(starts) - 1):
        for a in range(starts[g], starts[g + 1]):
            if observed[order[a]]:
                out[g] = values[order[a]]
                break


@kernel
def representatives(
    values: Floats, observed: Flags, weights: Floats, order: Ints, starts: Ints, how: int, lift: Floats
) -> tuple[Floats, Ints]:
    """Representative of each group, and how many observed values it stands for.

    ``weights`` has one entry where there are none; ``lift`` (groups,) is what to add to get the values themselves,
    for geometric means.
    """
    groups = len(starts) - 1
    chosen, counts = np.zeros(groups), np.zeros(groups, np.int64)
    largest = 0
    for g in range(groups):
        largest = max(largest, starts[g + 1] - starts[g])
    x, w = np.empty(largest), np.ones(largest)
    for g in range(groups):
        m = 0
        for a in range(starts[g], starts[g + 1]):
            row = order[a]
            if observed[row]:
                x[m] = values[row]
                if len(weights) > 1:
                    w[m] = weights[row]
                m += 1
        counts[g] = m
        if m > 0:
            chosen[g] = representative(x, w, m, how, lift[g] if how == GEOMETRIC else 0.0)
    return chosen, counts


@kernel(inline=True)
def representative(x: Floats, w: Floats, m: int, how: int, lift: float) -> float:
    """Value that stands for the first ``m`` values of ``x`` with the weights ``w``."""
    if how == MEAN:
        return _mean(x, w, 0, m)
    if how == GEOMETRIC:
        return _geometric_mean(x, w, m, lift)
    xs, ws = np.empty(m), np.empty(m)
    _sort(x, w, m, xs, ws)
    if how == MEDIAN:
        return _median(xs, ws)
    if how == TRIMMED:
        drop = (m + 9) // 10 if m >= 3 else 0
        return _mean(xs, ws, drop, m - drop)
    return _mode(xs, ws)


@kernel(inline=True)
def _sort(x: Floats, w: Floats, m: int, xs: Floats, ws: Floats) -> None:
    """Put the first ``m`` values into ``xs`` in order, and their weights into ``ws``; equal ones keep their order."""
    if m > _SMALL:
        by_value = np.argsort(x[:m], kind="mergesort")
        for i in range(m):
            xs[i], ws[i] = x[by_value[i]], w[by_value[i]]
        return
    for i in range(m):
        q = i
        while q > 0 and xs[q - 1] > x[i]:
            xs[q], ws[q] = xs[q - 1], ws[q - 1]
            q -= 1
        xs[q], ws[q] = x[i], w[i]


@kernel(inline=True)
def _mean(x: Floats, w: Floats, start: int, stop: int) -> float:
    """Weighted mean, taken from the first value so that equal values give exactly that value."""
    first = x[start]
    above, weight, low, high = 0.0, 0.0, first, first
    for i in range(start, stop):
        above += w[i] * (x[i] - first)
        weight += w[i]
        low, high = min(low, x[i]), max(high, x[i])
    if not np.isfinite(above + weight):
        return _far_mean(x, w, start, stop, low, high)
    # rounding may carry a mean past the values that it stands for
    return min(max(first + above / weight, low), high)


@kernel
def _far_mean(x: Floats, w: Floats, start: int, stop: int, low: float, high: float) -> float:
    """Weighted mean of values, from ``low`` to ``high``, whose sums do not fit: weights and values are made smaller."""
    heaviest = w[start:stop].max()
    above, weight = 0.0, 0.0
    for i in range(start, stop):
        above += w[i] / heaviest * (x[i] * _SMALLER - low * _SMALLER)
        weight += w[i] / heaviest
    return min(max(low + above / weight / _SMALLER, low), high)


@kernel
def _geometric_mean(x: Floats, w: Floats, m: int, lift: float) -> float:
    """Weighted geometric mean of ``x + lift``, less ``lift``."""
    low, high, weight = x[0], x[0], 0.0
    for i in range(m):
        low, high = min(low, x[i]), max(high, x[i])
        weight += w[i]
    above = 0.0
    for i in range(m):
        above += w[i] * np.log((x[i] + lift) / (low + lift))
    if not np.isfinite(above + weight):
        return _far_geometric_mean(x, w, m, lift, low, high)
    return min(max((low + lift) * np.exp(above / weight) - lift, low), high)


@kernel
def _far_geometric_mean(x: Floats, w: Floats, m: int, lift: float, low: float, high: float) -> float:
    """Weighted geometric mean of values, from ``low`` to ``high``, whose ratios or weights do not fit."""
    heaviest = w[:m].max()
    above, weight = 0.0, 0.0
    for i in range(m):
        above += w[i] / heaviest * np.log(x[i] + lift)
        weight += w[i] / heaviest
    return min(max(np.exp(above / weight) - lift, low), high)


@kernel(inline=True)
def _median(x: Floats, w: Floats) -> float:
    """Weighted median of sorted values: where half of the weight is reached, or the middle of two where it is met."""
    half = 0.5 * w.sum()
    reached = 0.0
    for i in range(len(x)):
        reached += w[i]
        if abs(reached - half) <= 1e-12 * half:
            return x[i] + 0.5 * (x[i + 1] - x[i])
        if reached > half:
            return x[i]
    return x[-1]


@kernel
def _mode(x: Floats, w: Floats) -> float:
    """Value with the most weight of sorted values; of equals the one nearest to the mean, then the lower."""
    mean = _mean(x, w, 0, len(x))
    slack = 1e-12 * (x[-1] - x[0])
    best, best_weight, best_off = x[0], -1.0, np.inf
    start = 0
    while start < len(x):
        stop, weight = start, 0.0
        while stop < len(x) and x[stop] == x[start]:
            weight += w[stop]
            stop += 1
        off = abs(x[start] - mean)
        equal = abs(weight - best_weight) <= 1e-12 * weight
        if (equal and off < best_off - slack) or (not equal and weight > best_weight):
            best, best_weight, best_off = x[start], weight, off
        start = stop
    return best
