"""Two columns in order: the distance of their distributions, and how many ranks lie between two values."""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel


@kernel
def distribution_distances(x: Floats, y: Floats) -> tuple[float, float]:
    """Largest difference of the distribution functions of two sorted columns, and the area between them.

    That is the Kolmogorov-Smirnov statistic and the Wasserstein distance, in O(len(x) + len(y)).
    """
    i, j = 0, 0
    largest, area = 0.0, 0.0
    at = min(x[0], y[0])
    while i < len(x) or j < len(y):
        here = x[i] if j == len(y) or (i < len(x) and x[i] <= y[j]) else y[j]
        gap = abs(i / len(x) - j / len(y))
        area += gap * (here - at)
        at = here
        while i < len(x) and x[i] == here:
            i += 1
        while j < len(y) and y[j] == here:
            j += 1
        largest = max(largest, abs(i / len(x) - j / len(y)))
    return largest, area


@kernel
def rank_distances(x: Floats, y: Floats, order: Ints, released_order: Ints) -> Ints:
    """Ranks from y[i] to x[i] among x: 0 where they are equal, else one more than the values of x between them.

    ``order`` and ``released_order`` sort x and y, all of (n,).
    """
    n = len(x)
    below, upto = np.empty(n, np.int64), np.empty(n, np.int64)
    start = 0
    while start < n:
        stop = start
        while stop < n and x[order[stop]] == x[order[start]]:
            stop += 1
        for a in range(start, stop):
            below[order[a]], upto[order[a]] = start, stop
        start = stop
    distances = np.zeros(n, np.int64)
    left, right = 0, 0
    for row in released_order:
        while left < n and x[order[left]] < y[row]:
            left += 1
        while right < n and x[order[right]] <= y[row]:
            right += 1
        if x[row] < y[row]:
            distances[row] = left - upto[row] + 1
        elif x[row] > y[row]:
            distances[row] = below[row] - right + 1
    return distances
