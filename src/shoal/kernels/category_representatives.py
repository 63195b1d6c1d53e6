"""The category that stands for each group: centroid, mode, median, convex median."""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.mixed import SLACK

CENTROID, MODE, MEDIAN, CONVEX_MEDIAN = range(4)


@kernel
def category_representatives(
    values: Ints, observed: Flags, weights: Floats, order: Ints, starts: Ints, distances: Floats, codes: int, how: int
) -> tuple[Ints, Ints]:
    """Code that stands for each group, and how many observed values it stands for.

    ``weights`` has one entry where there are none; ``distances`` (occurring, codes) are for CENTROID only. Ties go to
    the lowest code.
    """
    groups = len(starts) - 1
    chosen, counts = np.zeros(groups, np.int64), np.zeros(groups, np.int64)
    share, there = np.zeros(codes), np.empty(codes, np.int64)
    for g in range(groups):
        found = 0
        for a in range(starts[g], starts[g + 1]):
            row = order[a]
            if observed[row]:
                counts[g] += 1
                code = values[row]
                if share[code] == 0.0:
                    there[found] = code
                    found += 1
                share[code] += weights[row] if len(weights) > 1 else 1.0
        if found == 1:
            chosen[g] = there[0]
        elif found > 1:
            present = np.sort(there[:found])
            if how == CENTROID:
                chosen[g] = _centroid(present, share, distances)
            elif how == MODE:
                chosen[g] = _mode(present, share)
            else:
                chosen[g] = _median(present, share, how == CONVEX_MEDIAN)
        for a in range(found):
            share[there[a]] = 0.0
    return chosen, counts


@kernel
def _centroid(present: Ints, share: Floats, distances: Floats) -> int:
    """Code with the least summed distance from those present."""
    sums = np.zeros(distances.shape[1])
    total = 0.0
    for code in present:
        total += share[code]
        for c in range(len(sums)):
            sums[c] += share[code] * distances[code, c]
    best, least = 0, np.inf
    for c in range(len(sums)):
        if sums[c] < least - SLACK * total:
            best, least = c, sums[c]
    return best


@kernel
def _mode(present: Ints, share: Floats) -> int:
    """Code with the largest share."""
    best, most = -1, -1.0
    for code in present:
        if share[code] > most * (1.0 + 1e-12):
            best, most = code, share[code]
    return best


@kernel
def _median(present: Ints, share: Floats, convex: bool) -> int:
    """Lower median of codes in their order.

    The convex median takes it after frequencies are made to rise to one peak and fall: that of a code becomes the
    smaller of the largest at or below it and the largest at or above it, so that codes between two frequent ones
    count as well.
    """
    low, high = present[0], present[-1]
    f = share[low : high + 1].copy()
    if convex:
        left, right = f.copy(), f.copy()
        for i in range(1, len(f)):
            left[i] = max(left[i], left[i - 1])
            right[-i - 1] = max(right[-i - 1], right[-i])
        for i in range(len(f)):
            f[i] = min(left[i], right[i])
    half, reached = 0.5 * f.sum(), 0.0
    for i in range(len(f)):
        reached += f[i]
        if reached >= half * (1.0 - 1e-12):
            return int(low + i)
    return int(high)
